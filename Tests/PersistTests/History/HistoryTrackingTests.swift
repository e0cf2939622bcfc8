import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("History: on and off")
struct HistoryTrackingTests {
  private func open(_ url: URL, tracking: Bool = false, readOnly: Bool = false) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
    try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: readOnly, tracksHistory: tracking))
    return coordinator
  }

  private func close(_ coordinators: PersistentStoreCoordinator...) throws {
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }

  private func addTeam(_ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(coordinator)
    try context.make("Team", ["name": "T"])
    try context.save()
  }

  private func tables(_ url: URL) throws -> [StoreSchema.Table] {
    let store = try RawStore(url, mode: .readOnly)
    defer { store.close() }
    return try store.catalog().schema.tables
  }

  private func historyTables(_ url: URL) throws -> [String] {
    try tables(url).map(\.name).filter { $0.hasPrefix("A") }
  }

  private func columns(of table: String, _ url: URL) throws -> [String]? {
    try tables(url).first { $0.name == table }?.columns.map { $0.name.lowercased() }
  }

  @Test("Without the option there is no table and nothing is recorded; with it, whoever opens the store goes on")
  func goesOn() throws {
    try withTemporaryStore { url in
      let plain = try open(url)
      try addTeam(plain)
      try #expect(!plain.tracksHistory(of: plain.persistentStores[0]))
      try close(plain)
      try #expect(historyTables(url).isEmpty)
      let tracking = try open(url, tracking: true)
      try addTeam(tracking)
      try #expect(tracking.transactions().count == 1)
      try close(tracking)
      let other = try open(url)
      try #expect(other.tracksHistory(of: other.persistentStores[0]))
      try addTeam(other)
      try #expect(other.transactions().map(\.transactionNumber) == [1, 2])
      try close(other)
      let reader = try open(url, readOnly: true)
      try #expect(reader.transactions().count == 2)
      #expect(persistError { try reader.disableHistory(of: reader.persistentStores[0]) }?.code == .storeReadOnly)
      try close(reader)
    }
  }

  @Test("A coordinator that has the store open learns that another switched the history on, off, or deleted it")
  func othersLearn() throws {
    try withTemporaryStore { url in
      let early = try open(url)
      try addTeam(early)
      let late = try open(url, tracking: true)
      try addTeam(late)
      try addTeam(early)
      try #expect(late.transactions().map(\.transactionNumber) == [1, 2])
      try late.disableHistory(of: late.persistentStores[0])
      try addTeam(early)
      try #expect(early.transactions().count == 2)
      try #expect(!early.tracksHistory(of: early.persistentStores[0]))
      try close(late)
      let again = try open(url, tracking: true)
      try addTeam(early)
      try addTeam(again)
      // One number was left out where changes weren't recorded.
      try #expect(again.transactions().map(\.transactionNumber) == [1, 2, 4, 5])
      try again.disableHistory(of: again.persistentStores[0], keepingPast: false)
      try addTeam(early)
      try addTeam(again)
      try #expect(early.transactions().isEmpty)
      try close(again, early)
      try #expect(historyTables(url).isEmpty)
      try #expect(MadeStore.rows("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT > 16000", at: url).isEmpty)
      let anew = try open(url, tracking: true)
      try addTeam(anew)
      // The numbers go on, so that a token from before is never taken for a present one.
      try #expect(anew.transactions().map(\.transactionNumber) == [7])
      try close(anew)
    }
  }

  @Test(
    "A coordinator that only reads learns that the history was off for a while: earlier tokens have expired",
    arguments: [false, true])
  func readerLearns(looksMeanwhile: Bool) throws {
    try withTemporaryStore { url in
      let (reader, other) = (try open(url, tracking: true), try open(url))
      try addTeam(other)
      let token = try #require(try reader.currentPersistentHistoryToken())
      try #expect(reader.execute(.fetchHistory(after: token)).transactions.isEmpty)
      try other.disableHistory(of: other.persistentStores[0])
      try addTeam(other)
      if looksMeanwhile { try #expect(!reader.tracksHistory(of: reader.persistentStores[0])) }
      let again = try open(url, tracking: true)
      try addTeam(again)
      let error = persistError { _ = try reader.execute(.fetchHistory(after: token)) }
      #expect(error?.code == .historyTokenExpired)
      try #expect(reader.tracksHistory(of: reader.persistentStores[0]))
      try #expect(reader.transactions().map(\.transactionNumber) == [1, 3])
      try again.disableHistory(of: again.persistentStores[0], keepingPast: false)
      try #expect(!reader.tracksHistory(of: reader.persistentStores[0]))
      try close(reader, other, again)
    }
  }

  @Test("While the history is off, requests after a token fail, and others return the past that was kept")
  func requestsWhileOff() throws {
    try withTemporaryStore { url in
      let (reader, other) = (try open(url, tracking: true), try open(url))
      try addTeam(other)
      let token = try #require(try reader.currentPersistentHistoryToken())
      try other.disableHistory(of: other.persistentStores[0])
      try addTeam(other)
      for coordinator in [reader, other] {
        let error = persistError { _ = try coordinator.execute(.fetchHistory(after: token)) }
        #expect(error?.code == .historyTokenExpired)
        #expect(error?.message.contains("switched off") == true)
        #expect(error?.fix?.contains("tracksHistory") == true)
        try #expect(coordinator.transactions().map(\.transactionNumber) == [1])
        try #expect(coordinator.execute(.fetchHistory(after: Date.distantPast)).transactions.count == 1)
      }
      try close(reader, other)
    }
  }

  @Test(
    "A context that merges automatically sees saves by others whatever they do with the history",
    arguments: [[true], [false], [true, true], [false, true]])
  func mergingGoesOn(keepingPast: [Bool]) throws {
    try withTemporaryStore { url in
      let (reader, other) = (try open(url, tracking: true), try open(url))
      try addTeam(other)
      let context = ManagedObjectContext(reader)
      let team = try #require(try context.fetch(FetchRequest("Team")).first)
      #expect(team["name"] as? String == "T")
      context.automaticallyMergesChangesFromParent = true
      func rename(_ name: String) throws {
        let context = ManagedObjectContext(other)
        try #require(try context.fetch(FetchRequest("Team")).first)["name"] = name
        try context.save()
      }
      func expectMerge(_ name: String) throws {
        try rename(name)
        context.processPendingChanges()
        #expect(team["name"] as? String == name)
        try context.throwDeferredError()
      }
      try expectMerge("recorded")
      for (round, keepsPast) in keepingPast.enumerated() {
        try other.disableHistory(of: other.persistentStores[0], keepingPast: keepsPast)
        try expectMerge("not recorded \(round)")
        try rename("unseen")
        let again = try open(url, tracking: true)
        try expectMerge("recorded again \(round)")
        try expectMerge("and again \(round)")
        try close(again)
      }
      try close(reader, other)
    }
  }

  @Test(
    "Reading the history costs no statement for its settings if nobody has written",
    .aboutFiles("SQLite's statements"))
  func readingCost() throws {
    try withTemporaryStore { url in
      let store = try SQLiteStore.create(url, model: HistoryModel.make(), options: StoreOptions(tracksHistory: true))
      let coordinator = PersistentStoreCoordinator(model: store.model)
      try coordinator.add(store)
      try addTeam(coordinator)
      let token = try coordinator.currentPersistentHistoryToken()
      func statements() throws -> Int {
        let before = store.pool.counts.executed
        _ = try coordinator.execute(.fetchHistory(after: token))
        return store.pool.counts.executed - before
      }
      // The first one learns what opening and saving have written, and the second one that this is known.
      for _ in 0..<2 { _ = try statements() }
      // The transaction takes two, its extent two, the token's mark one, and its transactions one.
      try #expect([statements(), statements()] == [6, 6])
      try MadeStore.run("UPDATE ZTEAM SET Z_OPT = Z_OPT + 1", at: url)
      try #expect([statements(), statements()] == [7, 6])
      try store.close()
    }
  }

  @Test("A batch delete that is the first to find the history switched on by another program is recorded")
  func batchDelete() throws {
    let note = EntityDescription("Note", attributes: [AttributeDescription("text", .string)])
    let model = try ManagedObjectModel(ModelDescription(entities: [note]))
    try withTemporaryStore { url in
      let (early, late) = (PersistentStoreCoordinator(model: model), PersistentStoreCoordinator(model: model))
      try early.addStore(at: url)
      let context = ManagedObjectContext(early)
      for text in ["a", "b"] { try context.make("Note", ["text": text]) }
      try context.save()
      try late.addStore(at: url, options: StoreOptions(tracksHistory: true))
      try context.execute(BatchDeleteRequest("Note"))
      try #expect(context.count(for: FetchRequest("Note")) == 0)
      try #expect(late.transactions().map { ($0.changes ?? []).map(words) } == [["delete Note 1", "delete Note 2"]])
      try close(early, late)
    }
  }

  @Test("A history in memory, and one of a model that preserves more attributes than before")
  func otherStores() throws {
    let memory = PersistentStoreCoordinator(model: try HistoryModel.make())
    try memory.addInMemoryStore(options: StoreOptions(tracksHistory: true))
    try addTeam(memory)
    try #expect(memory.transactions().count == 1)

    try withTemporaryStore { url in
      try close(open(url, tracking: true))
      try MadeStore.run("ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE2", at: url)
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      let code = UUID()
      let employee = try context.make("Employee", ["code": code])
      try context.save()
      context.delete(employee)
      try context.save()
      try #expect(coordinator.transactions().last?.changes?.first?.tombstone == ["code": .uuid(code)])
      try close(coordinator)
    }
  }

  @Test("A table of the application under a name of the history's is left alone, and the history refused")
  func foreignTable() throws {
    try withTemporaryStore { url in
      try close(open(url))
      try MadeStore.run("CREATE TABLE ACHANGE (mine INTEGER)", at: url)
      try close(open(url))
      #expect(persistError { _ = try open(url, tracking: true) }?.code == .invalidRequest)
      try #expect(columns(of: "ACHANGE", url) == ["mine"])
    }
  }

  @Test(
    "Off, the history costs no statement; on, it costs one for each change and a few for each save",
    .aboutFiles("SQLite's statements"))
  func cost() throws {
    func statements(tracking: Bool) throws -> [Int] {
      var counts: [Int] = []
      try withTemporaryStore { url in
        let store = try SQLiteStore.create(
          url, model: HistoryModel.make(), options: StoreOptions(tracksHistory: tracking))
        let coordinator = PersistentStoreCoordinator(model: store.model)
        try coordinator.add(store)
        let context = ManagedObjectContext(coordinator)
        context.transactionAuthor = "me"
        try context.make("Team", ["name": "T"])
        try context.save()
        for count in [1, 100] {
          for index in 0..<count { try context.make("Person", ["age": index]) }
          let before = store.pool.counts.executed
          try context.save()
          counts.append(store.pool.counts.executed - before)
        }
        try store.close()
      }
      return counts
    }
    let (off, on) = try (statements(tracking: false), statements(tracking: true))
    // Each: the last numbers, the author and the process, the transaction, the counters. 100 changes take three
    // statements for 32, and one for the other four.
    #expect(on == [off[0] + 5 + 1, off[1] + 5 + 4])
  }
}
