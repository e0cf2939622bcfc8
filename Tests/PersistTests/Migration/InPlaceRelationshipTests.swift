import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Migrating one-way relationships and constraints in place")
struct InPlaceRelationshipTests {
  @Test("A to-many relationship without an inverse that moves up keeps its members")
  func oneWayMovesUp() throws {
    func boxes(_ owner: String) throws -> ManagedObjectModel {
      let things = RelationshipDescription("things", toMany: "Thing")
      return try model(
        EntityDescription("Box", relationships: owner == "Box" ? [things] : []),
        EntityDescription("Crate", parent: "Box", relationships: owner == "Crate" ? [things] : []),
        EntityDescription("Thing"))
    }
    let (old, new) = (try boxes("Crate"), try boxes("Box"))
    let column = try #require(TableMap.forNewStore(old).layout["ZTHING"]?.first?.name)
    try MadeStore.migrate(
      old, new, filling: "INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT) VALUES (4, 2, 1)",
      "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, \(column)) VALUES (1, 3, 1, 4), (2, 3, 1, NULL)"
    ) { url in
      try #expect(StoreDump(of: new, at: url).objects["Crate"]?[4]?["things"] == "1")
    }
  }

  @Test("Relationships without an inverse of two entities become one above them, unless they share a member")
  func oneWayMerge() throws {
    let things = RelationshipDescription("things", toMany: "Thing")
    func boxes(_ isAbove: Bool) throws -> ModelVersion {
      ModelVersion(
        name: isAbove ? "2" : "1",
        model: try model(
          EntityDescription("Box", relationships: isAbove ? [things] : []),
          EntityDescription("Crate", parent: "Box", relationships: isAbove ? [] : [things]),
          EntityDescription("Drawer", parent: "Box", relationships: isAbove ? [] : [things]),
          EntityDescription("Thing")))
    }
    let registry = ModelRegistry(versions: [try boxes(false), try boxes(true)])
    for (isShared, copies) in [(false, false), (false, true), (true, false), (true, true)] {
      try withTemporaryStore { url in
        try MadeStore.make(registry.versions[0].model, at: url)
        try MadeStore.run(
          "INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1)",
          "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, Z2THINGS, Z3THINGS) VALUES (1, 4, 1, 1, NULL), (2, 4, 1, NULL, 2)",
          at: url)
        if isShared { try MadeStore.run("UPDATE ZTHING SET Z3THINGS = 2", at: url) }
        let migrate = {
          _ = try AutomaticMigrator(alwaysCopies: copies)
            .migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        }
        if isShared {
          #expect(throws: PersistenceError.self) { try migrate() }
        } else {
          try migrate()
          let owners = try MadeStore.rows("SELECT Z1THINGS FROM ZTHING ORDER BY Z_PK", at: url)
          #expect(owners == [["1"], ["2"]])
          try MadeStore.expectNewStore(of: registry.current, at: url)
        }
      }
    }
  }

  @Test("A one-way relationship with a new inverse can be followed back, and is refused if two lead to one object")
  func newInverse() throws {
    func marks(_ shape: (own: Bool, back: Bool), hasInverse: Bool) throws -> ManagedObjectModel {
      func relationship(
        _ name: String, _ destination: String, _ inverse: String?, isToMany: Bool
      ) -> RelationshipDescription {
        isToMany
          ? RelationshipDescription(name, toMany: destination, inverse: inverse)
          : RelationshipDescription(name, to: destination, inverse: inverse)
      }
      let own = relationship("tag", "Tag", hasInverse ? "mark" : nil, isToMany: shape.own)
      let back = relationship("mark", "Mark", "tag", isToMany: shape.back)
      return try model(
        EntityDescription("Mark", relationships: [own]),
        EntityDescription("Tag", relationships: hasInverse ? [back] : []))
    }
    let rows = "INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT, ZTAG) VALUES (1, 1, 1, 2), (2, 1, 1, NULL)"
    let tags = "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1)"
    let (oneWay, toOne) = (try marks((false, false), hasInverse: false), try marks((false, false), hasInverse: true))
    try MadeStore.migrate(oneWay, toOne, filling: rows, tags) { url in
      try #expect(MadeStore.rows("SELECT ZMARK FROM ZTAG ORDER BY Z_PK", at: url) == [["nil"], ["1"]])
      try #expect(MadeStore.rows("SELECT ZTAG FROM ZMARK ORDER BY Z_PK", at: url) == [["2"], ["nil"]])
    }
    // The members of a to-many relationship without an inverse name their owner; its new inverse has the same keys.
    let (manyOneWay, manyToOne) = (
      try marks((true, false), hasInverse: false), try marks((true, false), hasInverse: true)
    )
    try MadeStore.migrate(
      manyOneWay, manyToOne, filling: "INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT) VALUES (7, 1, 1)",
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, Z1TAG) VALUES (1, 2, 1, 7), (2, 2, 1, 7)"
    ) { url in
      try #expect(MadeStore.rows("SELECT ZMARK FROM ZTAG", at: url) == [["7"], ["7"]])
    }
    try withTemporaryStore { url in
      let registry = ModelRegistry(
        versions: [ModelVersion(name: "1", model: oneWay), ModelVersion(name: "2", model: toOne)])
      try MadeStore.make(oneWay, at: url)
      try MadeStore.run(tags, rows, "UPDATE ZMARK SET ZTAG = 2", at: url)
      for copies in [false, true] {
        #expect(throws: PersistenceError.self) {
          try AutomaticMigrator(alwaysCopies: copies)
            .migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        }
      }
      try #expect(MadeStore.rows("SELECT ZTAG FROM ZMARK", at: url) == [["2"], ["2"]])
    }
  }

  @Test(
    "A relationship that moves down and whose pairs are stored elsewhere keeps every pair that remains valid",
    arguments: [false, true], [false, true])
  func pairsBelow(becomesManyToMany: Bool, copies: Bool) throws {
    /// A new first entity changes the numbers of all others.
    func boxes(_ owner: String, isManyToMany: Bool, isNew: Bool) throws -> ManagedObjectModel {
      let things = RelationshipDescription("things", toMany: "Thing", inverse: "place")
      let place = isManyToMany
        ? RelationshipDescription("place", toMany: owner, inverse: "things")
        : RelationshipDescription("place", to: owner, inverse: "things")
      let entities = [
        EntityDescription("Box", relationships: owner == "Box" ? [things] : []),
        EntityDescription("Crate", parent: "Box", relationships: owner == "Crate" ? [things] : []),
        EntityDescription("Thing", relationships: [place]),
      ]
      let added = isNew ? [EntityDescription("Attic")] : []
      return try ManagedObjectModel(ModelDescription(entities: added + entities))
    }
    for (before, after) in [("Box", "Crate"), ("Crate", "Box")] {
      let old = try boxes(before, isManyToMany: !becomesManyToMany, isNew: false)
      let new = try boxes(after, isManyToMany: becomesManyToMany, isNew: true)
      try withTemporaryStore { url in
        try MadeStore.make(old, at: url)
        try MadeStore.run(
          "INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1)",
          "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 3, 1)", at: url)
        // A box that isn't a crate has a thing only if boxes have things.
        let pairs = before == "Box" ? [(1, 1), (2, 2)] : [(2, 2)]
        for (owner, thing) in pairs {
          if let join = TableMap.forNewStore(old).joinTables.first {
            let sides = join.first.entity == before ? [join.first, join.second] : [join.second, join.first]
            let columns = sides.map(\.column).joined(separator: ", ")
            try MadeStore.run("INSERT INTO \(join.name) (\(columns)) VALUES (\(owner), \(thing))", at: url)
          } else {
            try MadeStore.run("UPDATE ZTHING SET ZPLACE = \(owner) WHERE Z_PK = \(thing)", at: url)
            guard before == "Box" else { continue }
            let number = "(SELECT Z_ENT FROM ZBOX WHERE Z_PK = ZPLACE)"
            try MadeStore.run("UPDATE ZTHING SET Z1_PLACE = \(number) WHERE Z_PK = \(thing)", at: url)
          }
        }
        let registry = ModelRegistry(
          versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
        let plan = try MigrationPlan(storeAt: url, to: registry.currentVersion, registry: registry)
        let losses = before == "Box" ? ["Thing.place: leads to objects that aren't its destination's, 1 row"] : []
        #expect(plan.losses.map(\.description) == losses, "\(before) → \(after)")
        try AutomaticMigrator(alwaysCopies: copies).migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        let objects = try StoreDump(of: new, at: url).objects
        #expect(objects["Thing"]?[1]?["place"] == nil, "\(before) → \(after)")
        #expect(objects["Thing"]?[2]?["place"] == "2", "\(before) → \(after)")
        #expect(objects["Crate"]?[2]?["things"] == "2", "\(before) → \(after)")
        try MadeStore.expectNewStore(of: new, at: url)
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: registry) { problems.append($0) }
        #expect(problems == [], "\(before) → \(after)")
      }
    }
  }

  @Test("A uniqueness constraint over a new attribute with a default and an old one compares the old one's values")
  func uniqueWithDefault() throws {
    func items(_ constraint: [String]...) throws -> ModelVersion {
      let added = AttributeDescription("b", .int32, isOptional: false, default: .integer(7))
      return ModelVersion(
        name: constraint.isEmpty ? "1" : "2",
        model: try model(
          EntityDescription(
            "Item", attributes: [AttributeDescription("a", .string)] + (constraint.isEmpty ? [] : [added]),
            uniquenessConstraints: constraint)))
    }
    for (constraint, values, isPossible) in [
      (["a", "b"], ["x", "y"], true), (["a", "b"], ["x", "x"], false), (["b"], ["x"], true), (["b"], ["x", "y"], false),
    ] {
      try withTemporaryStore { url in
        let registry = ModelRegistry(versions: [try items(), try items(constraint)])
        try MadeStore.make(registry.versions[0].model, at: url)
        for (key, value) in values.enumerated() {
          try MadeStore.run(
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (\(key + 1), 1, 1, '\(value)')", at: url)
        }
        let plan = try MigrationPlan(storeAt: url, registry: registry)
        #expect(plan.isPossible == isPossible, "\(constraint), \(values)")
        guard isPossible else { return }
        try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        try #expect(MadeStore.rows("SELECT ZB FROM ZITEM", at: url).allSatisfy { $0 == ["7"] })
      }
    }
  }
}
