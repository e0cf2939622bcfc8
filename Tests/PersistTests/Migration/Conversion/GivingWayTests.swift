import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Deferred steps that give way to other writers", .aboutFiles("locks of files"))
struct GivingWayTests {
  private static let rows = 20_000

  /// Two columns are dropped, and an index is created.
  private func registry() throws -> ModelRegistry {
    func version(
      _ name: String, _ attributes: [AttributeDescription], indexes: [FetchIndexDescription] = []
    ) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try model(EntityDescription("Item", attributes: attributes, indexes: indexes)))
    }
    return ModelRegistry(versions: [
      try version("1", [.init("name", .string), .init("former", .string), .init("old", .int64)]),
      try version("2", [.init("name", .string)], indexes: [FetchIndexDescription("byName", on: "name")]),
    ])
  }

  /// Calls `body` with an open store whose steps are deferred.
  ///
  /// - Parameter padding: The number of further characters of a dropped value.
  private func withDeferredSteps(
    padding: Int = 0, pragmas: [String: String] = [:],
    _ body: (_ url: URL, _ coordinator: PersistentStoreCoordinator, _ store: SQLiteStore) throws -> Void
  ) throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      let number = try MadeStore.rows("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'", at: url)[0][0]
      try MadeStore.run(
        """
        WITH RECURSIVE N(I) AS (SELECT 1 UNION ALL SELECT I + 1 FROM N WHERE I < \(Self.rows)) \
        INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZFORMER, ZOLD) \
        SELECT I, \(number), 1, 'Item ' || (I * 7919 % 1000003), \
        'former ' || I || hex(zeroblob(\(padding / 2))), I FROM N
        """, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Self.rows) WHERE Z_ENT = \(number)", at: url)
      var migrator = AutomaticMigrator()
      migrator.defersWork = true
      migrator.parking = .none
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
      var options = StoreOptions(migrator: migrator)
      options.pragmas = pragmas
      try coordinator.addStore(at: url, options: options)
      try #expect(coordinator.deferredSteps().count == 3)
      try body(url, coordinator, #require(coordinator.openStores.first as? SQLiteStore))
      try LaterConversionModels.close(coordinator)
      try MadeStore.expectNewStore(of: registry.versions[1].model, at: url)
      try #expect(MadeStore.rows("PRAGMA integrity_check", at: url) == [["ok"]])
      #expect(FileState(GivingWayMark.url(besideStoreAt: url)) == nil)
    }
  }

  /// Saves a new object on a thread of its own.
  private func save(_ name: String, in coordinator: PersistentStoreCoordinator) -> DispatchGroup {
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      do {
        let context = ManagedObjectContext(coordinator)
        ManagedObject(entity: "Item", context: context)["name"] = name
        try context.save()
      } catch { Issue.record(error) }
      group.leave()
    }
    return group
  }

  private func wait(for condition: () -> Bool) {
    for _ in 0..<60_000 where !condition() { Thread.sleep(forTimeInterval: 0.001) }
    #expect(condition())
  }

  private func count(_ name: String, in coordinator: PersistentStoreCoordinator) throws -> Int {
    try ManagedObjectContext(coordinator).count(for: FetchRequest("Item", where: "name == %@", name))
  }

  @Test("A statement ends at the first question after a writer of the same coordinator came", arguments: [1, 2, 9])
  func ownWriters(_ question: Int) throws {
    try withDeferredSteps { url, coordinator, store in
      for attempt in 1...4 {
        let before = try store.deferredSteps()
        var (asked, saving) = (0, DispatchGroup())
        let rest = try store.finishDeferredSteps(until: .now, givingWay: true) { number in
          asked = number
          guard number == question else { return }
          saving = save("new \(attempt)", in: coordinator)
          wait { store.pool.turn.waitingCount == 1 }
        }
        #expect(asked == question)
        #expect(rest == before)
        saving.wait()
        try #expect(count("new \(attempt)", in: coordinator) == 1)
        try #expect(store.deferredSteps() == before)
      }
      // A store that is idle at last.
      try #expect(coordinator.finishDeferredMigration())
      try #expect(count("new 1", in: coordinator) == 1)
    }
  }

  @Test("It ends at the first question after a writer of another coordinator or program asked for the store")
  func otherWriters() throws {
    try withDeferredSteps { url, coordinator, store in
      let other = PersistentStoreCoordinator(model: store.model)
      try other.addStore(at: url)
      let mark = GivingWayMark.url(besideStoreAt: url)
      for attempt in 1...3 {
        var (asked, saving) = (0, DispatchGroup())
        let rest = try store.finishDeferredSteps(until: .now, givingWay: true) { number in
          asked = number
          #expect(FileState(mark) != nil)
          guard number == 2 else { return }
          saving = save("new \(attempt)", in: other)
          wait { FileState(mark) == nil }
        }
        #expect(asked == 2)
        #expect(rest.count == 3)
        saving.wait()
        try #expect(count("new \(attempt)", in: coordinator) == 1)
      }
      try LaterConversionModels.close(other)
      try #expect(coordinator.finishDeferredMigration())
    }
  }

  @Test("If the caller wants it so, others wait until it is done")
  func notGivingWay() throws {
    try withDeferredSteps { _, coordinator, store in
      let rest = try store.finishDeferredSteps(until: nil, givingWay: false) { _ in Issue.record("It asked.") }
      #expect(rest.isEmpty)
    }
  }

  @Test("The wait for a program that writes isn't a request of its own; that program has to wait")
  func foreignWriters() throws {
    try withDeferredSteps { url, coordinator, store in
      let group = DispatchGroup()
      group.enter()
      let holds = LockProtected(false)
      Thread.detachNewThread {
        do {
          let connection = try SQLiteConnection(url, mode: .unassisted)
          defer { connection.close() }
          try connection.execute(.beginWriting)
          holds.withLock { $0 = true }
          Thread.sleep(forTimeInterval: 0.05)
          try connection.execute(.commit)
        } catch { Issue.record(error) }
        group.leave()
      }
      wait { holds.withLock { $0 } }
      var asked = 0
      let rest = try store.finishDeferredSteps(until: .now, givingWay: true) { asked = $0 }
      #expect(rest.count == 2)
      #expect(asked > 9)
      group.wait()
      try #expect(coordinator.finishDeferredMigration())
    }
  }

  @Test("The steps take turns, so that one for which there is never time doesn't keep others from being done")
  func turns() throws {
    try withDeferredSteps { _, coordinator, store in
      let steps = try store.deferredSteps()
      guard case .dropColumn = steps[0], case .dropColumn = steps[1] else {
        Issue.record("\(steps)")
        return
      }
      var (attempts, saving) = (0, DispatchGroup())
      let rest = try store.finishDeferredSteps(until: nil, givingWay: true) { number in
        guard number == 1 else { return }
        attempts += 1
        if attempts == 1 {
          saving = save("new", in: coordinator)
          wait { store.pool.turn.waitingCount == 1 }
        } else if attempts == 3 {
          #expect((try? store.deferredSteps()) == [steps[0], steps[2]])
        }
      }
      #expect(rest.isEmpty)
      #expect(attempts == 4)
      saving.wait()
      try #expect(count("new", in: coordinator) == 1)
    }
  }

  @Test("A save after a step doesn't write the step's log into the file, whoever comes first")
  func logOfStep() throws {
    try withDeferredSteps(pragmas: ["wal_autocheckpoint": "20"]) { url, coordinator, store in
      var saves = 0
      let rest = try store.finishDeferredSteps(until: nil, givingWay: true) { _ in } whenDone: {
        saves += 1
        let before = FileState(url)
        save("new", in: coordinator).wait()
        #expect(FileState(url) == before)
      }
      #expect(rest.isEmpty && saves == 3)
      try #expect(count("new", in: coordinator) == 3)
      // Later saves do.
      let before = FileState(url)
      for _ in 0..<30 { save("later", in: coordinator).wait() }
      #expect(FileState(url) != before)
    }
  }

  @Test("The log's file is shortened in parts after a step, not by the next save")
  func sizeOfLog() throws {
    // Twenty megabytes.
    try withDeferredSteps(padding: 1000, pragmas: ["journal_size_limit": "100000"]) { url, coordinator, store in
      let log = SQLiteFileName.companion(of: url, "-wal")
      var sizes: [Int64] = []
      let rest = try store.finishDeferredSteps(until: nil, givingWay: true) { _ in } whenDone: {
        sizes.append(FileState(log)?.size ?? 0)
      }
      #expect(rest.isEmpty)
      #expect(sizes.contains { $0 > 12 << 20 }, "\(sizes)")
      #expect(FileState(log).map { $0.size <= 9 << 20 } == true)
    }
  }

  @Test("A mark that a killed process left disappears with the next wait, the next step, or the store")
  func leftoverMark() throws {
    try withDeferredSteps { url, coordinator, store in
      let mark = GivingWayMark.url(besideStoreAt: url)
      try Data().write(to: mark)
      try #expect(store.finishDeferredSteps(until: .now, givingWay: true) { _ in }.count == 2)
      #expect(FileState(mark) == nil)
      let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
      try StoreBackup.copy(storeAt: url, to: copy)
      let left = GivingWayMark.url(besideStoreAt: copy)
      try Data().write(to: left)
      try coordinator.destroyPersistentStore(at: copy)
      #expect(FileState(left) == nil)
      try #expect(coordinator.finishDeferredMigration())
    }
  }
}
