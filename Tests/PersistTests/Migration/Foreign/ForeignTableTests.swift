import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Tables of other programs in a migration")
struct ForeignTableTests {
  private static let names = ["Album", "Book", "Car", "Dog", "Egg", "Fox", "Goat", "Hat"]

  /// Entities and their later forms: renamed in any order, removed, and added.
  private func models(
    _ random: inout SeededRandom
  ) throws -> (old: ModelVersion, new: ModelVersion, kept: [String: String]) {
    var names = Self.names.shuffled(using: &random)
    let old = Array(names.prefix(Int.random(in: 2...5, using: &random)))
    var kept: [String: String] = [:]
    let remaining = old.filter { _ in Int.random(in: 0..<6, using: &random) > 0 }
    if Bool.random(using: &random) { names.shuffle(using: &random) }
    for (name, new) in zip(remaining, names.prefix(remaining.count).shuffled(using: &random)) { kept[name] = new }
    var entities = kept.sorted { $0.key < $1.key }.map { old, new in
      // With a modifier: versions that differ in renaming identifiers alone are stored alike.
      EntityDescription(
        new, renamingIdentifier: old, versionHashModifier: old, attributes: [AttributeDescription("label", .string)])
    }
    let taken = Set(entities.map(\.name) + old)
    for name in Self.names where !taken.contains(name) && Bool.random(using: &random) {
      entities.append(EntityDescription(name))
    }
    let before = try ManagedObjectModel(
      ModelDescription(
        entities: old.map { EntityDescription($0, attributes: [AttributeDescription("label", .string)]) }))
    let after = try ManagedObjectModel(ModelDescription(entities: entities))
    return (ModelVersion(name: "1", model: before), ModelVersion(name: "2", model: after), kept)
  }

  private func fill(_ tables: [ForeignTable], _ model: ManagedObjectModel, at url: URL, orphans: Bool) throws {
    var statements = tables.flatMap(\.definitions)
    let map = TableMap.forNewStore(model)
    for place in map.tables {
      for key in 1...3 {
        let label = "\(place.entity.name) \(key)"
        statements.append(
          "INSERT INTO \(place.table) (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (\(key), \(place.number), 1, '\(label)')")
        statements += tables.flatMap { $0.record(place.number, key, label) }
      }
    }
    // Records of entities that the model had before.
    for table in tables where orphans && table.name != "CHILDREN" {
      statements += (1...2).flatMap { table.record(map.tables.count + 1, $0, "orphan \($0)") }
    }
    let connection = try SQLiteConnection(url, mode: .readWrite)
    defer { connection.close() }
    try connection.transaction {
      for sql in statements { try connection.execute(SQLText(storedIn: StoredDefinition(sql: sql))) }
    }
  }

  @Test(
    "Records of objects follow entities to new numbers, whatever constraints their tables have",
    .aboutFiles("tables of CloudKit"), .law("foreign-renumbering", short: 20, long: 1500))
  func renumbering() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let (old, new, kept) = try models(&random)
      guard !kept.isEmpty else { return }
      let registry = ModelRegistry(versions: [old, new])
      let tables = ForeignTable.all.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
      let orphans = Bool.random(using: &random)
      let migrators = [
        AutomaticMigrator(), AutomaticMigrator(alwaysCopies: true),
        AutomaticMigrator(mappingModels: [try .inferred(from: old.model, to: new.model)]),
      ]
      for (way, migrator) in migrators.enumerated() {
        try withTemporaryStore { url in
          try MadeStore.make(old.model, at: url)
          try fill(Array(tables), old.model, at: url, orphans: orphans)
          let plan = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator)
          #expect(plan.isPossible, "seed \(seed), way \(way): \(plan.blockers)")
          let triggers = try MadeStore.rows("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY 1", at: url)
          try migrator.migrate(storeAt: url, to: new, registry: registry)
          let map = TableMap.forNewStore(new.model)
          for table in tables {
            let expected = kept.flatMap { old, new -> [[String]] in
              guard let entity = new.number(in: map) else { return [] }
              return (1...3).filter { table.name != "ANSCKTRIGGERED" || $0 == 1 }
                .map { ["\(entity)", "\($0)", "\(old) \($0)"] }
            }
            let found = try MadeStore.rows(table.query, at: url).filter { !$0[2].hasPrefix("orphan") }
            #expect(Set(found) == Set(expected), "seed \(seed), way \(way), \(table.name)")
            let numbers = Set(map.tables.map { "\($0.number)" })
            let adopted = try MadeStore.rows(table.query, at: url)
              .filter { $0[2].hasPrefix("orphan") && numbers.contains($0[0]) }
            #expect(adopted == [], "seed \(seed), way \(way), \(table.name)")
          }
          try #expect(MadeStore.rows("PRAGMA integrity_check", at: url) == [["ok"]])
          try #expect(MadeStore.rows("PRAGMA foreign_key_check", at: url) == [], "seed \(seed), way \(way)")
          try #expect(
            MadeStore.rows("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY 1", at: url) == triggers)
        }
      }
    }
  }

  @Test(
    "A rule that rejects the new numbers is a blocker of the plan and an error of the migration",
    .aboutFiles("tables of CloudKit"), arguments: [
      "CREATE TABLE ANSCKX (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER CHECK (ANSCKX.ZENTITYID < 3), ZENTITYPK)",
      "CREATE TABLE ANSCKX (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK, CHECK (ZENTITYID IN (1, 2)))",
    ], [false, true])
  func rejected(definition: String, copies: Bool) throws {
    let old = ModelVersion(name: "1", model: try model(EntityDescription("Book"), EntityDescription("Car")))
    let new = ModelVersion(
      name: "2", model: try model(EntityDescription("Album"), EntityDescription("Book"), EntityDescription("Car")))
    let registry = ModelRegistry(versions: [old, new])
    for mapping in [[], [try MappingModel.inferred(from: old.model, to: new.model)]] {
      let migrator = AutomaticMigrator(mappingModels: mapping, alwaysCopies: copies)
      try withTemporaryStore { url in
        try MadeStore.make(old.model, at: url)
        try MadeStore.run(definition, "INSERT INTO ANSCKX (ZENTITYID, ZENTITYPK) VALUES (1, 1), (2, 1)", at: url)
        let plan = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator)
        #expect(plan.blockers.map(\.what).contains { $0.contains("'ANSCKX'") && $0.hasSuffix(": 1.") })
        #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: url, to: new, registry: registry) }
        try MadeStore.run("DELETE FROM ANSCKX WHERE ZENTITYID = 2", at: url)
        try migrator.migrate(storeAt: url, to: new, registry: registry)
        try #expect(MadeStore.rows("SELECT ZENTITYID FROM ANSCKX", at: url) == [["2"]])
      }
    }
  }

  // MARK: Names

  @Test(
    "Foreign keys, views, triggers and indexes of others follow renamed tables and columns, in place and by copy",
    .aboutFiles("SQLite's definitions"), arguments: [0, 1, 2])
  func renamed(way: Int) throws {
    func attributes(_ names: [(String, String?)]) -> [AttributeDescription] {
      names.map { AttributeDescription($0.0, .string, renamingIdentifier: $0.1) }
    }
    func version(_ name: String, _ item: EntityDescription, _ tag: EntityDescription) throws -> ModelVersion {
      ModelVersion(name: name, model: try model(item, tag))
    }
    let old = try version(
      "1",
      EntityDescription(
        "Item", attributes: attributes([("a", nil), ("b", nil), ("gone", nil)]),
        relationships: [RelationshipDescription("tags", toMany: "Tag", inverse: "items")]),
      EntityDescription("Tag", relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]))
    // The two attributes exchange their names.
    let new = try version(
      "2",
      EntityDescription(
        "Thing", renamingIdentifier: "Item", attributes: attributes([("b", "a"), ("a", "b")]),
        relationships: [
          RelationshipDescription("labels", toMany: "Tag", inverse: "things", renamingIdentifier: "tags")
        ]),
      EntityDescription(
        "Tag",
        relationships: [
          RelationshipDescription("things", toMany: "Thing", inverse: "labels", renamingIdentifier: "items")
        ]))
    let registry = ModelRegistry(versions: [old, new])
    let migrator = [
      AutomaticMigrator(), AutomaticMigrator(alwaysCopies: true),
      AutomaticMigrator(mappingModels: [try .inferred(from: old.model, to: new.model)]),
    ][way]
    try withTemporaryStore { url in
      try MadeStore.make(old.model, at: url)
      let join = try #require(TableMap.forNewStore(old.model).joinTables.first?.name)
      try MadeStore.run(
        "CREATE TABLE NOTES (ID INTEGER PRIMARY KEY, ITEM INTEGER REFERENCES ZITEM (Z_PK) ON DELETE CASCADE, T)",
        "CREATE VIEW A AS SELECT ZA AS X FROM ZITEM", "CREATE VIEW GONE AS SELECT ZGONE FROM ZITEM",
        "CREATE VIEW PAIRS AS SELECT COUNT(*) AS N FROM \(join)",
        """
        CREATE TRIGGER NOTED AFTER UPDATE OF ZA ON ZITEM
        BEGIN INSERT INTO NOTES (ITEM, T) VALUES (NEW.Z_PK, NEW.ZA); END
        """,
        "CREATE INDEX LOWER_B ON ZITEM (LOWER(ZB))", "CREATE INDEX ON_GONE ON ZITEM (LOWER(ZGONE))",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES (1, 1, 1, 'one', 'two')",
        "INSERT INTO \(join) VALUES (1, 1)", "INSERT INTO NOTES (ITEM, T) VALUES (1, 'first')", at: url)
      try migrator.migrate(storeAt: url, to: new, registry: registry)
      try #expect(MadeStore.rows("SELECT ZA, ZB FROM ZTHING", at: url) == [["two", "one"]])
      try #expect(MadeStore.rows("SELECT X FROM A", at: url) == [["one"]])
      try MadeStore.run("UPDATE ZTHING SET ZB = 'three'", at: url)
      try #expect(MadeStore.rows("SELECT X FROM A", at: url) == [["three"]])
      try #expect(MadeStore.rows("SELECT ITEM, T FROM NOTES", at: url) == [["1", "first"], ["1", "three"]])
      try #expect(MadeStore.rows("PRAGMA foreign_key_check", at: url) == [])
      let key = try MadeStore.rows("SELECT \"table\", \"to\" FROM pragma_foreign_key_list('NOTES')", at: url)
      #expect(key == [["ZTHING", "Z_PK"]])
      try #expect(MadeStore.rows("SELECT N FROM PAIRS", at: url).count == 1)
      let names = try MadeStore.rows("SELECT name FROM sqlite_master WHERE name NOT LIKE 'Z%' ORDER BY 1", at: url)
      #expect(names.flatMap { $0 }.filter { !$0.hasPrefix("PERSIST") && !$0.hasPrefix("sqlite") }
        == ["A", "LOWER_B", "NOTED", "NOTES", "PAIRS"])
    }
  }
}

extension String {
  fileprivate func number(in map: TableMap) -> Int? { map.tables.first { $0.entity.name == self }?.number }
}
