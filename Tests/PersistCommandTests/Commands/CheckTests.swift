import LinkedSQLite
import Foundation
import PersistTestSupport
import Testing

@Suite("persist check")
struct CheckTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  private func execute(_ sql: String, _ store: URL) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    try #require(sqlite3_open(store.path, &handle) == SQLITE_OK)
    TestKey.unlock(handle)
    try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
  }

  @Test(
    "Damage is found and reported with its place, and the exit status is 3",
    .aboutFiles("damage by SQL; that of servers has a test of its own"),
    arguments: [
      ("UPDATE ZLINE SET ZITEM = 999 WHERE Z_PK = 3", "danglingRelationship", "Line", 3, "item"),
      ("UPDATE ZITEM SET ZNAME = NULL WHERE Z_PK = 2", "missingValue", "Item", 2, "name"),
      ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Order'", "keyCounter", "Order", nil, nil),
      ("UPDATE ZPARTY SET Z_ENT = 99 WHERE Z_PK = 4", "unknownEntity", nil, 4, nil),
    ] as [(String, String, String?, Int?, String?)])
  func damage(_ damage: (sql: String, kind: String, entity: String?, pk: Int?, property: String?)) throws {
    try withTemporaryStore { store in
      _ = try Command.run("fill", store.path, "--models", shop, "--rows", "10")
      try execute(damage.sql, store)
      let outcome = try Command.run("check", store.path, "--models", shop, "--json")
      #expect(outcome.status == 3)
      try #expect(outcome.json()["ok"] as? Bool == false)
      let problems = try #require(try outcome.json()["problems"] as? [[String: Any]])
      let found = try #require(problems.first { $0["kind"] as? String == damage.kind })
      if let entity = damage.entity { #expect(found["entity"] as? String == entity) }
      if let pk = damage.pk { #expect(found["pk"] as? Int == pk) }
      if let property = damage.property { #expect(found["property"] as? String == property) }
      #expect((found["detail"] as? String)?.isEmpty == false)
      let words = try Command.run("check", store.path, "--models", shop)
      #expect(words.status == 3)
      let kind = damage.kind.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
      #expect(words.output.contains(kind))
    }
  }

  @Test("A value of another type is described", .aboutFiles("damage by SQL"))
  func wrongType() throws {
    try withTemporaryStore { store in
      _ = try Command.run("fill", store.path, "--models", shop, "--rows", "10")
      try execute("UPDATE ZREVIEW SET ZSTARS = x'00' WHERE Z_PK = 2", store)
      let outcome = try Command.run("check", store.path, "--models", shop)
      #expect(outcome.status == 3)
      #expect(outcome.output.contains("which isn't a value of type int16."), "\(outcome.output)")
    }
  }

  @Test("A store in memory can't be checked", arguments: ["check", "inspect"])
  func inMemory(_ command: String) throws {
    let outcome = try Command.run(command, "/dev/null")
    #expect(outcome.status == 1 && outcome.messages.contains("storeTypeMismatch"))
  }

  @Test(
    "Repairs are offered for problems with only one, and made with --repair",
    .aboutFiles("repairs, which servers lack"))
  func repair() throws {
    try withTemporaryStore { store in
      _ = try Command.run("fill", store.path, "--models", shop, "--rows", "10")
      try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Order'", store)
      let found = try Command.run("check", store.path, "--models", shop)
      #expect(found.status == 3)
      #expect(found.messages.contains("check --repair"))
      let mended = try Command.run("check", store.path, "--models", shop, "--repair")
      #expect(mended.status == 0)
      #expect(mended.messages == "repaired: key counter at Order: 1 row\n")
      #expect(mended.output == "ok\n")
      try execute("UPDATE ZITEM SET ZNAME = NULL WHERE Z_PK = 2", store)
      try #expect(Command.run("check", store.path, "--models", shop, "--repair").status == 3)
    }
  }

  @Test(
    "A store that lacks a column and a table is shown as far as possible, and the check reports the gaps",
    .aboutFiles("tables changed by SQL"))
  func gaps() throws {
    try withTemporaryStore { store in
      _ = try Command.run("fill", store.path, "--models", shop, "--rows", "5")
      try execute("ALTER TABLE ZITEM DROP COLUMN ZADDEDAT; DROP TABLE ZREVIEW", store)
      let inspect = try Command.run("inspect", store.path, "--json")
      #expect(inspect.status == 0)
      #expect(inspect.messages.contains("addedAt"))
      let items = try Command.run("dump", store.path, "--json").jsonLines().filter { $0["entity"] as? String == "Item" }
      #expect(items.count == 5)
      for item in items {
        #expect((item["attributes"] as? [String: Any])?["addedAt"] is NSNull)
        #expect((item["relationships"] as? [String: Any])?["reviews"] as? [String] == [])
      }
      let check = try Command.run("check", store.path, "--json")
      #expect(check.status == 3)
      #expect(check.output.contains("schemaMismatch"))
    }
  }

  @Test("Real stores are intact", .needsSharedData)
  func realStores() throws {
    for store in [
      "posts/CoreDataMigration_Example_1.sqlite", "moody/Moody 5.moody", "bookmarks/Bookmarks_V2.sqlite",
      "cars/Fixtures/SampleModel_V2.sqlite",
    ] {
      let outcome = try Command.run("check", SharedData.url(store).path, "--json")
      #expect(outcome.status == 0, "\(store): \(outcome.output)")
    }
  }

  @Test("A truncated store is damaged, not unreadable", .aboutFiles("truncated files"))
  func truncated() throws {
    try withTemporaryStore { url in
      try #expect(Command.run("fill", url.path, "--models", shop, "--rows", "20").status == 0)
      let bytes = try Data(contentsOf: url)
      // Also within the header of the file, and before it.
      for size in [8 * 4096, 5000, 60, 0] {
        try bytes.prefix(size).write(to: url)
        let outcome = try Command.run("check", url.path, "--json")
        #expect(outcome.status == 3, "\(size)")
        let problems = try #require(try outcome.json()["problems"] as? [NSDictionary])
        #expect(problems.first?["kind"] as? String == "damagedDatabase", "\(size)")
      }
    }
  }
}
