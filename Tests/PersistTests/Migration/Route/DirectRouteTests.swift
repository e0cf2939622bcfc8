import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The role of the versions between two others.
@Suite("Direct routes")
struct DirectRouteTests {
  private func text(_ name: String, was identifier: String? = nil) -> AttributeDescription {
    AttributeDescription(name, .string, renamingIdentifier: identifier)
  }

  private func version(_ name: String, identifier: String? = nil, _ attributes: AttributeDescription...) throws
    -> ModelVersion
  {
    var description = ModelDescription(entities: [EntityDescription("Item", attributes: attributes)])
    description.versionIdentifiers = identifier.map { [$0] } ?? []
    return ModelVersion(name: name, model: try ManagedObjectModel(description))
  }

  /// Migrates a store with one item, all of whose attributes contain their own names, and returns its new contents.
  private func values(
    _ registry: ModelRegistry, from: String, to: String, migrator: AutomaticMigrator = AutomaticMigrator(),
    inspecting: (MigrationPlan) throws -> Void = { _ in }
  ) throws -> [String: String] {
    try withTemporaryStore { url in
      let (source, destination) = (try registry.version(named: from), try registry.version(named: to))
      try MadeStore.make(source.model, at: url)
      let names = source.model.entities[0].attributes.map(\.name)
      let columns = names.map { ", Z\($0.uppercased())" }.joined()
      let texts = names.map { ", '\($0)'" }.joined()
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT\(columns)) VALUES (1, 1, 1\(texts))", at: url)
      try inspecting(MigrationPlan(storeAt: url, to: destination, registry: registry, migrator: migrator))
      let report = try migrator.migrate(storeAt: url, to: destination, registry: registry)
      #expect(report.hops == 1)
      try MadeStore.expectNewStore(of: destination.model, at: url)
      let dump = try StoreDump(of: destination.model, at: url)
      return (dump.objects["Item"]?[1] ?? [:]).filter { $0.key != "Z_OPT" }
    }
  }

  @Test("An attribute in both end versions isn't cleared by a version between that lacks it", arguments: [false, true])
  func comesBack(copies: Bool) throws {
    let registry = ModelRegistry(versions: [
      try version("M 1", text("name"), text("note")), try version("M 2", text("name")),
      try version("M 3", text("name"), text("note"), text("more")),
    ])
    let kept = try values(registry, from: "M 1", to: "M 3", migrator: AutomaticMigrator(alwaysCopies: copies)) { plan in
      #expect(plan.losses == [])
    }
    #expect(kept == ["name": "name", "note": "note"])
  }

  @Test("A value follows its identifier when its old name is reused, and isn't lost", arguments: [false, true])
  func reusedName(copies: Bool) throws {
    let registry = ModelRegistry(versions: [
      try version("M 1", text("a")), try version("M 2", text("b", was: "a"), text("a")),
      try version("M 3", text("b"), text("c", was: "a")),
    ])
    for (version, attribute) in [("M 2", "b"), ("M 3", "c")] {
      let kept = try values(registry, from: "M 1", to: version, migrator: AutomaticMigrator(alwaysCopies: copies)) { plan in
        #expect(plan.losses == [])
      }
      #expect(kept == [attribute: "a"])
    }
  }

  @Test("Names that don't sort in order lead through no version that lacks properties of both ends")
  func unsortedNames() throws {
    let registry = ModelRegistry(families: [
      ModelFamily(
        "Model",
        versions: [
          try version("ModelV1", text("name"), text("note")), try version("ModelV2", text("name"), text("note")),
          try version("ModelV 3", text("name"), text("note"), text("more")), try version("ModelV4", text("name")),
        ])
    ])
    #expect(registry.versions.map(\.name) == ["ModelV1", "ModelV2", "ModelV 3", "ModelV4"])
    for (from, to) in [("ModelV1", "ModelV 3"), ("ModelV2", "ModelV 3"), ("ModelV 3", "ModelV1")] {
      #expect(try values(registry, from: from, to: to)["note"] == "note")
    }
  }

  @Test("A current version whose name sorts first doesn't make a store newer")
  func currentSortsFirst() throws {
    let registry = ModelRegistry(families: [
      ModelFamily(
        "M", versions: [try version("Apple", text("name"), text("more")), try version("Zebra", text("name"), text("old"))],
        current: "Apple")
    ])
    let kept = try values(registry, from: "Zebra", to: "Apple") { plan in
      #expect(plan.isPossible)
      #expect(plan.losses.map(\.property) == ["old"])
    }
    #expect(kept == ["name": "name"])
  }

  @Test("A chain of names is followed through versions that were skipped, and back", arguments: ["V", "Draft"])
  func chainOfNames(series: String) throws {
    let names = series == "V" ? ["V1", "V 2", "V3", "V10"] : ["Zeta", "Beta", "Omega", "Alpha"]
    let registry = ModelRegistry(families: [
      ModelFamily(
        "M",
        versions: [
          try version(names[0], text("a"), text("x")), try version(names[1], text("b", was: "a"), text("x")),
          try version(names[2], text("c", was: "b")), try version(names[3], text("d", was: "c"), text("x")),
        ])
    ])
    #expect(try values(registry, from: names[0], to: names[2]) == ["c": "a"])
    #expect(try values(registry, from: names[0], to: names[3]) == ["d": "a", "x": "x"])
    #expect(try values(registry, from: names[3], to: names[0]) == ["a": "d", "x": "x"])
    #expect(try values(registry, from: names[2], to: names[0]) == ["a": "c"])
  }

  @Test("Entities are followed through skipped versions too")
  func entities() throws {
    let versions = try [("Cat", nil), ("Feline", "Cat"), ("Felid", "Feline")].enumerated().map { number, names in
      ModelVersion(
        name: "V\(number + 1)",
        model: try model(
          EntityDescription(
            names.0, renamingIdentifier: names.1,
            attributes: [text("name"), text("k\(number)", was: number == 0 ? nil : "k\(number - 1)")])))
    }
    let registry = ModelRegistry(versions: versions)
    for (source, destination) in [(versions[0], versions[2]), (versions[2], versions[0])] {
      let hop = try MigrationHop(from: source, to: destination, registry: registry)
      let (new, old) = (destination.model.entities[0], source.model.entities[0])
      #expect(hop.comparison.correspondence.entities == [new.name: old.name])
      #expect(hop.comparison.operations.map(\.kind) == [.renameEntity, .renameAttribute])
    }
  }

  @Test("A chain of names makes no migration impossible: a property that can't hold the old values is new")
  func otherType() throws {
    let number = AttributeDescription("c", .int64, renamingIdentifier: "b")
    let registry = ModelRegistry(versions: [
      try version("1", text("a"), text("n")), try version("2", text("b", was: "a"), text("n")),
      try version("3", number, text("n")),
    ])
    let kept = try values(registry, from: "1", to: "3") { plan in
      #expect(plan.isPossible)
      #expect(plan.losses.map(\.property) == ["a"])
    }
    #expect(kept == ["n": "n"])
  }

  @Test(
    "An entity known only by a chain of names keeps its rows if one of its properties is an obstacle",
    arguments: [false, true])
  func rowsOfRenamedEntity(copies: Bool) throws {
    func many(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
      RelationshipDescription(name, toMany: entity, inverse: inverse)
    }
    func version(
      _ name: String, _ entity: String, was: String? = nil, _ type: AttributeType, _ inverses: [String: String]
    ) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try model(
          EntityDescription(
            entity, renamingIdentifier: was, attributes: [text("name"), AttributeDescription("size", type)],
            relationships: inverses.sorted { $0.key < $1.key }.map { many($0.key, entity, $0.value) })))
    }
    let pairs = ["owns": "owners", "owners": "owns", "likes": "fans", "fans": "likes"]
    let crossed = ["owns": "fans", "fans": "owns", "likes": "owners", "owners": "likes"]
    let registry = ModelRegistry(versions: [
      try version("1", "Cat", .string, pairs), try version("2", "Feline", was: "Cat", .string, pairs),
      try version("3", "Feline", .int32, crossed),
    ])
    try withTemporaryStore { url in
      let (old, new) = (registry.versions[0], registry.versions[2])
      try MadeStore.make(old.model, at: url)
      try MadeStore.fill(old.model, at: url, rows: 5, seed: 3)
      let before = try StoreContent(of: old.model, at: url)
      let migrator = AutomaticMigrator(alwaysCopies: copies)
      let plan = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator)
      #expect(plan.blockers == [])
      #expect(plan.losses.filter { $0.property == nil } == [])
      #expect(plan.losses.contains { $0.property == "size" })
      try migrator.migrate(storeAt: url, to: new, registry: registry)
      let after = try StoreContent(of: new.model, at: url)
      #expect(after.values.count == before.values.count)
      for (object, values) in before.values {
        #expect(after.values[.init(entity: "Feline", key: object.key)]?["name"] == values["name"])
      }
      // One of the two relationships is kept with all of its pairs, as seen from both ends; the other is lost.
      let kept = ["owns", "likes"].filter { name in
        let keys = { (pairs: Set<StoreContent.Pair>) in Set(pairs.map { [$0.owner.key, $0.member.key] }) }
        return keys(after.pairs("Feline", name)) == keys(before.pairs("Cat", name))
      }
      #expect(!kept.isEmpty)
      let told = Set(plan.losses.compactMap(\.property)).subtracting(["size"])
      #expect(!told.isEmpty && told.isDisjoint(with: kept))
    }
  }

  @Test(
    "An entity known only by a chain of names keeps its rows if a relationship of its subentities is an obstacle",
    arguments: [false, true])
  func rowsOfRenamedSuperentity(copies: Bool) throws {
    func many(_ names: [String: String], to entity: String) -> [RelationshipDescription] {
      names.sorted { $0.key < $1.key }.map { RelationshipDescription($0.key, toMany: entity, inverse: $0.value) }
    }
    func version(_ name: String, _ cat: String, was: String? = nil, _ inverses: [String: String]) throws
      -> ModelVersion
    {
      let back = Dictionary(uniqueKeysWithValues: inverses.map { ($1, $0) })
      return ModelVersion(
        name: name,
        model: try model(
          EntityDescription(
            cat, renamingIdentifier: was, attributes: [text("name")], relationships: many(inverses, to: "Person")),
          EntityDescription("Kitten", parent: cat),
          EntityDescription("Person", relationships: many(back, to: cat))))
    }
    let pairs = ["owners": "cats", "fans": "idols"]
    let crossed = ["owners": "idols", "fans": "cats"]
    let registry = ModelRegistry(versions: [
      try version("1", "Cat", pairs), try version("2", "Feline", was: "Cat", pairs),
      try version("3", "Feline", crossed),
    ])
    try withTemporaryStore { url in
      let (old, new) = (registry.versions[0], registry.versions[2])
      try MadeStore.make(old.model, at: url)
      try MadeStore.fill(old.model, at: url, rows: 5, seed: 3)
      let before = try StoreContent(of: old.model, at: url)
      let migrator = AutomaticMigrator(alwaysCopies: copies)
      let plan = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator)
      #expect(plan.blockers == [])
      #expect(plan.losses == [])
      try migrator.migrate(storeAt: url, to: new, registry: registry)
      let after = try StoreContent(of: new.model, at: url)
      #expect(after.values.count == before.values.count)
      for (object, values) in before.values where object.entity != "Person" {
        let entity = object.entity == "Cat" ? "Feline" : object.entity
        #expect(after.values[.init(entity: entity, key: object.key)]?["name"] == values["name"])
      }
      // The people's ends of both relationships keep their pairs; the cats' ends follow them.
      for (name, inverse) in [("cats", "fans"), ("idols", "owners")] {
        let pairs = before.pairs("Person", name).map { [$0.owner.key, $0.member.key] }
        let turned = ["Feline", "Kitten"].flatMap { after.pairs($0, inverse) }.map { [$0.member.key, $0.owner.key] }
        #expect(!pairs.isEmpty && Set(pairs) == Set(turned))
        #expect(Set(pairs) == Set(after.pairs("Person", name).map { [$0.owner.key, $0.member.key] }))
      }
    }
  }

  @Test("A direct match is never sacrificed for a chain of names")
  func directFirst() throws {
    let registry = ModelRegistry(versions: [
      try version("1", text("a"), text("b")), try version("2", text("b", was: "a"), text("c", was: "b")),
      try version("3", text("c"), text("b"), text("d")),
    ])
    #expect(try values(registry, from: "1", to: "3")["b"] == "b")
  }

  @Test("Contradictory identifiers in a version between refuse nothing")
  func ambiguousBetween() throws {
    let registry = ModelRegistry(versions: [
      try version("1", text("a"), text("z")), try version("2", text("b", was: "a"), text("c", was: "a")),
      try version("3", text("a"), text("y", was: "z")),
    ])
    #expect(try values(registry, from: "1", to: "3") == ["a": "a", "y": "z"])
  }

  @Test("Exchanged names are exchanged back, also with more versions between")
  func exchange() throws {
    let registry = ModelRegistry(versions: [
      try version("1", text("x"), text("y")), try version("2", text("y", was: "x"), text("x", was: "y"), text("more")),
      try version("3", text("y", was: "x"), text("x", was: "y"), text("last")),
    ])
    #expect(try values(registry, from: "1", to: "2") == ["x": "y", "y": "x"])
    #expect(try values(registry, from: "1", to: "3") == ["x": "y", "y": "x"])
    #expect(try values(registry, from: "2", to: "1") == ["x": "y", "y": "x"])
    #expect(try values(registry, from: "3", to: "1") == ["x": "y", "y": "x"])
    #expect(try values(registry, from: "2", to: "3")["x"] == "x")
  }
}
