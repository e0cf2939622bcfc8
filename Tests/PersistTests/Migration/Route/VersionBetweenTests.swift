import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The version between two others")
struct VersionBetweenTests {
  private static func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
    ModelVersion(
      name: name, model: try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: [name])))
  }

  private static func text(_ name: String, renamingIdentifier: String? = nil) -> AttributeDescription {
    AttributeDescription(
      name, .string, isOptional: false, default: .string(""), renamingIdentifier: renamingIdentifier)
  }

  /// Migrates a store with objects, and returns the context of the new version.
  private func migrate(
    _ url: URL, _ staged: StagedMigration, to new: ModelVersion, from old: ModelVersion,
    filled fill: (ManagedObjectContext) throws -> Void
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: old.model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try fill(context)
    try context.save()
    try coordinator.remove(store)
    let migrated = PersistentStoreCoordinator(model: new.model)
    try migrated.addStore(at: url, options: .stagedMigration(staged))
    return ManagedObjectContext(migrated)
  }

  @Test("A value is split into required, unique attributes without defaults, beside one that is renamed")
  func split() throws {
    let v1 = try Self.version(
      "1", EntityDescription("Person", attributes: [Self.text("name"), .init("age", .int16)]))
    let v2 = try Self.version(
      "2",
      EntityDescription(
        "Human", renamingIdentifier: "Person",
        attributes: [
          .init("first", .string, isOptional: false), .init("last", .string, isOptional: false),
          .init("years", .int16, renamingIdentifier: "age"),
        ], uniquenessConstraints: [["first", "last"], ["years"]]))
    let staged = try StagedMigration(from: v1, to: v2) { context in
      for human in try context.fetch(FetchRequest("Human")) {
        let words = (human["name"] as? String ?? "").split(separator: " ").map(String.init)
        (human["first"], human["last"]) = (words[0], words[1])
      }
    }
    try withTemporaryStore { url in
      let context = try migrate(url, staged, to: v2, from: v1) { context in
        for (name, age) in [("Ada Lovelace", 36), ("Alan Turing", 41)] {
          let person = try context.create("Person")
          (person["name"], person["age"]) = (name, age)
        }
      }
      let humans = try context.fetch(FetchRequest("Human", sortedBy: "last"))
      #expect(humans.map { $0["first"] as? String } == ["Ada", "Alan"])
      #expect(humans.map { $0["years"] as? Int } == [36, 41])
    }
  }

  @Test("The old values are parked, and no advice takes what the code computed for an undeclared rename")
  func warning() throws {
    let v1 = try Self.version("1", EntityDescription("Person", attributes: [Self.text("first"), Self.text("last")]))
    let v2 = try Self.version("2", EntityDescription("Person", attributes: [Self.text("name")]))
    let staged = try StagedMigration(from: v1, to: v2) { context in
      for person in try context.fetch(FetchRequest("Person")) {
        person["name"] = "\(person["first"] ?? "") \(person["last"] ?? "")"
      }
    }
    try withTemporaryStore { url in
      try MadeStore.make(v1.model, at: url)
      try MadeStore.run(
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZFIRST, ZLAST) VALUES (1, 1, 1, 'Ada', 'Lovelace')", at: url)
      let report = try AutomaticMigrator(staged: staged).migrate(storeAt: url, to: v2, registry: nil)
      guard TestEngine.current == .sqlite else { return }
      #expect(report.parked == 2 && report.renameHints.isEmpty)
      let warning = report.parkingWarning(at: URL(fileURLWithPath: "People.sqlite"))
      #expect(
        warning == """
          '2' has no place for 1 value of Person.first, 1 value of Person.last. The migration from '1' parked them \
          in 'People.sqlite': they come back with a model that has a place for them, and 'persist parked' lists and \
          purges them.
          """)
    }
  }

  @Test("Objects of a new entity are made from attributes, and those of a removed one become others")
  func entities() throws {
    let v1 = try Self.version(
      "1", EntityDescription("Customer", attributes: [Self.text("name"), Self.text("city")]),
      EntityDescription("Draft", attributes: [Self.text("title")], relationships: [.init("by", to: "Customer")]))
    let v2 = try Self.version(
      "2",
      EntityDescription(
        "Customer", attributes: [Self.text("name")],
        relationships: [
          .init("address", to: "Address", inverse: "customers", isOptional: false),
          .init("notes", toMany: "Note", inverse: "customer"),
        ]),
      EntityDescription(
        "Address", attributes: [Self.text("city")],
        relationships: [.init("customers", toMany: "Customer", inverse: "address")]),
      EntityDescription(
        "Note", attributes: [Self.text("text")], relationships: [.init("customer", to: "Customer", inverse: "notes")]))
    let staged = try StagedMigration(from: v1, to: v2) { context in
      for customer in try context.fetch(FetchRequest("Customer")) {
        let city = customer["city"] as? String ?? ""
        customer["address"] = try context.findFirstOrCreate("Address", byAttribute: "city", with: city)
      }
      for draft in try context.fetch(FetchRequest("Draft")) {
        let note = try context.create("Note")
        (note["text"], note["customer"]) = (draft["title"], draft["by"])
      }
    }
    try withTemporaryStore { url in
      let context = try migrate(url, staged, to: v2, from: v1) { context in
        for (name, city) in [("Ada", "London"), ("Grace", "New York"), ("Alan", "London")] {
          let customer = try context.create("Customer")
          (customer["name"], customer["city"]) = (name, city)
          let draft = try context.create("Draft")
          (draft["title"], draft["by"]) = ("of \(name)", customer)
        }
      }
      let notes = try context.fetch(FetchRequest("Note", sortedBy: "text"))
      #expect(notes.map { $0["text"] as? String } == ["of Ada", "of Alan", "of Grace"])
      let cities = notes.map { (($0["customer"] as? ManagedObject)?["address"] as? ManagedObject)?["city"] as? String }
      #expect(cities == ["London", "London", "New York"])
      try #expect(context.count("Address") == 2)
    }
  }

  @Test("A version that adds nothing, or removes nothing, is one step", arguments: [false, true])
  func oneStep(isShorter: Bool) throws {
    let all = EntityDescription("Item", attributes: [Self.text("a"), Self.text("b")])
    let one = EntityDescription("Item", attributes: [Self.text("a")])
    let v1 = try Self.version("1", isShorter ? all : one)
    let v2 = try Self.version("2", isShorter ? one : all)
    let staged = try StagedMigration(from: v1, to: v2) { context in
      for item in try context.fetch(FetchRequest("Item")) {
        if isShorter { item["a"] = item["b"] } else { item["b"] = item["a"] }
      }
    }
    #expect(staged.stages.count == 1)
    try withTemporaryStore { url in
      let context = try migrate(url, staged, to: v2, from: v1) { context in
        let item = try context.create("Item")
        item["a"] = "first"
        if isShorter { item["b"] = "second" }
      }
      let item = try #require(try context.fetch(FetchRequest("Item")).first)
      #expect(item[isShorter ? "a" : "b"] as? String == (isShorter ? "second" : "first"))
    }
  }

  @Test("Migrations follow one another, and a store enters at its version", arguments: [1, 2])
  func appended(start: Int) throws {
    let versions = try [["a"], ["b"], ["c"]].enumerated().map { index, names in
      try Self.version("\(index + 1)", EntityDescription("Item", attributes: names.map { Self.text($0) }))
    }
    func step(_ old: Int, _ from: String, _ to: String) throws -> StagedMigration {
      try StagedMigration(from: versions[old], to: versions[old + 1]) { context in
        for item in try context.fetch(FetchRequest("Item")) { item[to] = "\(item[from] ?? "")\(to)" }
      }
    }
    let staged = try step(0, "a", "b").appending(step(1, "b", "c"))
    try withTemporaryStore { url in
      let context = try migrate(url, staged, to: versions[2], from: versions[start - 1]) { context in
        try context.create("Item")[start == 1 ? "a" : "b"] = "x"
      }
      let item = try #require(try context.fetch(FetchRequest("Item")).first)
      #expect(item["c"] as? String == (start == 1 ? "xbc" : "xc"))
    }
  }

  @Test("A name that belongs to different properties or entities is refused with its place")
  func conflicts() throws {
    let old = try Self.version("1", EntityDescription("Item", attributes: [Self.text("name"), Self.text("title")]))
    let reused = try Self.version(
      "2",
      EntityDescription(
        "Item", attributes: [Self.text("name", renamingIdentifier: "title"), Self.text("x", renamingIdentifier: "y")]))
    let property = #expect(throws: PersistenceError.self) { try ModelVersion.between(old, and: reused) }
    #expect(property?.code == .mappingAmbiguous && property?.place.property == "name")
    let other = try Self.version("1", EntityDescription("Item"), EntityDescription("Thing"))
    let entity = #expect(throws: PersistenceError.self) {
      try ModelVersion.between(
        other, and: Self.version("2", EntityDescription("Item", renamingIdentifier: "Thing")))
    }
    #expect(entity?.code == .mappingAmbiguous && entity?.place.entity == "Item")
    #expect(entity?.message.contains("'1' and '2'") == true)
  }

  @Test(
    "On the way to it nothing is removed, and on the way from it nothing is added",
    .law("versions-between", short: 100, long: 4000))
  func law() throws {
    var compared = 0
    let count = forEachSeed { seed in
      guard let registry = try RandomModels(seed: seed).chain(of: 3) else { return }
      for (old, new) in zip(registry.versions, registry.versions.dropFirst()) {
        let between: ModelVersion
        do {
          between = try ModelVersion.between(old, and: new)
        } catch let error as PersistenceError where error.code == .mappingAmbiguous { continue }
        compared += 1
        let step = "seed \(seed), \(old.name) → \(new.name)"
        let removals: Set<MigrationOperation.Kind> = [.removeEntity, .removeAttribute, .removeRelationship]
        let there = try ModelComparison(from: old.model, to: between.model).operations.map(\.kind)
        #expect(removals.isDisjoint(with: there), "\(step)")
        let additions: Set<MigrationOperation.Kind> = [.addEntity, .addAttribute, .addRelationship]
        let onward = try ModelComparison(from: between.model, to: new.model).operations.map(\.kind)
        #expect(additions.isDisjoint(with: onward), "\(step)")
      }
    }
    #expect(compared > count / 2)
  }
}
