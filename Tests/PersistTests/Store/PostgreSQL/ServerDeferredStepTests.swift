#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: transactions of others delay a deferred step for as long as its time lasts, and not for the time that
  /// saves wait for each other.
  @Suite("Deferred steps on a server", .needsServer, .onOwnThread)
  struct ServerDeferredStepTests {
    private static func version(_ number: Int) throws -> ModelVersion {
      var attributes = [AttributeDescription("name", .string), AttributeDescription("count", .int64)]
      if number == 1 { attributes.append(AttributeDescription("colour", .string)) }
      let indexes = number == 1 ? [] : [FetchIndexDescription("byName", on: "name")]
      return ModelVersion(
        name: "\(number)",
        model: try ManagedObjectModel(
          ModelDescription(
            entities: [EntityDescription("Item", attributes: attributes, indexes: indexes)],
            versionIdentifiers: ["\(number)"])))
    }

    /// Runs `body` with a store that waits for a column to be dropped and an index to be created.
    ///
    /// - Parameter busyTimeout: That of the coordinator.
    private func withSteps(
      _ busyTimeout: Duration, _ body: (PersistentStoreCoordinator, ForeignSQL.Session) throws -> Void
    ) throws {
      let versions = try [Self.version(1), Self.version(2)]
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let first = PersistentStoreCoordinator(model: versions[0].model)
        let info = try first.addStore(at: url)
        let context = ManagedObjectContext(first)
        for number in 1...3 { try context.make("Item", ["name": "\(number)", "colour": "red"]) }
        try context.save()
        try first.remove(info)
        var migrator = AutomaticMigrator()
        (migrator.defersWork, migrator.parking) = (true, .none)
        try migrator.migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        let second = PersistentStoreCoordinator(model: versions[1].model)
        let opened = try second.addStore(at: url, options: StoreOptions(busyTimeout: busyTimeout))
        try #expect(second.deferredSteps().count == 2)
        try body(second, ForeignSQL.Session(url))
        try #expect(second.deferredSteps().isEmpty)
        let state = """
          SELECT (SELECT count(*) FROM pg_attribute WHERE attrelid = 'item'::regclass AND attname = 'colour'), \
          (SELECT string_agg(indisvalid::text, ',') FROM pg_index WHERE indexrelid = 'item_by_name_index'::regclass)
          """
        try #expect(ForeignSQL.run(state, at: url) == [["0", "true"]])
        try second.remove(opened)
      }
    }

    /// Reading anything is enough for an index, and reading the table for a column.
    private static let reading = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM item"

    @Test("A transaction that lasts longer than the time leaves them for later, and keeps nobody from saving")
    func later() throws {
      try withSteps(.seconds(2)) { coordinator, other in
        try other.run(Self.reading)
        try #expect(!coordinator.finishDeferredMigration(within: .milliseconds(300)))
        let context = ManagedObjectContext(coordinator)
        try context.make("Item", ["name": "4"])
        try context.save()
        try other.run("COMMIT")
        try #expect(coordinator.finishDeferredMigration(within: .seconds(60)))
      }
    }

    @Test("A transaction that lasts longer than the wait of saves, but not than the time, delays them")
    func within() throws {
      try withSteps(.milliseconds(100)) { coordinator, other in
        try other.run(Self.reading)
        let end = DispatchGroup()
        let transaction = HeldTransaction(session: other)
        DispatchQueue.global().async(group: end) {
          Thread.sleep(forTimeInterval: 0.6)
          transaction.end()
        }
        try #expect(coordinator.finishDeferredMigration(within: .seconds(60)))
        end.wait()
      }
    }

    @Test("Without a time, an index waits for as long as the transaction of another program lasts")
    func unlimited() throws {
      try withSteps(.milliseconds(100)) { coordinator, other in
        // The column needn't wait for this one.
        try other.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        let end = DispatchGroup()
        let transaction = HeldTransaction(session: other)
        DispatchQueue.global().async(group: end) {
          Thread.sleep(forTimeInterval: 0.6)
          transaction.end()
        }
        try #expect(coordinator.finishDeferredMigration())
        end.wait()
      }
    }

    /// A session that one thread uses after another.
    private struct HeldTransaction: @unchecked Sendable {
      // @unchecked: the thread that has begun the transaction leaves the session alone until this one has ended.
      let session: ForeignSQL.Session

      func end() {
        do { try session.run("COMMIT") } catch { Issue.record(error) }
      }
    }
  }
#endif
