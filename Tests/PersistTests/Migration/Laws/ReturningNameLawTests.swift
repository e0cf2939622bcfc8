import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// A hierarchy of three entities whose attributes get other names, often each other's, and move to subentities. Every
/// attribute of the second version has a renaming identifier unless it keeps its name.
private struct RenamedHierarchy {
  static let entities = ["Parent", "Child", "Grandchild"]
  private static let names = ["a", "b", "c", "d", "e", "f"]

  /// The names of the attributes that each entity declares in the first version.
  private(set) var old: [[String]]
  /// The attributes of the second version, with their names in the first one.
  private(set) var new: [[(name: String, source: String)]] = [[], [], []]

  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    old = [["a", "b"], ["c", "d"], ["e", "f"]]
    if Bool.random(using: &random) { old[1].append(old[2].removeLast()) }
    var free = (Self.names + ["g", "h"]).shuffled(using: &random)
    for source in Self.names where Int.random(in: 0..<8, using: &random) > 0 {
      let level = levelOfOld(source)
      let target = Int.random(in: 0..<4, using: &random) > 0 ? level : Int.random(in: level...2, using: &random)
      let keepsName = Int.random(in: 0..<3, using: &random) == 0 && free.contains(source)
      guard let name = keepsName ? source : free.randomElement(using: &random) else { continue }
      free.removeAll { $0 == name }
      new[target].append((name, source))
    }
  }

  func levelOfOld(_ name: String) -> Int { old.firstIndex { $0.contains(name) } ?? 0 }

  func levelOfNew(_ name: String) -> Int? { new.firstIndex { $0.contains { $0.name == name } } }

  /// The name in the second version, for the objects of an entity.
  func newName(of source: String, at level: Int) -> String? {
    new[...level].joined().first { $0.source == source }?.name
  }

  func versions() throws -> (ModelVersion, ModelVersion) {
    func version(_ name: String, _ attributes: [[(name: String, source: String?)]]) throws -> ModelVersion {
      let entities = zip(Self.entities, attributes).enumerated().map { level, entity in
        EntityDescription(
          entity.0, parent: level > 0 ? Self.entities[level - 1] : nil,
          attributes: entity.1.map { attribute in
            // Otherwise, exchanged names make no difference between the models.
            AttributeDescription(
              attribute.name, .string, renamingIdentifier: attribute.source, versionHashModifier: name)
          })
      }
      return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
    }
    return (
      try version("1", old.map { $0.map { ($0, nil) } }),
      try version("2", new.map { $0.map { ($0.name, $0.name == $0.source ? nil : $0.source) } })
    )
  }
}

@Suite("Names that change their owners and meanings within a hierarchy, and return")
struct ReturningNameLawTests {
  @Test(
    "Each attribute comes from what its renaming identifier names, and goes back there",
    .law("returning-names", short: 500, long: 50_000))
  func correspondences() throws {
    forEachSeed { seed in
      let hierarchy = RenamedHierarchy(seed: seed)
      let (first, second) = try hierarchy.versions()
      let there = try ModelCorrespondence(from: first.model, to: second.model)
      let back = try ModelCorrespondence(from: second.model, to: first.model)
      for (level, entity) in RenamedHierarchy.entities.enumerated() {
        for attribute in hierarchy.new[...level].joined() {
          let found = there.origin(of: attribute.name, in: entity)?.source
          #expect(found == attribute.source, "seed \(seed): \(entity).\(attribute) from \(found ?? "nothing")")
        }
        for source in hierarchy.old[...level].joined() {
          let found = back.origin(of: source, in: entity)?.source
          let name = hierarchy.newName(of: source, at: level)
          #expect(found == name, "seed \(seed): \(entity).\(source) back from \(found ?? "nothing")")
        }
      }
    }
  }

  @Test(
    "Values follow, and all of them return: none is replaced by a parked one of another attribute",
    .law("returning-names-of-values", short: 12, long: 1000), arguments: [false, true])
  func values(copies: Bool) throws {
    forEachSeed { seed in
      let hierarchy = RenamedHierarchy(seed: seed)
      let (first, second) = try hierarchy.versions()
      let registry = ModelRegistry(versions: [first, second])
      try withTemporaryStore { url in
        func value(_ name: String, _ object: Int) -> String { "\(name)\(object)" }
        func withObjects(_ model: ManagedObjectModel, _ body: (ManagedObject, Int) throws -> Void) throws {
          let coordinator = PersistentStoreCoordinator(model: model)
          let store = try coordinator.addStore(at: url)
          let context = ManagedObjectContext(coordinator)
          for (level, entity) in RenamedHierarchy.entities.enumerated() {
            var request = FetchRequest<ManagedObject>(entity)
            request.includesSubentities = false
            for object in try context.fetch(request) { try body(object, level) }
          }
          try coordinator.remove(store)
        }
        let coordinator = PersistentStoreCoordinator(model: first.model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for (level, entity) in RenamedHierarchy.entities.enumerated() {
          let object = try context.create(entity)
          for name in hierarchy.old[...level].joined() { object[name] = value(name, level) }
        }
        try context.save()
        try coordinator.remove(store)
        let migrator = AutomaticMigrator(alwaysCopies: copies)
        try migrator.migrate(storeAt: url, to: second, registry: registry)
        try withObjects(second.model) { object, level in
          for attribute in hierarchy.new[...level].joined() {
            #expect(object[attribute.name] as? String == value(attribute.source, level), "seed \(seed): \(attribute)")
          }
        }
        do {
          try migrator.migrate(storeAt: url, to: first, registry: registry)
        } catch let error as PersistenceError where error.code == .newerStore {
          return
        }
        try withObjects(first.model) { object, level in
          for name in hierarchy.old[...level].joined() {
            #expect(object[name] as? String == value(name, level), "seed \(seed): \(name) at \(level)")
          }
        }
      }
    }
  }
}
