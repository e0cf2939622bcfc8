#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Stores that move between files and a server.
  @Suite("Moving stores to a server and back", .needsServer)
  struct ServerMoveTests {
    /// The transactions of a store's history in words.
    private func history(at location: StoreLocation) throws -> [String] {
      let identified = try location.engine.identifyStore(at: location, registry: nil)
      let store = try location.engine.openStore(
        at: location, model: identified.model, options: StoreOptions(isReadOnly: true), allowsGaps: false)
      defer { try? store.close() }
      var lines: [String] = []
      try store.history?.forEachTransaction(HistoryQuery()) { transaction in
        lines.append("\(transaction.transactionNumber) \(transaction.timestamp.timeIntervalSinceReferenceDate)")
        lines.append("\(transaction.author ?? "") \(transaction.contextName ?? "") \(transaction.processID ?? "")")
        for change in transaction.changes ?? [] {
          let kept = (change.tombstone ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
          lines.append("\(change.changeID) \(words(change)) \(kept)")
        }
      }
      return lines
    }

    /// The problems that a check finds, except for those that only files have.
    private func problems(of location: StoreLocation) throws -> Set<StoreProblem> {
      var problems: Set<StoreProblem> = []
      let others: Set<StoreProblem.Kind> = [
        .wrongType, .damagedDatabase, .textIndex, .danglingHistory, .missingFile, .orphanFile, .unfinishedWork,
        .keyCounter,
      ]
      try location.check(registry: nil) { if !others.contains($0.kind) { problems.insert($0) } }
      return problems
    }

    @Test("A real store comes back with every value, key, version and order", .needsSharedData, arguments: SharedData.stores)
    func roundTrip(path: URL) throws {
      try withCopy(ofStore: path) { url in
        let file = StoreLocation(url)
        // Some stores of the collection are damaged on purpose, have no model, or one that no new store can have.
        guard let before = try? storedContents(at: file),
          (try? file.engine.identifyStore(at: file, registry: nil).model.checkDerivations()) != nil
        else { return }
        let past = try history(at: file)
        let identifier = try file.engine.metadata(ofStoreAt: file).identifier
        try TestServer.withSchema { server in
          let server = try StoreLocation.postgreSQL(server)
          try StoreCopies.replaceStore(at: server, with: file)
          #expect(try server.engine.metadata(ofStoreAt: server).identifier == identifier)
          try #expect(storedContents(at: server) == before)
          try #expect(history(at: server) == past)
          try #expect(problems(of: server) == problems(of: file))
          let back = StoreLocation(url.deletingLastPathComponent().appendingPathComponent("Back.sqlite"))
          try StoreCopies.replaceStore(at: back, with: server)
          #expect(try back.engine.metadata(ofStoreAt: back).identifier == identifier)
          try #expect(storedContents(at: back) == before)
          try #expect(history(at: back) == past)
        }
      }
    }

    private static let pairs = ModelDescription(
      entities: ["Alpha", "Omega"].map { EntityDescription($0, attributes: [AttributeDescription("number", .int64)]) })

    /// Saves pairs of objects until told to end.
    private final class Saver: Sendable {
      private let isEnding = LockProtected(false)
      private let saved = LockProtected(0)
      private let ended = DispatchSemaphore(value: 0)

      init(_ coordinator: PersistentStoreCoordinator) {
        Thread.detachNewThread { [self] in
          while !isEnding.withLock({ $0 }) {
            let context = ManagedObjectContext(coordinator)
            do {
              for name in ["Alpha", "Omega"] { try context.make(name) }
              try context.save()
              saved.withLock { $0 += 1 }
            } catch {
              // The store is being moved.
            }
          }
          ended.signal()
        }
      }

      var count: Int { saved.withLock { $0 } }

      /// - Returns: The number of pairs saved.
      func end() -> Int {
        isEnding.withLock { $0 = true }
        ended.wait()
        return count
      }

      func wait(for number: Int) {
        let enough = count + number
        while count < enough { Thread.sleep(forTimeInterval: 0.001) }
      }
    }

    private func counts(_ coordinator: PersistentStoreCoordinator) throws -> [Int] {
      let context = ManagedObjectContext(coordinator)
      return try ["Alpha", "Omega"].map { try context.count(for: FetchRequest($0)) }
    }

    /// Calls a closure with a store in memory, in a file, and on a server, and with a place for another one.
    private func withRoutes(_ body: (_ store: StoreLocation, _ target: StoreLocation) throws -> Void) throws {
      try withTemporaryFolder { folder in
        func file(_ name: String) -> StoreLocation { StoreLocation(folder.appendingPathComponent(name)) }
        try TestServer.withSchema { try body(.memory, StoreLocation.postgreSQL($0)) }
        try TestServer.withSchema { try body(file("A.sqlite"), StoreLocation.postgreSQL($0)) }
        try TestServer.withSchema { try body(StoreLocation.postgreSQL($0), file("B.sqlite")) }
        try TestServer.withSchema { try body(StoreLocation.postgreSQL($0), .memory) }
      }
    }

    private func open(_ location: StoreLocation) throws -> (PersistentStoreCoordinator, StoreInfo) {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.pairs))
      let store = try coordinator.addStore(location)
      let context = ManagedObjectContext(coordinator)
      for name in ["Alpha", "Omega"] { for _ in 0..<3000 { try context.make(name) } }
      try context.save()
      return (coordinator, store)
    }

    @Test("What is saved while a store moves to another engine is in the new store, or the save fails")
    func savedWhileMoving() throws {
      try withRoutes { place, target in
        let (coordinator, store) = try open(place)
        let saver = Saver(coordinator)
        saver.wait(for: 3)
        let moved = try coordinator.migratePersistentStore(store, to: target.url)
        saver.wait(for: 3)
        let expected = 3000 + saver.end()
        #expect(try counts(coordinator) == [expected, expected], "\(place) to \(target)")
        #expect(coordinator.openStores.map(\.identifier) == [moved.identifier])
      }
    }

    @Test("A store that continues in a copy on a server records its history as that copy does")
    func continuedInCopy() throws {
      try TestServer.withSchema { first in
        try TestServer.withSchema { second in
          let places = try [first, second].map { try StoreLocation.postgreSQL($0) }
          let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.pairs))
          let store = try coordinator.addStore(places[0])
          func save() throws {
            let context = ManagedObjectContext(coordinator)
            try context.make("Alpha")
            try context.save()
          }
          try save()
          try StoreCopies.replaceStore(at: places[1], with: places[0])
          let other = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
          try other.addStore(places[1], options: StoreOptions(tracksHistory: true))
          let context = ManagedObjectContext(other)
          try context.make("Alpha")
          try context.save()
          #expect(try history(at: places[1]).filter { $0.contains("insert") }.count == 1)
          try coordinator.setURL(try #require(places[1].url), for: store)
          try save()
          #expect(try history(at: places[1]).filter { $0.contains("insert") }.count == 2)
          #expect(try counts(other)[0] == 3)
        }
      }
    }

    @Test("The application's metadata go along with a store that moves from a server to memory, unsaved ones too")
    func metadataInMemory() throws {
      try TestServer.withSchema { text in
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.pairs))
        var store = try coordinator.addStore(.postgreSQL(text))
        func set(_ key: String) throws {
          var metadata = try coordinator.metadata(of: store)
          metadata.values[key] = .string(key)
          try coordinator.setMetadata(metadata, of: store)
        }
        try set("saved")
        try ManagedObjectContext(coordinator).save()
        try set("unsaved")
        store = try coordinator.migratePersistentStore(store, to: nil)
        let metadata = try coordinator.metadata(of: store)
        #expect(metadata.values["saved"] == .string("saved") && metadata.values["unsaved"] == .string("unsaved"))
        #expect(metadata.identifier == store.identifier && metadata.type == StoreType.inMemory.rawValue)
        try coordinator.remove(store)
      }
    }

    @Test("A backup in another engine is one state of the store")
    func backedUpWhileSaving() throws {
      try withRoutes { place, target in
        guard let url = target.url else { return }
        let (coordinator, store) = try open(place)
        let saver = Saver(coordinator)
        saver.wait(for: 3)
        try coordinator.backUp(store, to: url)
        _ = saver.end()
        let copy = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
        try copy.addStore(target)
        let found = try counts(copy)
        #expect(found[0] == found[1] && found[0] > 3000, "\(place) to \(target)")
      }
    }
  }
#endif
