import LinkedSQLite
import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Readers and the writer of one store")
struct ReadersAndWriterTests {
  private func withRows(_ count: Int, _ body: (TestStack) throws -> Void) throws {
    try withStack(SampleModels.people) { stack in
      let seeding = stack.context()
      for index in 0..<count { try seeding.make("Person", ["name": "\(index)", "salary": index]) }
      try seeding.save()
      try body(stack)
    }
  }

  @Test("Iterating over many rows lets others save and read in the meantime, and continues")
  func walkWhileOthersSave() throws {
    try withRows(500) { stack in
      let (reader, writer, other) = (stack.context(), stack.context(), stack.context())
      var walked = 0
      try reader.forEachBatch(of: FetchRequest("Person"), size: 50) { batch in
        for object in batch where object["name"] as? String != nil { walked += 1 }
        let first = try #require(try writer.fetch(FetchRequest("Person", limit: 1)).first)
        first["salary"] = walked
        try writer.save()
        #expect(try other.count(for: FetchRequest("Person", where: "salary == %@", walked)) >= 1)
      }
      #expect(walked == 500)
    }
  }

  @Test(
    "While another program has the store locked for writing, any number of contexts read it",
    .aboutFiles("the lock of a file"))
  func readWhileLocked() throws {
    try withRows(100) { stack in
      var connection: OpaquePointer?
      try #require(sqlite3_open(stack.url.path, &connection) == SQLITE_OK)
      TestKey.unlock(connection)
      defer { sqlite3_close(connection) }
      try #require(
        sqlite3_exec(connection, "BEGIN IMMEDIATE; UPDATE ZPERSON SET ZSALARY = -1", nil, nil, nil) == SQLITE_OK)
      let coordinator = stack.coordinator
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        let context = ManagedObjectContext(coordinator)
        do {
          let salaries = try context.fetch(FetchRequest("Person")).compactMap { $0["salary"] as? Int }
          #expect(salaries.count == 100 && !salaries.contains(-1))
        } catch {
          Issue.record(error)
        }
      }
      sqlite3_exec(connection, "ROLLBACK", nil, nil, nil)
    }
  }
}
