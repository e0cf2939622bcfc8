import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Tables without their keys")
struct MissingKeyTests {
  private static func library() throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Item", attributes: [.init("name", .string), .init("size", .int64)],
        relationships: [
          .init("tags", toMany: "Tag", inverse: "items"),
          .init("lines", toMany: "Line", inverse: "item", isOrdered: true),
        ], uniquenessConstraints: [["name"]]),
      EntityDescription(
        "Book", parent: "Item", attributes: [.init("isbn", .string)], uniquenessConstraints: [["isbn", "size"]]),
      EntityDescription("Tag", relationships: [.init("items", toMany: "Item", inverse: "tags")]),
      EntityDescription("Line", relationships: [.init("item", to: "Item", inverse: "lines")]))
  }

  private func withStore(_ sql: String..., body: (URL, ManagedObjectModel) throws -> Void) throws {
    let model = try Self.library()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<3 {
        let item = try context.create(number == 0 ? "Book" : "Item")
        item["name"] = "item \(number)"
        try context.create("Line")["item"] = item
      }
      try context.save()
      try coordinator.remove(store)
      let connection = try SQLiteConnection(url, mode: .unassisted)
      for statement in sql { try connection.execute(SQLText(checked: statement)) }
      connection.close()
      try body(url, model)
    }
  }

  private func problems(_ url: URL) throws -> [StoreProblem] {
    var problems: [StoreProblem] = []
    try StoreCheck.check(storeAt: url) { problems.append($0) }
    return problems
  }

  /// Creates a table again with the same columns, without its constraints.
  private func recreated(_ table: String) -> [String] {
    ["ALTER TABLE \(table) RENAME TO OTHER", "CREATE TABLE \(table) AS SELECT * FROM OTHER", "DROP TABLE OTHER"]
  }

  @Test(
    "A table without its primary key is found by check and refused for writing, and can be read", arguments: [
      ("Z_PRIMARYKEY", "Z_ENT"), ("Z_METADATA", "Z_VERSION"), ("PERSIST_METADATA", "KEY"), ("Z_1TAGS", "Z_4TAGS"),
      ("ZTAG", "Z_PK"),
    ])
  func primaryKey(table: String, column: String) throws {
    let sql = recreated(table)
    try withStore(sql[0], sql[1], sql[2]) { url, model in
      let found = try problems(url).filter { $0.kind == .missingKey }
      #expect(found.count == 1)
      #expect(found.first?.detail.contains("'\(table)'") == true && found.first?.detail.contains("'\(column)'") == true)
      let error = persistError { try PersistentStoreCoordinator(model: model).addStore(at: url) }
      #expect(error?.code == .storeDamaged)
      #expect(error?.message == found.first?.detail)
      let reading = PersistentStoreCoordinator(model: model)
      try reading.addStore(at: url, options: StoreOptions(isReadOnly: true))
      try #expect(ManagedObjectContext(reading).count(for: FetchRequest("Item")) == 3)
    }
  }

  @Test("A unique index in place of a primary key is a key")
  func otherKey() throws {
    try withStore(
      "ALTER TABLE ZTAG RENAME TO OTHER", "CREATE TABLE ZTAG (Z_PK INTEGER, Z_ENT INTEGER, Z_OPT INTEGER)",
      "INSERT INTO ZTAG SELECT * FROM OTHER", "DROP TABLE OTHER", "CREATE UNIQUE INDEX mine ON ZTAG (Z_PK)"
    ) { url, model in
      try #expect(problems(url) == [])
      try PersistentStoreCoordinator(model: model).addStore(at: url)
    }
  }

  @Test("A missing unique index is found by check, and created again when the store is opened for writing")
  func uniqueIndex() throws {
    try withStore("DROP INDEX Z_Item_UNIQUE_name", "DROP INDEX Z_Book_UNIQUE_isbn_size") { url, model in
      try #expect(problems(url).map(\.kind) == [.missingIndex, .missingIndex])
      try #expect(problems(url).map { "\($0.entity ?? "").\($0.property ?? "")" } == ["Item.name", "Book.isbn, size"])
      try PersistentStoreCoordinator(model: model).addStore(at: url)
      try #expect(problems(url) == [])
    }
  }

  @Test("Values that prevent it are an error of opening, and lose nothing")
  func duplicates() throws {
    try withStore("DROP INDEX Z_Item_UNIQUE_name", "UPDATE ZITEM SET ZNAME = 'same'") { url, model in
      try #expect(problems(url).map(\.kind) == [.missingIndex, .duplicateValue])
      let error = persistError { try PersistentStoreCoordinator(model: model).addStore(at: url) }
      #expect(error?.code == .storeDamaged && error?.place.entity == "Item")
      #expect(error?.message.contains("'name'") == true)
      let reading = PersistentStoreCoordinator(model: model)
      try reading.addStore(at: url, options: StoreOptions(isReadOnly: true))
      try #expect(ManagedObjectContext(reading).count(for: FetchRequest("Item")) == 3)
    }
  }

  @Test("A member without a position is no damage")
  func position() throws {
    try withStore("UPDATE ZLINE SET Z_FOK_ITEM = NULL WHERE Z_PK = 1") { url, _ in
      try #expect(problems(url).map(\.kind) == [.missingPosition])
      try #expect(problems(url).allSatisfy(\.isHarmless))
    }
  }
}
