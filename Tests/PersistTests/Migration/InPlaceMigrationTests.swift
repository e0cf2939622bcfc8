import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migrating in place")
struct InPlaceMigrationTests {
  private func item(_ attributes: AttributeDescription...) throws -> ManagedObjectModel { try item(attributes) }

  private func item(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try model(EntityDescription("Item", attributes: attributes))
  }

  @Test("Attributes are added with their defaults, renamed and removed; others keep their values")
  func attributes() throws {
    try MadeStore.migrate(
      item(
        AttributeDescription("amount", .int32), AttributeDescription("colour", .string),
        AttributeDescription("title", .string)),
      item(
        AttributeDescription("quantity", .int32, renamingIdentifier: "amount"), AttributeDescription("title", .string),
        AttributeDescription("isNew", .boolean, isOptional: false, default: .boolean(true)),
        AttributeDescription("note", .string), AttributeDescription("price", .double, default: .double(2))),
      filling: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZCOLOUR, ZTITLE) VALUES (1, 1, 3, 7, 'red', 'Tea')",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 5"
    ) { url in
      try #expect(
        MadeStore.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZTITLE, ZISNEW, ZNOTE, ZPRICE FROM ZITEM", at: url)
          == [["1", "1", "3", "7", "Tea", "1", "nil", "2.0"]])
      try #expect(MadeStore.rows("SELECT Z_MAX FROM Z_PRIMARYKEY", at: url) == [["5"]])
    }
  }

  @Test("Two attributes exchange their names")
  func swap() throws {
    try MadeStore.migrate(
      item(AttributeDescription("a", .string), AttributeDescription("b", .string)),
      item(
        AttributeDescription("a", .string, renamingIdentifier: "b"),
        AttributeDescription("b", .string, renamingIdentifier: "a")),
      filling: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES (1, 1, 1, 'was a', 'was b')"
    ) { url in
      try #expect(MadeStore.rows("SELECT ZA, ZB FROM ZITEM", at: url) == [["was b", "was a"]])
    }
  }

  @Test("Missing values of an attribute that becomes required are set to its default")
  func required() throws {
    try MadeStore.migrate(
      item(AttributeDescription("title", .string)),
      item(AttributeDescription("title", .string, isOptional: false, default: .string("it's new"))),
      filling: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, NULL), (2, 1, 1, 'Tea')"
    ) { url in
      try #expect(MadeStore.rows("SELECT ZTITLE FROM ZITEM ORDER BY Z_PK", at: url) == [["it's new"], ["Tea"]])
    }
  }

  @Test("A type that can represent every value adopts all of them")
  func types() throws {
    try MadeStore.migrate(
      item(AttributeDescription("n", .int32), AttributeDescription("u", .uri)),
      item(AttributeDescription("n", .double), AttributeDescription("u", .string)),
      filling: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZN, ZU) VALUES (1, 1, 1, 7, 'http://a')"
    ) { url in
      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      try #expect(store.rows("SELECT ZN, ZU FROM ZITEM").map(\.values) == [[.double(7), .text("http://a")]])
    }
  }

  @Test("Added entities shift the numbers of the others, wherever they are stored")
  func renumbering() throws {
    let mark = EntityDescription(
      "Mark", attributes: [AttributeDescription("t", .string)],
      relationships: [
        RelationshipDescription("tags", toMany: "Tag", inverse: "marks", isOrdered: true),
        RelationshipDescription("owner", to: "Owner", inverse: "marks"),
      ])
    let tag = EntityDescription(
      "Tag", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: "tags")])
    let owner = EntityDescription(
      "Owner", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: "owner")])
    let person = EntityDescription("Person", parent: "Owner")
    try MadeStore.migrate(
      model(mark, tag, owner, person), model(EntityDescription("Aardvark"), mark, tag, owner, person),
      filling: "INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1)",
      "INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT, ZT, ZOWNER, Z2_OWNER) VALUES (1, 1, 1, 'one', 2, 3)",
      "INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT, ZT, ZOWNER, Z2_OWNER) VALUES (2, 1, 1, 'two', 1, 2)",
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1)",
      "INSERT INTO Z_1TAGS (Z_1MARKS, Z_4TAGS, Z_FOK_4TAGS) VALUES (1, 1, 2048), (2, 1, 1024)"
    ) { url in
      try #expect(
        MadeStore.rows("SELECT Z_PK, Z_ENT, ZT, ZOWNER, Z3_OWNER FROM ZMARK ORDER BY Z_PK", at: url)
          == [["1", "2", "one", "2", "4"], ["2", "2", "two", "1", "3"]])
      try #expect(MadeStore.rows("SELECT Z_PK, Z_ENT FROM ZOWNER ORDER BY Z_PK", at: url) == [["1", "3"], ["2", "4"]])
      try #expect(
        MadeStore.rows("SELECT Z_2MARKS, Z_5TAGS, Z_FOK_5TAGS FROM Z_2TAGS ORDER BY 1", at: url)
          == [["1", "1", "2048"], ["2", "1", "1024"]])
    }
  }

  @Test("A to-one with an ordered inverse becomes many-to-many and keeps the order")
  func toOneToManyToMany() throws {
    func marks(_ folder: RelationshipDescription) throws -> ManagedObjectModel {
      try model(
        EntityDescription(
          "Mark",
          relationships: [
            folder, RelationshipDescription("favorites", toMany: "Mark", inverse: folder.name, isOrdered: true),
          ]))
    }
    try MadeStore.migrate(
      marks(RelationshipDescription("favoriteFolder", to: "Mark", inverse: "favorites")),
      marks(
        RelationshipDescription(
          "favoriteFolders", toMany: "Mark", inverse: "favorites", renamingIdentifier: "favoriteFolder")),
      filling: """
        INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT, ZFAVORITEFOLDER, Z_FOK_FAVORITEFOLDER)
        VALUES (1, 1, 1, NULL, NULL), (2, 1, 1, 1, 2048), (3, 1, 1, 1, 1024)
        """
    ) { url in
      try #expect(
        MadeStore.rows(
          "SELECT Z_1FAVORITEFOLDERS, Z_1FAVORITES, Z_FOK_1FAVORITES FROM Z_1FAVORITES ORDER BY 3", at: url)
          == [["1", "3", "1024"], ["1", "2", "2048"]])
    }
  }

  @Test("Many-to-many becomes to-one if each has only one member, and is refused if one has more")
  func manyToManyToToOne() throws {
    func tags(_ tag: RelationshipDescription) throws -> ManagedObjectModel {
      try model(
        EntityDescription("Mark", relationships: [tag]),
        EntityDescription("Tag", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: tag.name)]))
    }
    let old = try tags(RelationshipDescription("tags", toMany: "Tag", inverse: "marks"))
    let new = try tags(RelationshipDescription("tag", to: "Tag", inverse: "marks", renamingIdentifier: "tags"))
    let fill = [
      "INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (5, 2, 1)",
      "INSERT INTO Z_1TAGS (Z_1MARKS, Z_2TAGS) VALUES (1, 5), (2, 5)",
    ]
    try MadeStore.migrate(old, new, filling: fill[0], fill[1], fill[2]) { url in
      try #expect(MadeStore.rows("SELECT Z_PK, ZTAG FROM ZMARK", at: url) == [["1", "5"], ["2", "5"]])
    }
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        fill[0], "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (5, 2, 1), (6, 2, 1)",
        "INSERT INTO Z_1TAGS (Z_1MARKS, Z_2TAGS) VALUES (1, 5), (1, 6)", at: url)
      #expect(throws: PersistenceError.self) { try MadeStore.migrateTables(at: url, from: old, to: new) }
    }
  }

  @Test("Attributes move up and down in a hierarchy with their values")
  func moving() throws {
    func animals(_ base: [AttributeDescription], _ sub: [AttributeDescription]) throws -> ManagedObjectModel {
      try model(
        EntityDescription("Animal", attributes: base), EntityDescription("Cat", parent: "Animal", attributes: sub),
        EntityDescription("Dog", parent: "Animal", attributes: sub))
    }
    let low = try animals([], [AttributeDescription("name", .string)])
    let high = try animals([AttributeDescription("name", .string, default: .string("none"))], [])
    try MadeStore.migrate(
      low, high,
      filling: """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNAME1)
        VALUES (1, 1, 1, NULL, NULL), (2, 2, 1, 'Tom', NULL), (3, 3, 1, NULL, 'Rex')
        """
    ) { url in
      try #expect(
        MadeStore.rows("SELECT Z_PK, ZNAME FROM ZANIMAL ORDER BY 1", at: url)
          == [["1", "none"], ["2", "Tom"], ["3", "Rex"]])
    }
    try MadeStore.migrate(
      high, low,
      filling: "INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (2, 2, 1, 'Tom'), (3, 3, 1, 'Rex')"
    ) { url in
      let rows = try MadeStore.rows("SELECT Z_PK, ZNAME, ZNAME1 FROM ZANIMAL ORDER BY 1", at: url)
      #expect(
        rows == [["2", "Tom", "nil"], ["3", "nil", "Rex"]])
    }
  }

  @Test("Moving an attribute down loses values of objects above, and the plan states how many")
  func leftBehind() throws {
    func animals(_ version: String, isLow: Bool) throws -> ModelVersion {
      let attributes = [AttributeDescription("name", .string)]
      return ModelVersion(
        name: version,
        model: try model(
          EntityDescription("Animal", attributes: isLow ? [] : attributes),
          EntityDescription("Cat", parent: "Animal", attributes: isLow ? attributes : []),
          EntityDescription("Dog", parent: "Animal")))
    }
    let registry = ModelRegistry(versions: [try animals("1", isLow: false), try animals("2", isLow: true)])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME)
        VALUES (1, 1, 1, NULL), (2, 2, 1, 'Tom'), (3, 3, 1, 'Rex'), (4, 3, 1, 'Ada')
        """, at: url)
      let plan = try MigrationPlan(storeAt: url, registry: registry)
      #expect(plan.losses.map(\.description) == ["Dog.name: isn't a property of this entity any more, 2 rows"])
      #expect(throws: PersistenceError.self) {
        try AutomaticMigrator(allowsLoss: false)
          .migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      }
      try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      try #expect(
        MadeStore.rows("SELECT Z_PK, ZNAME FROM ZANIMAL ORDER BY 1", at: url)
          == [["1", "nil"], ["2", "Tom"], ["3", "nil"], ["4", "nil"]])
    }
  }

  @Test("A hierarchy is split into separate tables, and references to its rows follow")
  func splitting() throws {
    func regions(_ parent: String?) throws -> ManagedObjectModel {
      let name = [AttributeDescription("n", .string)]
      let base = parent.map { [EntityDescription($0, isAbstract: true, attributes: name)] }
      let own = parent == nil ? name : []
      return try ManagedObjectModel(
        ModelDescription(
          entities: (base ?? []) + [
            EntityDescription(
              "Continent", parent: parent, attributes: own,
              relationships: [RelationshipDescription("countries", toMany: "Country", inverse: "continent")]),
            EntityDescription(
              "Country", parent: parent, attributes: own,
              relationships: [RelationshipDescription("continent", to: "Continent", inverse: "countries")]),
          ]))
    }
    try MadeStore.migrate(
      regions("Region"), regions(nil),
      filling: """
        INSERT INTO ZREGION (Z_PK, Z_ENT, Z_OPT, ZN, ZCONTINENT)
        VALUES (1, 2, 1, 'Asia', NULL), (2, 3, 1, 'India', 1), (3, 3, 1, 'Japan', 1)
        """, "UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_ENT = 1"
    ) { url in
      try #expect(MadeStore.rows("SELECT Z_PK, Z_ENT, ZN FROM ZCONTINENT", at: url) == [["1", "1", "Asia"]])
      try #expect(
        MadeStore.rows("SELECT Z_PK, Z_ENT, ZN, ZCONTINENT FROM ZCOUNTRY", at: url)
          == [["2", "2", "India", "1"], ["3", "2", "Japan", "1"]])
      try #expect(MadeStore.rows("SELECT Z_MAX FROM Z_PRIMARYKEY", at: url) == [["9"], ["9"]])
    }
  }

  @Test("Rows of a removed subentity are deleted, and references to them are cleared")
  func removingSubentity() throws {
    let car = EntityDescription("Car", relationships: [RelationshipDescription("owner", to: "Owner", inverse: "cars")])
    let owner = EntityDescription(
      "Owner", relationships: [RelationshipDescription("cars", toMany: "Car", inverse: "owner")])
    try MadeStore.migrate(
      model(car, owner, EntityDescription("Firm", parent: "Owner"), EntityDescription("Person", parent: "Owner")),
      model(car, owner, EntityDescription("Person", parent: "Owner")),
      filling: "INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1), (3, 4, 1)",
      "INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZOWNER, Z2_OWNER) VALUES (1, 1, 1, 2, 3), (2, 1, 1, 3, 4)"
    ) { url in
      try #expect(MadeStore.rows("SELECT Z_PK, Z_ENT FROM ZOWNER", at: url) == [["1", "2"], ["3", "3"]])
      try #expect(
        MadeStore.rows("SELECT Z_PK, ZOWNER, Z2_OWNER FROM ZCAR ORDER BY Z_PK", at: url)
          == [["1", "nil", "nil"], ["2", "3", "3"]])
    }
  }

  @Test("A relationship restricted to a subentity drops the others, and the plan states how many")
  func narrowing() throws {
    func owners(_ destination: String) throws -> ModelVersion {
      let cars = [RelationshipDescription("cars", toMany: "Car", inverse: "owner")]
      return ModelVersion(
        name: destination,
        model: try model(
          EntityDescription("Car", relationships: [RelationshipDescription("owner", to: destination, inverse: "cars")]),
          EntityDescription("Owner", relationships: destination == "Owner" ? cars : []),
          EntityDescription("Person", parent: "Owner", relationships: destination == "Person" ? cars : [])))
    }
    let registry = ModelRegistry(versions: [try owners("Owner"), try owners("Person")])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1)",
        "INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZOWNER, Z2_OWNER) VALUES (1, 1, 1, 1, 2), (2, 1, 1, 2, 3)", at: url)
      let plan = try MigrationPlan(storeAt: url, registry: registry)
      #expect(plan.losses.map(\.description) == ["Car.owner: leads to objects that aren't its destination's, 1 row"])
      try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      try #expect(MadeStore.rows("SELECT Z_PK, ZOWNER FROM ZCAR ORDER BY Z_PK", at: url) == [["1", "nil"], ["2", "2"]])
      try MadeStore.expectNewStore(of: registry.current, at: url)
    }
  }

  @Test("Entities exchange their names")
  func swappedEntities() throws {
    func pair(_ first: String?, _ second: String?) throws -> ManagedObjectModel {
      try model(
        EntityDescription("A", renamingIdentifier: first, attributes: [AttributeDescription("t", .string)]),
        EntityDescription("B", renamingIdentifier: second, attributes: [AttributeDescription("t", .string)]))
    }
    try MadeStore.migrate(
      pair(nil, nil), pair("B", "A"), filling: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZT) VALUES (1, 1, 1, 'was A')",
      "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZT) VALUES (1, 2, 1, 'was B')"
    ) { url in
      try #expect(MadeStore.rows("SELECT Z_ENT, ZT FROM ZA", at: url) == [["1", "was B"]])
      try #expect(MadeStore.rows("SELECT Z_ENT, ZT FROM ZB", at: url) == [["2", "was A"]])
    }
  }

  @Test("External storage is enabled and disabled with every value")
  func externalStorage() throws {
    func photo(_ isExternal: Bool) throws -> ManagedObjectModel {
      try item([AttributeDescription("a", .binary, allowsExternalStorage: isExternal)])
    }
    func photos(_ url: URL) throws -> [SQLValue] {
      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      return try store.rows("SELECT ZA FROM ZITEM ORDER BY Z_PK").map { $0.values[0] }
    }
    let row = "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, x'00FF80'), (2, 1, 1, NULL)"
    try MadeStore.migrate(photo(false), photo(true), filling: row) { url in
      try #expect(photos(url) == [.blob(Data([1, 0, 0xFF, 0x80])), .null])
    }
    try MadeStore.migrate(
      photo(true), photo(false),
      filling: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, x'0100FF80'), (2, 1, 1, NULL)"
    ) { url in
      try #expect(photos(url) == [.blob(Data([0, 0xFF, 0x80])), .null])
    }
  }

  @Test(
    "Objects of an added entity don't get the default of another one's attribute, which may have to be unique",
    arguments: [[1, 2], [2]])
  func defaultOfSibling(path: [Int]) throws {
    let title = AttributeDescription("title", .string)
    let code = AttributeDescription("code", .string, default: .string("x"))
    let versions = try [
      ModelVersion(name: "1", model: model(EntityDescription("Note", attributes: [title]))),
      ModelVersion(
        name: "2",
        model: model(EntityDescription("Note", attributes: [title, code], uniquenessConstraints: [["code"]]))),
      ModelVersion(
        name: "3",
        model: model(
          EntityDescription("Item", isAbstract: true),
          EntityDescription("Note", parent: "Item", attributes: [title, code], uniquenessConstraints: [["code"]]),
          EntityDescription("Photo", parent: "Item"))),
    ]
    let registry = ModelRegistry(versions: versions)
    try withTemporaryStore { url in
      try MadeStore.make(versions[0].model, at: url)
      try MadeStore.run(
        "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'Tea')",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 1", at: url)
      for number in path {
        try AutomaticMigrator().migrate(storeAt: url, to: versions[number], registry: registry)
      }
      try MadeStore.expectNewStore(of: versions[2].model, at: url)
      let coordinator = PersistentStoreCoordinator(model: versions[2].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for _ in 0..<2 {
        _ = ManagedObject(entity: "Photo", context: context)
        try context.save()
      }
      try coordinator.remove(store)
      try #expect(MadeStore.rows("SELECT ZCODE FROM ZITEM ORDER BY Z_PK", at: url) == [["x"], ["nil"], ["nil"]])
    }
  }
}
