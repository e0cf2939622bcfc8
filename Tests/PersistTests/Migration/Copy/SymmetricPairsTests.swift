import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Pairs of relationships that are their own inverse")
struct SymmetricPairsTests {
  @Test(
    "A mapping for only one end's entity copies the pairs in both directions, by SQL and object by object",
    arguments: [false, true])
  func oneEntityMapped(isOrdered: Bool) throws {
    let peers = RelationshipDescription(
      name: "peers", destination: "Person", inverse: "peers", minimumCount: 0, maximumCount: 0, isOrdered: isOrdered)
    let model = try model(
      EntityDescription("Person", attributes: [.init("name", .string)], relationships: [peers]),
      EntityDescription("Boss", parent: "Person"))
    var mapping = try MappingModel.inferred(from: model, to: model)
    for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName == "Boss" {
      mapping.entityMappings[index].relationshipMappings = []
    }
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try MadeStore.make(model, at: url)
      try MadeStore.fill(model, at: url, rows: 8, seed: 3)
      func pairs(_ content: StoreContent) -> Set<StoreContent.Pair> {
        content.pairs("Person", "peers").union(content.pairs("Boss", "peers"))
      }
      let before = pairs(try StoreContent(of: model, at: url))
      let kept = before.filter { $0.owner.entity == "Person" || $0.member.entity == "Person" }
      #expect(kept.contains { $0.owner.entity == "Boss" } && kept.count < before.count)
      for goesByObject in [false, true] {
        let target = folder.appendingPathComponent("\(goesByObject).sqlite")
        try MigrationManager(sourceModel: model, destinationModel: model).migrateStore(
          from: url, to: target, mappingModel: mapping, policies: [], coreDataHashes: nil, goesByObject: goesByObject)
        try #expect(pairs(StoreContent(of: model, at: target)) == kept)
        var problems: [StoreProblem] = []
        try checkStore(
          at: target, registry: ModelRegistry(versions: [ModelVersion(name: "1", model: model)])
        ) { problems.append($0) }
        #expect(problems == [])
      }
    }
  }

  /// Two versions of persons with partners; bosses are persons, too.
  private func partnerVersions(
    _ old: RelationshipDescription, _ new: RelationshipDescription
  ) throws -> ModelRegistry {
    ModelRegistry(
      versions: try [("1", old), ("2", new)].map { name, partner in
        let person = EntityDescription("Person", attributes: [.init("name", .string)], relationships: [partner])
        return ModelVersion(name: name, model: try model(person, EntityDescription("Boss", parent: "Person")))
      })
  }

  /// Creates a store in which persons a and c and bosses b and d have the given partners, and closes it.
  private func makePartners(
    _ partners: KeyValuePairs<String, String>, _ relationship: String, of model: ManagedObjectModel, at url: URL
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    var people: [String: ManagedObject] = [:]
    for (name, entity) in [("a", "Person"), ("b", "Boss"), ("c", "Person"), ("d", "Boss")] {
      people[name] = try context.make(entity, ["name": name])
    }
    for (name, partner) in partners { try people[name]?.setValue(people[partner], forKey: relationship) }
    try context.save()
    try coordinator.remove(store)
  }

  private func partners(of model: ManagedObjectModel, at url: URL) throws -> [String: String] {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    var partners: [String: String] = [:]
    for person in try context.fetch(FetchRequest<ManagedObject>("Person")) {
      guard let name = person["name"] as? String, let partner = person["partner"] as? ManagedObject else { continue }
      partners[name] = partner["name"] as? String
    }
    #expect(!context.hasChanges)
    try coordinator.remove(store)
    return partners
  }

  @Test(
    "A to-one relationship that becomes its own inverse relates both objects, and is refused if the pairs conflict",
    arguments: [false, true])
  func becomesOwnInverse(copies: Bool) throws {
    let registry = try partnerVersions(
      .init("partner", to: "Person"), .init("partner", to: "Person", inverse: "partner"))
    let (first, second) = (registry.versions[0], registry.versions[1])
    let cases: [(KeyValuePairs<String, String>, [String: String]?)] = [
      (["a": "b"], ["a": "b", "b": "a"]),
      (["b": "a", "d": "b"], nil),
      (["a": "b", "b": "a", "c": "c"], ["a": "b", "b": "a", "c": "c"]),
      (["a": "c", "d": "b"], ["a": "c", "c": "a", "b": "d", "d": "b"]),
      (["a": "b", "c": "b"], nil), (["a": "b", "b": "d"], nil),
    ]
    for (given, expected) in cases {
      try withTemporaryStore { url in
        try makePartners(given, "partner", of: first.model, at: url)
        let error = persistError {
          _ = try AutomaticMigrator(alwaysCopies: copies).migrate(storeAt: url, to: second, registry: registry)
        }
        if let expected {
          #expect(error == nil, "\(given)")
          try #expect(partners(of: second.model, at: url) == expected)
        } else {
          #expect(error?.code == .mappingNotInferable, "\(given)")
          let unchanged = Dictionary(uniqueKeysWithValues: given.map { ($0.key, $0.value) })
          try #expect(partners(of: first.model, at: url) == unchanged)
        }
      }
    }
  }

  @Test(
    "One end of a one-to-one relationship that becomes its own inverse has the pairs of both",
    arguments: [false, true])
  func endBecomesOwnInverse(copies: Bool) throws {
    func version(_ name: String, _ relationships: [RelationshipDescription]) throws -> ModelVersion {
      let person = EntityDescription("Person", attributes: [.init("name", .string)], relationships: relationships)
      return ModelVersion(name: name, model: try model(person, EntityDescription("Boss", parent: "Person")))
    }
    let first = try version(
      "1",
      [.init("husband", to: "Person", inverse: "wife"), .init("wife", to: "Person", inverse: "husband")])
    let second = try version(
      "2", [.init("partner", to: "Person", inverse: "partner", renamingIdentifier: "husband")])
    try withTemporaryStore { url in
      try makePartners(["a": "b", "d": "c"], "husband", of: first.model, at: url)
      try AutomaticMigrator(alwaysCopies: copies)
        .migrate(storeAt: url, to: second, registry: ModelRegistry(versions: [first, second]))
      try #expect(partners(of: second.model, at: url) == ["a": "b", "b": "a", "c": "d", "d": "c"])
    }
  }

  @Test("A mapping model sets a relationship that becomes its own inverse in both directions, by SQL and by objects")
  func mappedToOwnInverse() throws {
    let registry = try partnerVersions(
      .init("partner", to: "Person"), .init("partner", to: "Person", inverse: "partner"))
    let (old, new) = (registry.versions[0].model, registry.versions[1].model)
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try makePartners(["a": "b", "d": "c"], "partner", of: old, at: url)
      for goesByObject in [false, true] {
        let target = folder.appendingPathComponent("\(goesByObject).sqlite")
        try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
          from: url, to: target, mappingModel: .inferred(from: old, to: new), policies: [], coreDataHashes: nil,
          goesByObject: goesByObject)
        try #expect(partners(of: new, at: target) == ["a": "b", "b": "a", "c": "d", "d": "c"])
      }
    }
  }
}
