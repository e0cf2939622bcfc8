import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Losses of a migration")
struct LossPlanTests {
  private func one(_ name: String, _ to: String, _ inverse: String? = nil) -> RelationshipDescription {
    RelationshipDescription(name, to: to, inverse: inverse)
  }

  private func many(_ name: String, _ to: String, _ inverse: String? = nil) -> RelationshipDescription {
    RelationshipDescription(name, toMany: to, inverse: inverse)
  }

  private func entity(
    _ name: String, parent: String? = nil, _ relationships: RelationshipDescription...
  ) -> EntityDescription {
    EntityDescription(name, parent: parent, relationships: relationships)
  }

  /// The losses reported by the store's plan after SQL filled the store, and the result of a query after each method.
  private func migrate(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel, filling: [String], query: String
  ) throws -> (losses: [String], rows: [[String]]) {
    try withTemporaryFolder { folder in
      let registry = ModelRegistry(
        versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
      var losses: [String] = []
      var results: [[[String]]] = []
      for copies in [false, true] {
        let url = folder.appendingPathComponent("\(copies).sqlite")
        try MadeStore.make(old, at: url)
        for sql in filling { try MadeStore.run(sql, at: url) }
        let plan = try MigrationPlan(storeAt: url, registry: registry)
        losses = plan.losses.map(\.description)
        let models = try MigrationPlan(from: registry.versions[0], to: registry.versions[1])
        for loss in plan.losses { #expect(models.losses.contains { $0.isSame(as: loss) }, "\(loss)") }
        var migrator = AutomaticMigrator()
        migrator.alwaysCopies = copies
        try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
        results.append(try MadeStore.rows(query, at: url))
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: registry) { if $0.kind != .keyCounter { problems.append($0) } }
        #expect(problems == [])
      }
      #expect(results[0] == results[1])
      return (losses, results[0])
    }
  }

  @Test("An entity that moves within its hierarchy keeps the members of inherited relationships")
  func inheritedMembers() throws {
    func shop(_ parent: String) throws -> ManagedObjectModel {
      try model(
        entity("Item", many("tags", "Tag", "items"), many("extras", "Tag")), entity("Book", parent: "Item"),
        entity("Audiobook", parent: parent), entity("Tag", many("items", "Item", "tags")))
    }
    // Items, books and audiobooks have the numbers 1, 2 and 3, and tags have 4.
    let result = try migrate(
      shop("Book"), shop("Item"),
      filling: [
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1)",
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, Z1EXTRAS, Z1_1EXTRAS) VALUES (1, 4, 1, 3, 3), (2, 4, 1, 1, 1)",
        "INSERT INTO Z_1TAGS (Z_1ITEMS, Z_4TAGS) VALUES (1, 1), (2, 1), (3, 1), (3, 2)",
      ], query: "SELECT Z_1ITEMS, Z_4TAGS, (SELECT Z1EXTRAS FROM ZTAG WHERE Z_PK = Z_4TAGS) FROM Z_1TAGS ORDER BY 1, 2")
    #expect(result.losses == [])
    #expect(result.rows == [["1", "1", "3"], ["2", "1", "3"], ["3", "1", "3"], ["3", "2", "1"]])
  }

  @Test("Properties declared by a removed entity are lost unless its subentities declare them")
  func heirs() throws {
    let name = AttributeDescription("name", .string)
    let old = try model(
      EntityDescription("Animal"), EntityDescription("Pet", isAbstract: true, parent: "Animal", attributes: [name]),
      EntityDescription("Cat", parent: "Pet"))
    let new = try model(EntityDescription("Animal"), EntityDescription("Cat", parent: "Animal"))
    let result = try migrate(
      old, new, filling: ["INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'Tom'), (2, 3, 1, NULL)"],
      query: "SELECT Z_PK FROM ZANIMAL")
    #expect(result.losses == ["Cat.name: attribute removed, 1 row"])
  }

  @Test("Members of a relationship without an inverse remain with the objects that keep it as it moves down")
  func oneWayDown() throws {
    func pets(_ declaring: String) throws -> ManagedObjectModel {
      let owners = many("owners", "Person")
      return try model(
        declaring == "Root" ? entity("Root", owners) : entity("Root"),
        declaring == "Cat" ? entity("Cat", parent: "Root", owners) : entity("Cat", parent: "Root"), entity("Person"))
    }
    let result = try migrate(
      pets("Root"), pets("Cat"),
      filling: [
        "INSERT INTO ZROOT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1)",
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, Z2OWNERS, Z2_2OWNERS) VALUES (1, 1, 1, 1, 2), (2, 1, 1, 2, 3)",
      ], query: "SELECT Z_PK, Z3OWNERS FROM ZPERSON ORDER BY 1")
    #expect(result.losses == ["Root.owners: isn't a property of this entity any more, 1 row"])
    #expect(result.rows == [["1", "nil"], ["2", "2"]])
  }

  @Test("A to-one moves up from two entities, and references to other objects are reported as lost")
  func twoDestinations() throws {
    let old = try model(
      entity("Root"), entity("Cat", parent: "Root", one("owner", "Person")),
      entity("Dog", parent: "Root", one("owner", "Firm")), entity("Person"), entity("Firm"))
    let new = try model(
      entity("Root", one("owner", "Person")), entity("Cat", parent: "Root"), entity("Dog", parent: "Root"),
      entity("Person"), entity("Firm"))
    let result = try migrate(
      old, new,
      filling: [
        "INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)",
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1)",
        "INSERT INTO ZROOT (Z_PK, Z_ENT, Z_OPT, ZOWNER, ZOWNER1) VALUES (1, 4, 1, 1, NULL), (2, 5, 1, NULL, 1)",
      ], query: "SELECT Z_PK, ZOWNER FROM ZROOT ORDER BY 1")
    #expect(result.losses == ["Root.owner: leads to objects that aren't its destination's, 1 row"])
    #expect(result.rows == [["1", "1"], ["2", "nil"]])
  }

  @Test("If relationships become each other's inverses, the to-one is kept and contradictions are reported as lost")
  func joinedInverses() throws {
    let old = try model(entity("Cat", one("owner", "Person")), entity("Person", many("cats", "Cat")))
    let new = try model(
      entity("Cat", one("owner", "Person", "cats")), entity("Person", many("cats", "Cat", "owner")))
    let result = try migrate(
      old, new,
      filling: [
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1)",
        "INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZOWNER, Z2CATS) VALUES (1, 1, 1, 1, 1), (2, 1, 1, 1, 2)",
        "INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZOWNER, Z2CATS) VALUES (3, 1, 1, NULL, 2)",
      ], query: "SELECT Z_PK, ZOWNER FROM ZCAT ORDER BY 1")
    #expect(result.losses == ["Person.cats: contradicts its inverse 'Cat.owner', which is kept, 2 rows"])
    #expect(result.rows == [["1", "1"], ["2", "1"], ["3", "nil"]])
  }

  @Test("Exchanged inverses keep both to-ones, and lose nothing")
  func exchangedInverses() throws {
    func cats(_ first: String, _ second: String) throws -> ManagedObjectModel {
      try model(
        entity("Cat", one("owner", "Person", first), one("was", "Person", second)),
        entity(
          "Person", many("cats", "Cat", first == "cats" ? "owner" : "was"),
          many("old", "Cat", first == "cats" ? "was" : "owner")))
    }
    let result = try migrate(
      cats("cats", "old"), cats("old", "cats"),
      filling: [
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1)",
        "INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZOWNER, ZWAS) VALUES (1, 1, 1, 1, 2), (2, 1, 1, NULL, 2)",
        "INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZOWNER, ZWAS) VALUES (3, 1, 1, 2, NULL)",
      ], query: "SELECT Z_PK, ZOWNER, ZWAS FROM ZCAT ORDER BY 1")
    #expect(result.losses == [])
    #expect(result.rows == [["1", "1", "2"], ["2", "nil", "2"], ["3", "2", "nil"]])
  }

  @Test("Many-to-many relationships of two entities move up and are merged with the members of both")
  func joinedManyToMany() throws {
    let old = try model(
      entity("Root"), entity("Cat", parent: "Root", many("owners", "Person", "cats")),
      entity("Dog", parent: "Root", many("owners", "Person", "dogs")),
      entity("Person", many("cats", "Cat", "owners"), many("dogs", "Dog", "owners")))
    let new = try model(
      entity("Root", many("owners", "Person", "roots")), entity("Cat", parent: "Root"), entity("Dog", parent: "Root"),
      entity("Person", many("roots", "Root", "owners")))
    let result = try migrate(
      old, new,
      filling: [
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
        "INSERT INTO ZROOT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 4, 1)",
        "INSERT INTO Z_3OWNERS (Z_1OWNERS, Z_3CATS) VALUES (1, 1), (2, 1)",
        "INSERT INTO Z_4OWNERS (Z_1OWNERS1, Z_4DOGS) VALUES (2, 2)",
      ], query: "SELECT Z_2ROOTS, Z_1OWNERS FROM Z_1ROOTS ORDER BY 1, 2")
    #expect(result.losses == [])
    #expect(result.rows == [["1", "1"], ["1", "2"], ["2", "2"]])
  }

  @Test("Removing one end of a relationship loses nothing that the other end contains")
  func removedInverse() throws {
    let old = try model(
      entity("Cat", one("owner", "Person", "cats")), entity("Person", many("cats", "Cat", "owner")))
    for new in try [
      model(entity("Cat", one("owner", "Person")), entity("Person")),
      model(entity("Cat"), entity("Person", many("cats", "Cat"))),
    ] {
      #expect(try ModelComparison(from: old, to: new).losses == [])
      #expect(try ModelComparison(from: old, to: new).operations.allSatisfy { !$0.losesData })
    }
  }

  @Test("The values of an attribute that becomes derived are lost, because they are computed from now on")
  func derived() throws {
    func version(_ derivation: String?) throws -> ManagedObjectModel {
      try model(
        EntityDescription(
          "Item", attributes: [.init("name", .string), .init("upper", .string, derivation: derivation)]))
    }
    let (old, new) = (try version(nil), try version("uppercase:(name)"))
    let found = try migrate(
      old, new,
      filling: [
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZUPPER) VALUES (1, 1, 1, 'tea', 'special'), (2, 1, 1, 'a', NULL)"
      ], query: "SELECT ZUPPER FROM ZITEM ORDER BY Z_PK")
    #expect(found.losses == ["Item.upper: attribute becomes derived, 1 row"])
    #expect(found.rows == [["TEA"], ["A"]])
    try #expect(differences(old, new) == ["change derivation Item.upper (uppercase:(name))"])
    // Values that were computed before remain.
    let back = try migrate(
      new, old, filling: ["INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZUPPER) VALUES (1, 1, 1, 'tea', 'TEA')"],
      query: "SELECT ZUPPER FROM ZITEM")
    #expect(back.losses == [] && back.rows == [["TEA"]])
  }
}
