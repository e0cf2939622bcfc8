#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: a read waits for the locks of others no longer than its options say, like a save.
  @Suite("Waits of reads on a server", .needsServer)
  struct ServerReadWaitTests {
    private func withLockedStore(
      _ busyTimeout: Duration, settings: String = "",
      _ body: (PersistentStoreCoordinator, ForeignSQL.Session) throws -> Void
    ) throws {
      let model = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("Item", attributes: [AttributeDescription("name", .string)])]))
      try TestServer.withSchema { text in
        let coordinator = PersistentStoreCoordinator(model: model)
        let info = try coordinator.addStore(
          .postgreSQL(text + settings), options: StoreOptions(busyTimeout: busyTimeout))
        let context = ManagedObjectContext(coordinator)
        try context.make("Item", ["name": "Tea"])
        try context.save()
        let other = try ForeignSQL.Session(#require(URL(string: text)))
        try body(coordinator, other)
        try coordinator.remove(info)
      }
    }

    private static let locking = "BEGIN; LOCK TABLE item IN ACCESS EXCLUSIVE MODE"

    private func count(_ coordinator: PersistentStoreCoordinator) throws -> Int {
      try ManagedObjectContext(coordinator).count(for: FetchRequest<ManagedObject>("Item"))
    }

    @Test("A fetch beside somebody who keeps a table locked ends with an error, and the next one succeeds afterward")
    func bounded() throws {
      try withLockedStore(.milliseconds(200)) { coordinator, other in
        try other.run(Self.locking)
        let error = #expect(throws: PersistenceError.self) { try count(coordinator) }
        #expect(error?.code == .storeBusy, "\(error as Any)")
        try other.run("COMMIT")
        try #expect(count(coordinator) == 1)
      }
    }

    @Test("A pinned context waits as long")
    func pinned() throws {
      try withLockedStore(.milliseconds(200)) { coordinator, other in
        let context = ManagedObjectContext(coordinator)
        try context.setQueryGeneration(from: .current)
        try other.run(Self.locking)
        let error = #expect(throws: PersistenceError.self) {
          try context.count(for: FetchRequest<ManagedObject>("Item"))
        }
        #expect(error?.code == .storeBusy, "\(error as Any)")
        try other.run("COMMIT")
        try #expect(context.count(for: FetchRequest<ManagedObject>("Item")) == 1)
      }
    }

    @Test("A limit in the connection string remains")
    func ownLimit() throws {
      try withLockedStore(.seconds(60), settings: "&options=-c%20lock_timeout%3D150") { coordinator, other in
        try other.run(Self.locking)
        let error = #expect(throws: PersistenceError.self) { try count(coordinator) }
        #expect(error?.code == .storeBusy, "\(error as Any)")
        try other.run("COMMIT")
      }
    }
  }
#endif
