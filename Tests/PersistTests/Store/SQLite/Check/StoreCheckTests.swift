import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Checking a store", .aboutFiles("damage of files"))
struct StoreCheckTests {
  @Test("An intact store has no problems")
  func sound() throws {
    try withLibrary { _, url in try #expect(problems(url) == []) }
  }

  @Test("Each kind of damage is found in its place, and nothing else is", arguments: Damage.all)
  func damage(_ damage: Damage) throws {
    try withLibrary { connection, url in
      for sql in damage.sql { try connection.execute(SQLText(checked: sql)) }
      let found = try problems(url)
      #expect(found.map { "\($0.kind.name) \($0.entity ?? "-") \($0.pk ?? -1) \($0.property ?? "-")" } == damage.found)
      #expect(found.allSatisfy { $0.detail.hasSuffix(".") })
    }
  }

  @Test(
    "A missing file is a problem, and an extra file a harmless one", .aboutFilesOfLargeValues)
  func files() throws {
    try withLibrary { connection, url in
      let files = ExternalDataFolder(storeAt: url)
      try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: true)
      try connection.execute("UPDATE ZBOOK SET ZCOVER = CAST(x'02' || 'HERE' || x'00' AS BLOB) WHERE Z_PK = 1")
      try Data([1]).write(to: files.url.appendingPathComponent("HERE"))
      try #expect(problems(url) == [])
      try FileManager.default.moveItem(
        at: files.url.appendingPathComponent("HERE"), to: files.url.appendingPathComponent("THERE"))
      let found = try problems(url)
      #expect(found.map(\.kind) == [.missingFile, .orphanFile])
      #expect(found.first?.pk == 1 && found.first?.property == "cover" && found.first?.entity == "Novel")
      #expect(found.map(\.isHarmless) == [false, true])
    }
  }

  @Test("A damaged page is a finding, not a failure")
  func page() throws {
    try withLibrary { connection, url in
      try connection.execute("UPDATE ZBOOK SET ZTITLE = CAST(randomblob(3000) AS TEXT)")
      try connection.execute("PRAGMA journal_mode = DELETE")
      connection.close()
      var bytes = try Data(contentsOf: url)
      for index in stride(from: 4096 + 8, to: min(bytes.count, 4096 * 5), by: 3) where index % 4096 > 100 {
        bytes[index] = bytes[index] ^ 0xA5
      }
      try bytes.write(to: url)
      do {
        try #expect(problems(url).contains { $0.kind == .damagedDatabase })
      } catch let error as PersistenceError {
        #expect(error.code == .storeDamaged || error.code == .notAStore)
      }
    }
  }

  /// The damage to an intact library, and the expected findings.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sql: [String]
    let found: [String]

    static let all: [Damage] = [
      Damage(
        "unknown entity", "UPDATE ZBOOK SET Z_ENT = 99 WHERE Z_PK = 3", "unknownEntity Book 3 -",
        "wrongDestination Shelf 1 books"),
      Damage("no entity", "UPDATE ZBOOK SET Z_ENT = NULL WHERE Z_PK = 3", "unknownEntity Book 3 -"),
      Damage("abstract", "UPDATE ZBOOK SET Z_ENT = 2 WHERE Z_PK = 3", "abstractEntity Book 3 -"),
      Damage(
        "wrong table", "UPDATE ZBOOK SET Z_ENT = 6 WHERE Z_PK = 3", "wrongTable Passport 3 -",
        "wrongDestination Shelf 1 books"),
      Damage("wrong type", "UPDATE ZBOOK SET ZTITLE = x'00' WHERE Z_PK = 3", "wrongType Story 3 title"),
      Damage(
        "dangling", "UPDATE ZBOOK SET ZAUTHOR = 77 WHERE Z_PK = 2", "danglingRelationship Novel 2 author"),
      Damage(
        "wrong destination", "UPDATE ZSHELF SET ZBEST = 3 WHERE Z_PK = 1", "wrongDestination Shelf 1 best",
        "wrongEntityNumber Shelf 1 best"),
      Damage("wrong companion", "UPDATE ZSHELF SET Z3_BEST = 4 WHERE Z_PK = 1", "wrongEntityNumber Shelf 1 best"),
      Damage(
        "one-sided", "UPDATE ZAUTHOR SET ZPASSPORT = NULL WHERE Z_PK = 1", "oneSidedRelationship Passport 1 holder"),
      Damage(
        "stolen", "UPDATE ZPASSPORT SET ZHOLDER = 2 WHERE Z_PK = 1", "oneSidedRelationship Author 1 passport",
        "oneSidedRelationship Passport 1 holder"),
      Damage(
        "dangling member", "INSERT INTO Z_2SHELVES VALUES (1, 88, 3)", "danglingRelationship Book 1 shelves"),
      Damage(
        "dangling owner", "INSERT INTO Z_2SHELVES VALUES (88, 1, 9)", "danglingRelationship Shelf 1 books"),
      Damage(
        "member twice",
        [
          "ALTER TABLE Z_2SHELVES RENAME TO x", "CREATE TABLE Z_2SHELVES AS SELECT * FROM x", "DROP TABLE x",
          "INSERT INTO Z_2SHELVES VALUES (1, 1, 77)",
        ],
        ["missingKey - -1 -", "duplicateMember Book 1 shelves"]),
      Damage(
        "no position in a join", "UPDATE Z_2SHELVES SET Z_FOK_2BOOKS = NULL WHERE Z_2BOOKS = 1",
        "missingPosition Shelf 1 books"),
      Damage(
        "one position twice in a join", "UPDATE Z_2SHELVES SET Z_FOK_2BOOKS = 1", "duplicatePosition Shelf 1 books"),
      Damage(
        "no position", "UPDATE ZBOOK SET Z_FOK_AUTHOR = NULL WHERE Z_PK = 1", "missingPosition Novel 1 author"),
      Damage(
        "one position twice", "UPDATE ZBOOK SET Z_FOK_AUTHOR = 1024", "duplicatePosition Novel 2 author"),
      Damage("required attribute", "UPDATE ZBOOK SET ZTITLE = NULL WHERE Z_PK = 1", "missingValue Novel 1 title"),
      Damage(
        "required relationship", ["UPDATE ZPASSPORT SET ZHOLDER = NULL"],
        ["oneSidedRelationship Author 1 passport", "missingValue Passport 1 holder"]),
      Damage(
        "not unique", ["DROP INDEX IF EXISTS Z_Author_UNIQUE_name", "UPDATE ZAUTHOR SET ZNAME = 'Ada'"],
        ["missingIndex Author -1 name", "duplicateValue Author 1 name"]),
      Damage(
        "counter too low", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Book'", "keyCounter Book -1 -"),
      Damage("no counter", "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL WHERE Z_NAME = 'Author'", "keyCounter Author -1 -"),
      Damage("no column", "ALTER TABLE ZSHELF DROP COLUMN ZLABEL", "schemaMismatch - -1 -"),
    ]

    init(_ name: String, _ sql: String, _ found: String...) {
      self.init(name, [sql], found)
    }

    init(_ name: String, _ sql: [String], _ found: [String]) {
      (testDescription, self.sql, self.found) = (name, sql, found)
    }
  }

  // Entities by number: Author 1, Book 2, Novel 3, Saga 4, Story 5, Passport 6, Shelf 7.
  private func model() throws -> ManagedObjectModel {
    func attribute(_ name: String, isOptional: Bool = true) -> AttributeDescription {
      AttributeDescription(name, .string, isOptional: isOptional)
    }
    var author = EntityDescription(
      "Author", attributes: [attribute("name")],
      relationships: [
        RelationshipDescription("books", toMany: "Novel", inverse: "author", isOrdered: true),
        RelationshipDescription("passport", to: "Passport", inverse: "holder"),
      ])
    author.uniquenessConstraints = [["name"]]
    return try ManagedObjectModel(
      ModelDescription(entities: [
        author,
        EntityDescription(
          "Book", isAbstract: true,
          attributes: [
            attribute("title", isOptional: false), AttributeDescription("cover", .binary, allowsExternalStorage: true),
          ], relationships: [RelationshipDescription("shelves", toMany: "Shelf", inverse: "books")]),
        EntityDescription(
          "Novel", parent: "Book",
          relationships: [RelationshipDescription("author", to: "Author", inverse: "books")]),
        EntityDescription("Story", parent: "Book"),
        EntityDescription(
          "Passport", relationships: [
            RelationshipDescription("holder", to: "Author", inverse: "passport", isOptional: false)
          ]),
        EntityDescription(
          "Shelf", attributes: [attribute("label")],
          relationships: [
            RelationshipDescription("books", toMany: "Book", inverse: "shelves", isOrdered: true),
            RelationshipDescription("best", to: "Novel", inverse: nil),
          ]),
        // Below Novel, so that a to-one relationship to it has an entity number column.
        EntityDescription("Saga", parent: "Novel"),
      ]))
  }

  private func withLibrary(_ body: (SQLiteConnection, URL) throws -> Void) throws {
    try withTemporaryStore { url in
      let map = try TableMap.forNewStore(model())
      let connection = try SQLiteConnection(url, mode: .create)
      for table in map.tableDefinitions {
        let columns = table.columns.map { "\($0.name) \($0.type.rawValue)" } + [
          "PRIMARY KEY (\(table.primaryKey.joined(separator: ", ")))"
        ]
        try connection.execute(SQLText(checked: "CREATE TABLE \(table.name) (\(columns.joined(separator: ", ")))"))
      }
      for index in map.indexDefinitions where index.isUnique { try connection.execute(.create(index)) }
      try connection.execute(
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
      for entity in map.model.entities {
        try connection.execute(
          SQLText(checked: "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.number), '\(entity.name)', 0, 0)"))
      }
      for sql in [
        "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPASSPORT) VALUES (1, 1, 1, 'Ada', 1), (2, 1, 1, NULL, NULL)",
        "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR, Z_FOK_AUTHOR, ZCOVER) VALUES "
          + "(1, 3, 1, 'Emma', 1, 1024, x'0101'), (2, 3, 1, 'Persuasion', 1, 2048, NULL), "
          + "(3, 5, 1, 'Tea', NULL, NULL, NULL)",
        "INSERT INTO ZPASSPORT (Z_PK, Z_ENT, Z_OPT, ZHOLDER) VALUES (1, 6, 1, 1)",
        "INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZBEST, Z3_BEST) VALUES (1, 7, 1, 2, 3)",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 3",
      ] { try connection.execute(SQLText(checked: sql)) }
      let join = try #require(map.joinTables.first)
      for (book, place) in [(1, 1), (3, 2)] {
        try connection.execute(
          SQLText(
            checked: "INSERT INTO \(join.name) (\(join.first.column), \(join.second.column), "
              + "\(join.second.orderColumn ?? "")) VALUES (\(book), 1, \(place))"))
      }
      try body(connection, url)
    }
  }

  private func problems(_ url: URL) throws -> [StoreProblem] {
    let connection = try SQLiteConnection(url, mode: .readOnlyBesideWriter)
    let model = try model()
    let schema = try StoreSchema(connection)
    let rows = try connection.all(.entityNumbers) {
      EntityNumbers.Row(number: Int($0.integer(0)), name: $0.text(1), parent: 0, maximum: nil)
    }
    let map = TableMap(model: model, numbers: EntityNumbers(model: model, rows: rows), schema: schema)
    var found: [StoreProblem] = []
    try StoreCheck(connection, map: map, files: ExternalDataFolder(storeAt: url)).run { found.append($0) }
    return found
  }
}
