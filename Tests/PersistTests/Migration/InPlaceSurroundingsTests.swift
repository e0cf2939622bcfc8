import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Additions to a store's tables when it is migrated in place")
struct InPlaceSurroundingsTests {
  private func item(_ attributes: AttributeDescription...) throws -> ManagedObjectModel { try item(attributes) }

  private func item(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try model(EntityDescription("Item", attributes: attributes))
  }

  @Test(
    "The file of a removed value is deleted, and that of a remaining one is kept",
    .aboutFilesOfLargeValues)
  func externalFiles() throws {
    func photos(_ names: String...) throws -> ModelVersion {
      let attributes = names.map { AttributeDescription($0, .binary, allowsExternalStorage: true) }
      return ModelVersion(name: "\(names.count)", model: try item(attributes))
    }
    let registry = ModelRegistry(versions: [try photos("a", "b"), try photos("a")])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      let folder = ExternalDataFolder(storeAt: url).url
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for name in ["kept", "gone"] { try Data([7]).write(to: folder.appendingPathComponent(name)) }
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES (1, 1, 1, x'026B65707400', x'02676F6E6500')", at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path) == ["kept"])
    }
  }

  @Test(
    "The store's history continues with the new entity numbers, and drops removed entities",
    .aboutFiles("histories that Core Data wrote"))
  func history() throws {
    try MadeStore.expectHistoryGoesOn { try MadeStore.migrateTables(at: $0, from: $1, to: $2) }
  }

  @Test(
    "Triggers of derived attributes remain, follow new names, and don't fire during the migration",
    .aboutFiles("triggers of Core Data"))
  func derivedTriggers() throws {
    func articles(_ title: AttributeDescription, _ words: AttributeType) throws -> ManagedObjectModel {
      try item(
        title, AttributeDescription("upper", .string, derivation: "uppercase:(title)"),
        AttributeDescription("words", words))
    }
    let old = try articles(AttributeDescription("title", .string), .int32)
    let new = try articles(AttributeDescription("name", .string, renamingIdentifier: "title"), .double)
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZUPPER, ZWORDS) VALUES (1, 1, 1, 'tea', 'as it was', 3)",
        """
        CREATE TRIGGER Z_DA_ZITEM_upper AFTER UPDATE ON ZITEM FOR EACH ROW WHEN OLD.ZTITLE IS NOT NEW.ZTITLE BEGIN
        UPDATE ZITEM SET ZUPPER = UPPER(NEW.ZTITLE) WHERE Z_PK = NEW.Z_PK;
        SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZITEM', 1, NEW.Z_PK, 'upper', NEW.ZTITLE); END
        """, at: url)
      try MadeStore.migrateTables(at: url, from: old, to: new)
      try #expect(MadeStore.rows("SELECT ZNAME, ZUPPER, ZWORDS FROM ZITEM", at: url) == [["tea", "as it was", "3.0"]])
      try MadeStore.run("UPDATE ZITEM SET ZNAME = 'coffee'", at: url)
      try #expect(MadeStore.rows("SELECT ZNAME, ZUPPER FROM ZITEM", at: url) == [["coffee", "COFFEE"]])
    }
  }

  /// Core Data's triggers for `upper`, and another one that reads it.
  private func makeUpper(_ model: ManagedObjectModel, at url: URL, when condition: String = "1") throws {
    try MadeStore.make(model, at: url)
    let action = "BEGIN UPDATE ZITEM SET ZUPPER = UPPER(NEW.ZTITLE) WHERE Z_PK = NEW.Z_PK; END"
    try MadeStore.run(
      "CREATE TABLE LOG (T)",
      "CREATE TRIGGER LOGGED AFTER UPDATE OF ZUPPER ON ZITEM BEGIN INSERT INTO LOG VALUES (NEW.ZUPPER); END",
      "CREATE TRIGGER Z_DA_ZITEM_Item_upper_INSERT AFTER INSERT ON ZITEM FOR EACH ROW \(action)",
      "CREATE TRIGGER Z_DA_ZITEM_Item_upper_UPDATE AFTER UPDATE OF ZTITLE ON ZITEM FOR EACH ROW "
        + "WHEN \(condition) \(action)",
      "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'Tea')", at: url)
  }

  private func othersTriggers(at url: URL) throws -> [[String]] {
    try MadeStore.rows(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name NOT LIKE 'PERSIST%' ORDER BY 1", at: url)
  }

  @Test(
    "Core Data's triggers of an attribute whose derivation changes or ends are dropped",
    .aboutFiles("triggers of Core Data"), arguments: [nil, "lowercase:(title)"] as [String?], [false, true])
  func changedDerivation(derivation: String?, copies: Bool) throws {
    func version(_ name: String, _ derivation: String?) throws -> ModelVersion {
      let title = AttributeDescription("title", .string)
      return ModelVersion(
        name: name, model: try item(title, AttributeDescription("upper", .string, derivation: derivation)))
    }
    let registry = ModelRegistry(versions: [try version("1", "uppercase:(title)"), try version("2", derivation)])
    try withTemporaryStore { url in
      try makeUpper(registry.versions[0].model, at: url)
      try AutomaticMigrator(alwaysCopies: copies)
        .migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      try MadeStore.run("UPDATE ZITEM SET ZTITLE = 'Coffee'", at: url)
      try #expect(
        MadeStore.rows("SELECT ZUPPER FROM ZITEM", at: url) == [[derivation == nil ? "TEA" : "coffee"]])
      try #expect(othersTriggers(at: url) == [["LOGGED"]])
    }
  }

  @Test(
    "A derived attribute that Core Data's triggers maintain follows values that the migration changes",
    .aboutFiles("triggers of Core Data"))
  func changedInput() throws {
    func version(_ name: String, _ title: AttributeDescription) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try item(title, AttributeDescription("upper", .string, derivation: "uppercase:(title)")))
    }
    let registry = ModelRegistry(versions: [
      try version("1", .init("title", .string)),
      try version("2", .init("title", .string, isOptional: false, default: .string("none"))),
    ])
    try withTemporaryStore { url in
      try makeUpper(registry.versions[0].model, at: url)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (2, 1, 1)", at: url)
      let triggers = try othersTriggers(at: url)
      let log = try MadeStore.rows("SELECT T FROM LOG", at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      try #expect(MadeStore.rows("SELECT ZUPPER FROM ZITEM ORDER BY Z_PK", at: url) == [["TEA"], ["NONE"]])
      try #expect(othersTriggers(at: url) == triggers)
      try #expect(MadeStore.rows("SELECT T FROM LOG", at: url) == log)
    }
  }

  @Test(
    "A derived attribute that loses one of Core Data's triggers is maintained by Persist's alone",
    .aboutFiles("triggers of Core Data"))
  func lostTrigger() throws {
    let item = EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("title", .string), AttributeDescription("upper", .string, derivation: "uppercase:(title)"),
      ])
    let (old, new) = (try model(item), try model(EntityDescription("Aardvark"), item))
    let registry = ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    try withTemporaryStore { url in
      try makeUpper(old, at: url, when: "NEW.Z_ENT = 1")
      try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      try MadeStore.run(
        "UPDATE ZITEM SET ZTITLE = 'Coffee'",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (2, 2, 1, 'Milk')", at: url)
      try #expect(MadeStore.rows("SELECT ZUPPER FROM ZITEM ORDER BY Z_PK", at: url) == [["COFFEE"], ["MILK"]])
      try #expect(othersTriggers(at: url) == [["LOGGED"]])
    }
  }

  @Test(
    "Another framework's indexes of the model with expressions or conditions don't interfere",
    .aboutFiles("indexes of Core Data"))
  func indexesOfOthers() throws {
    let indexes = [
      FetchIndexDescription(
        "byA", elements: [.init(.property("a")), .init(.expression("lowercase:(a)", .string))]),
      FetchIndexDescription("some", elements: [.init(.property("b"))], partialPredicate: "b != nil"),
      FetchIndexDescription("low", elements: [.init(.expression("lowercase:(b)", .string))]),
    ]
    let attributes = [AttributeDescription("a", .string), AttributeDescription("b", .string)]
    let old = try model(EntityDescription("Item", attributes: attributes, indexes: indexes))
    let new = try model(
      EntityDescription("Item", attributes: attributes + [AttributeDescription("c", .string)], indexes: indexes))
    let registry = ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    for copies in [false, true] {
      try withTemporaryStore { url in
        try MadeStore.make(old, at: url)
        try MadeStore.run(
          "DROP INDEX Z_Item_byA", "CREATE INDEX Z_Item_byA ON ZITEM (ZA, LOWER(ZA))",
          "DROP INDEX Z_Item_some", "CREATE INDEX Z_Item_some ON ZITEM (ZB) WHERE ZB IS NOT NULL",
          "CREATE INDEX Z_Item_low ON ZITEM (LOWER(ZB))",
          "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES (1, 1, 1, 'A', 'B')", at: url)
        try AutomaticMigrator(alwaysCopies: copies)
          .migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        try #expect(MadeStore.rows("SELECT ZA, ZB, ZC FROM ZITEM", at: url) == [["A", "B", "nil"]])
        try #expect(
          MadeStore.rows("SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> '' ORDER BY 1", at: url)
            == [["Z_Item_byA"], ["Z_Item_low"], ["Z_Item_some"]])
        try #expect(MadeStore.rows("PRAGMA integrity_check", at: url) == [["ok"]])
      }
    }
  }

  @Test(
    "A generated column that others added is kept, or refused by name if that isn't possible",
    .aboutFiles("generated columns"))
  func generatedColumns() throws {
    let (n, x) = (AttributeDescription("n", .int32), AttributeDescription("x", .string))
    let old = try item(n, x)
    func error(migratingTo new: ManagedObjectModel, copies: Bool = false) throws -> PersistenceError? {
      let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
      return try withTemporaryStore { url in
        try MadeStore.make(old, at: url)
        try MadeStore.run(
          "ALTER TABLE ZITEM ADD COLUMN ZTOTAL TEXT GENERATED ALWAYS AS (ZX || '!')",
          "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, 'one')", at: url)
        let error = persistError {
          try AutomaticMigrator(alwaysCopies: copies)
            .migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
        }
        try #expect(MadeStore.rows("SELECT ZTOTAL FROM ZITEM", at: url) == [["one!"]])
        return error
      }
    }
    let added = try item(n, x, AttributeDescription("b", .string))
    try #expect(error(migratingTo: added) == nil)
    let refusals = try [
      error(migratingTo: added, copies: true),
      // A rebuilt table, a column that it reads, and its name.
      error(migratingTo: item(AttributeDescription("n", .double), x)), error(migratingTo: item(n)),
      error(migratingTo: item(n, x, AttributeDescription("total", .string))),
    ]
    for refusal in refusals {
      #expect(refusal?.code == .mappingNotInferable)
      #expect(refusal?.message.contains("'ZTOTAL'") == true)
    }
  }

  @Test("Unknown objects are kept: tables, columns, indexes, triggers", .aboutFiles("SQLite's definitions"))
  func unknown() throws {
    try withTemporaryStore { url in
      let old = try item(
        AttributeDescription("a", .string), AttributeDescription("x", .string), AttributeDescription("y", .string))
      let new = try item(AttributeDescription("b", .string, renamingIdentifier: "a"))
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "ALTER TABLE ZITEM ADD COLUMN EXTRA VARCHAR(9)", "CREATE TABLE NOTES (T)",
        "INSERT INTO NOTES VALUES ('kept')",
        "CREATE INDEX MINE ON ZITEM (ZA, EXTRA)",
        "CREATE TRIGGER NOTED AFTER UPDATE OF ZA ON ZITEM BEGIN INSERT INTO NOTES VALUES (NEW.ZA); END",
        "CREATE TRIGGER GOES AFTER UPDATE OF ZX ON ZITEM BEGIN INSERT INTO NOTES VALUES (NEW.ZX); END",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, EXTRA) VALUES (1, 1, 1, 'one', 'more')", at: url)
      try MadeStore.migrateTables(at: url, from: old, to: new)
      try MadeStore.run("UPDATE ZITEM SET ZB = 'two'", at: url)
      try #expect(MadeStore.rows("SELECT ZB, EXTRA FROM ZITEM", at: url) == [["two", "more"]])
      try #expect(MadeStore.rows("SELECT T FROM NOTES", at: url) == [["kept"], ["two"]])
      try #expect(
        MadeStore.rows(
          "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql <> '' ORDER BY 1", at: url)
          == [["MINE"], ["NOTED"]])
    }
  }

  @Test(
    "Values in columns of others go along with rows that move to another table",
    .aboutFiles("SQLite's definitions"), arguments: [false, true])
  func movedRows(copies: Bool) throws {
    let title = AttributeDescription("title", .string)
    let base = EntityDescription("Base", attributes: [title])
    let sub = EntityDescription("Sub", attributes: [title, AttributeDescription("more", .string)])
    let registry = ModelRegistry(versions: [
      ModelVersion(name: "1", model: try model(base, EntityDescription("Sub", parent: "Base"))),
      ModelVersion(name: "2", model: try model(base, sub)),
    ])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "ALTER TABLE ZBASE ADD COLUMN EXTRA VARCHAR(9)", "ALTER TABLE ZBASE ADD COLUMN ZMORE INTEGER",
        "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZTITLE, EXTRA, ZMORE) VALUES (1, 1, 1, 'one', 'x', 7)",
        "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZTITLE, EXTRA, ZMORE) VALUES (2, 2, 1, 'two', 'y', 8)", at: url)
      let report = try AutomaticMigrator(alwaysCopies: copies)
        .migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      #expect(report.way == (copies ? .copy : .inPlace))
      try #expect(
        MadeStore.rows("SELECT Z_PK, ZTITLE, EXTRA, ZMORE FROM ZBASE", at: url) == [["1", "one", "x", "7"]])
      let kept = copies ? "ZMORE_KEPT" : "ZMORE_KEPT_1"
      try #expect(
        MadeStore.rows("SELECT Z_PK, ZTITLE, EXTRA, ZMORE, \(kept) FROM ZSUB", at: url)
          == [["2", "two", "y", "nil", "8"]])
    }
  }

  private static func dropping(_ count: Int) throws -> ModelRegistry {
    let names = ["a", "b", "x", "y"]
    func version(_ number: Int, _ attributes: [AttributeDescription]) throws -> ModelVersion {
      ModelVersion(name: "\(number)", model: try model(EntityDescription("Item", attributes: attributes)))
    }
    return ModelRegistry(versions: [
      try version(1, names.map { .init($0, .string) }),
      try version(2, names.dropLast(count).map { .init($0, .string) }),
      try version(3, [.init("c", .string, renamingIdentifier: "a")]),
    ])
  }

  @Test(
    "Views of what a migration removes are dropped, with the views of them; others follow new names",
    .aboutFiles("SQLite's definitions"), arguments: [1, 2], [false, true])
  func views(count: Int, defers: Bool) throws {
    let registry = try Self.dropping(count)
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "CREATE VIEW SHOWN AS SELECT ZA FROM ZITEM", "CREATE VIEW WHOLE AS SELECT * FROM ZITEM",
        "CREATE VIEW GOES AS SELECT ZA, ZY FROM ZITEM", "CREATE VIEW BEHIND AS SELECT ZA FROM GOES",
        "CREATE VIEW INDIRECT AS SELECT ZY FROM WHOLE",
        "CREATE TRIGGER INSTEAD INSTEAD OF UPDATE ON GOES BEGIN SELECT 1; END",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'one')", at: url)
      var migrator = AutomaticMigrator()
      migrator.defersWork = defers
      let plan = try MigrationPlan(
        storeAt: url, to: registry.versions[1], registry: registry, migrator: migrator)
      #expect(plan.description.contains("DROP VIEW"))
      for version in registry.versions.dropFirst() {
        try migrator.migrate(storeAt: url, to: version, registry: registry)
      }
      try #expect(
        MadeStore.rows("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1", at: url)
          == [["SHOWN"], ["WHOLE"]])
      try #expect(MadeStore.rows("SELECT * FROM SHOWN", at: url) == [["one"]])
    }
  }

  @Test("A view of an entity that is removed is dropped", .aboutFiles("SQLite's definitions"))
  func viewOfEntity() throws {
    let registry = ModelRegistry(versions: [
      ModelVersion(
        name: "1",
        model: try model(
          EntityDescription("Gone", attributes: [.init("a", .string)]),
          EntityDescription("Item", attributes: [.init("a", .string)]))),
      ModelVersion(
        name: "2",
        model: try model(EntityDescription("Item", attributes: [.init("b", .string, renamingIdentifier: "a")]))),
    ])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run("CREATE VIEW GOES AS SELECT ZA FROM ZGONE", at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try #expect(MadeStore.rows("SELECT name FROM sqlite_master WHERE type = 'view'", at: url) == [])
    }
  }

  @Test(
    "A view stays that reads another table's column of the name that one of its tables loses",
    .aboutFiles("SQLite's definitions"), arguments: [1, 2], [false, true])
  func viewOfSeveralTables(count: Int, defers: Bool) throws {
    func version(_ name: String, _ attributes: [AttributeDescription]) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try model(
          EntityDescription("Item", attributes: attributes),
          EntityDescription("Other", attributes: [.init("item", .int64), .init("x", .string), .init("y", .string)])))
    }
    let names = ["x", "y"].suffix(count).map { AttributeDescription($0, .string) }
    let kept = AttributeDescription("kept", .string)
    let registry = ModelRegistry(versions: [try version("1", names + [kept]), try version("2", [kept])])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "CREATE VIEW STAYS AS SELECT i.ZKEPT, o.zx, o.ZY FROM ZITEM AS i JOIN ZOTHER AS o ON o.ZITEM = i.Z_PK",
        "CREATE VIEW BEHIND AS SELECT zx FROM STAYS",
        "CREATE VIEW GOES AS SELECT i.zy, o.ZX FROM ZITEM AS i JOIN ZOTHER AS o ON o.ZITEM = i.Z_PK",
        "CREATE VIEW ORDERED AS SELECT o.ZX FROM ZITEM AS i, ZOTHER AS o ORDER BY i.zy",
        // SQLite doesn't report the columns of these.
        "CREATE VIEW JOINED AS SELECT ZKEPT, ZX FROM ZITEM JOIN ZOTHER USING (ZY)",
        "CREATE VIEW WINDOWED AS SELECT ZKEPT FROM ZITEM WINDOW w AS (ORDER BY ZY)",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZKEPT) VALUES (1, 1, 1, 'kept')",
        "INSERT INTO ZOTHER (Z_PK, Z_ENT, Z_OPT, ZITEM, ZX) VALUES (1, 2, 1, 1, 'other')", at: url)
      var migrator = AutomaticMigrator()
      migrator.defersWork = defers
      try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try #expect(
        MadeStore.rows("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1", at: url)
          == [["BEHIND"], ["STAYS"]])
      try #expect(MadeStore.rows("SELECT * FROM BEHIND", at: url) == [["other"]])
    }
  }

  @Test("A view that was broken before doesn't prevent a migration, and stays", .aboutFiles("SQLite's definitions"))
  func brokenView() throws {
    let registry = try Self.dropping(1)
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run("CREATE VIEW BROKEN AS SELECT N FROM NOWHERE", at: url)
      for version in registry.versions.dropFirst() {
        try AutomaticMigrator().migrate(storeAt: url, to: version, registry: registry)
      }
      try #expect(
        MadeStore.rows("SELECT sql FROM sqlite_master WHERE type = 'view'", at: url)
          == [["CREATE VIEW BROKEN AS SELECT N FROM NOWHERE"]])
    }
  }
}
