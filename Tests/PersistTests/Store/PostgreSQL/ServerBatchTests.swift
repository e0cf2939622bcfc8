#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Batches that wait for rows which another program changes: in a file, one writer would come after the other.
  @Suite("Batches on a server beside other writers", .needsServer)
  struct ServerBatchTests {
    private func withJobs(
      history: Bool = false, _ body: (URL, PersistentStoreCoordinator) throws -> Void
    ) throws {
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Job",
            attributes: [
              .init("name", .string), .init("claimed", .boolean, isOptional: false, default: .boolean(false)),
              .init("stock", .int64, isOptional: false, default: .integer(1)),
            ])
        ]))
      try TestServer.withSchema { text in
        let coordinator = PersistentStoreCoordinator(model: model)
        let store = try coordinator.addStore(.postgreSQL(text), options: StoreOptions(tracksHistory: history))
        let context = ManagedObjectContext(coordinator)
        for name in ["a", "b", "c", "d"] { try context.make("Job", ["name": name]) }
        try context.save()
        try body(#require(URL(string: text)), coordinator)
        try coordinator.remove(store)
      }
    }

    private func rows(_ columns: String, at url: URL) throws -> [[String]] {
      try ForeignSQL.run("SELECT \(columns) FROM job ORDER BY name", at: url)
    }

    @Test("Jobs that another program has just claimed aren't claimed again")
    func claims() throws {
      try withJobs { url, coordinator in
        let found = LockProtected<[ManagedObjectID]>([])
        try OtherWriter.run("UPDATE job SET claimed = true WHERE name IN ('a', 'b')", at: url) {
          let claim = BatchUpdateRequest(
            "Job", where: try FetchPredicate("claimed == NO"), set: ["claimed": .value(true)],
            resultType: .updatedObjectIDsResultType)
          let ids = try ManagedObjectContext(coordinator).execute(claim).changes.updatedObjectIDs
          found.withLock { $0 = Array(ids) }
        }
        let context = ManagedObjectContext(coordinator)
        let names = found.withLock { $0 }.compactMap { context.object(with: $0)["name"] as? String }
        #expect(names.sorted() == ["c", "d"])
        try #expect(rows("version", at: url).map { $0[0] } == ["1", "1", "2", "2"])
      }
    }

    @Test("A computed value comes from the row that another program has left, if it still matches")
    func stock() throws {
      try withJobs { url, coordinator in
        try ForeignSQL.run("UPDATE job SET stock = 2 WHERE name = 'b'", at: url)
        try OtherWriter.run("UPDATE job SET stock = stock - 1 WHERE name IN ('a', 'b')", at: url) {
          let take = BatchUpdateRequest(
            "Job", where: try FetchPredicate("stock > 0"), set: ["stock": try FetchExpression("stock - 1")])
          try ManagedObjectContext(coordinator).execute(take)
        }
        try #expect(rows("stock", at: url).map { $0[0] } == ["0", "0", "0", "0"])
      }
    }

    @Test(
      "A row that another program has just changed so that it no longer matches isn't deleted",
      arguments: [false, true], [0, 3])
    func deletions(history: Bool, limit: Int) throws {
      try withJobs(history: history) { url, coordinator in
        try ForeignSQL.run("UPDATE job SET claimed = true WHERE name <> 'd'", at: url)
        try OtherWriter.run("UPDATE job SET claimed = false WHERE name = 'b'", at: url) {
          var done = try FetchRequest("Job", where: "claimed == YES")
          done.fetchLimit = limit
          #expect(try ManagedObjectContext(coordinator).execute(BatchDeleteRequest(done)).count == 2)
        }
        try #expect(rows("name", at: url) == [["b"], ["d"]])
      }
    }
  }
#endif
