import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: the entries of a history name the same objects and properties before and after a migration, under their new
/// names. Those of entities that are removed, or whose objects get other keys, are gone.
@Suite("History: names across migrations")
struct HistoryMigrationLawTests {
  enum Way: String, CaseIterable {
    case inPlace, copy, stage, policies
  }

  final class Passing: EntityMigrationPolicy {}

  @Test(
    "Entries name the same objects and properties after renames, and after entities come and go",
    .law("history-migration-names", short: 6, long: 400), arguments: Way.allCases)
  func names(way: Way) {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed &* 4 &+ UInt64(Way.allCases.firstIndex(of: way) ?? 0))
      let change = RandomChange(&random)
      let content: HistoryContent = seed.isMultiple(of: 2) ? .oldValues : .changes
      try withTemporaryStore { url in
        let versions = (try change.version(0), try change.version(1))
        let before = try write(versions.0, at: url, content, &random)
        try migrate(url, versions.0, versions.1, way)
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: nil) { problems.append($0) }
        #expect(problems.isEmpty, "seed \(seed): \(problems)")
        let after = try read(versions.1, at: url)
        let (names, place) = (change.names, "seed \(seed), \(way): \(change)")
        for (former, present) in zip(before, after) {
          let expected = way == .policies ? [] : former.compactMap { Entry($0, names) }
          #expect(Set(present.compactMap { Entry($0, nil) }) == Set(expected), "\(place)")
          // Properties without a place are left out.
          for change in present where change.updatedProperties != nil {
            let own = former.first { $0.changeID == change.changeID }
            let known = names.properties[own?.changedObjectID.entityName ?? ""] ?? [:]
            let expected = own?.updatedProperties.map { Set($0.compactMap { known[$0] }) }
            #expect(change.updatedProperties == expected, "\(place)")
          }
        }
        #expect(after.count >= before.count)
        #expect(Array(after.dropFirst(before.count).joined()).isEmpty)
      }
    }
  }

  /// Writes random objects, and changes and deletes some.
  private func write(
    _ version: ModelVersion, at url: URL, _ content: HistoryContent, _ random: inout SeededRandom
  ) throws -> [[HistoryChange]] {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    try coordinator.addStore(at: url, options: StoreOptions(historyKeeps: content))
    let context = ManagedObjectContext(coordinator)
    var objects: [ManagedObject] = []
    for step in 0..<12 {
      for entity in version.model.entities where Bool.random(using: &random) || step == 0 {
        objects.append(ManagedObject(entity: entity.name, context: context))
      }
      for object in objects where Int.random(in: 0..<3, using: &random) == 0 {
        for property in object.entity.properties where Bool.random(using: &random) {
          if property.attribute != nil {
            object[property.name] = "\(object.entity.name) \(property.name) \(step)"
          } else if let relationship = property.relationship, !relationship.isToMany {
            let target = version.model.destination(of: relationship)
            object[property.name] = objects.filter { $0.entity.isKind(of: target) }.randomElement(using: &random)
          }
        }
      }
      if step > 2, let index = objects.indices.randomElement(using: &random) {
        context.delete(objects.remove(at: index))
      }
      try context.save()
    }
    return try close(coordinator)
  }

  private func read(_ version: ModelVersion, at url: URL) throws -> [[HistoryChange]] {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    try coordinator.addStore(at: url)
    return try close(coordinator)
  }

  /// The changes by transaction; closes the store.
  private func close(_ coordinator: PersistentStoreCoordinator) throws -> [[HistoryChange]] {
    let changes = try coordinator.transactions().map { $0.changes ?? [] }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return changes
  }

  private func migrate(_ url: URL, _ old: ModelVersion, _ new: ModelVersion, _ way: Way) throws {
    var migrator = AutomaticMigrator(alwaysCopies: way == .copy)
    switch way {
    case .inPlace, .copy: break
    case .stage: migrator.staged = try StagedMigration([.custom(from: old, to: new, didMigrate: { _ in })])
    case .policies:
      var mapping = try MappingModel.inferred(from: old.model, to: new.model)
      for index in mapping.entityMappings.indices {
        let entity = mapping.entityMappings[index]
        guard entity.sourceEntityName != nil, entity.destinationEntityName != nil else { continue }
        mapping.entityMappings[index].policyName = "Passing"
      }
      migrator.mappingModels = [mapping]
      migrator.policies = [Passing.self]
    }
    try migrator.migrate(storeAt: url, to: new, registry: ModelRegistry(versions: [old, new]))
  }
}

/// A change with the names of one of the models.
private struct Entry: Hashable, CustomStringConvertible {
  let description: String

  /// - Parameter names: The names to use instead; nil for the present ones.
  /// - Returns: Nil for an object that has no name.
  init?(_ change: HistoryChange, _ names: RandomChange.Names?) {
    let former = change.changedObjectID.entityName
    guard let entity = names.map({ $0.entities[former] }) ?? former else { return nil }
    func object(_ id: ManagedObjectID) -> String {
      "\(names.map { $0.entities[id.entityName] ?? "nothing" } ?? id.entityName) \(id.primaryKey ?? 0)"
    }
    func list(_ values: [String: String]?) -> String {
      let own = (values ?? [:]).compactMap { name, value -> String? in
        (names.map { $0.properties[former]?[name] } ?? name).map { "\($0)=\(value)" }
      }
      return own.sorted().joined(separator: ", ")
    }
    func word(_ value: StoredValue) -> String { if case .objectID(let id) = value { object(id) } else { "\(value)" } }
    let members = change.memberChanges?.mapValues { change in
      "+\(change.added.map(object).sorted()) -\(change.removed.map(object).sorted())"
    }
    description = """
      \(change.changeType) \(entity) \(change.changedObjectID.primaryKey ?? 0) \
      kept: \(list(change.tombstone?.mapValues(word))) \
      old: \(list(change.oldValues?.mapValues(word))) members: \(list(members))
      """
  }
}

/// Two models: entities and properties of the second have other names, or are gone, or are new.
private struct RandomChange: CustomStringConvertible {
  /// New names by old ones, for what remains.
  struct Names {
    var entities: [String: String] = [:]
    /// By the old names of entities.
    var properties: [String: [String: String]] = [:]
  }

  private struct Part {
    /// The names in the two models; nil for none.
    var names: [String?]
    var attributes: [[String?]]
    /// The index of the parent.
    var parent: Int?
    /// The index of the destination of a to-one relationship, and the names.
    var target: Int?
    var relationship: [String?] = ["next", "next"]
    var inverse: [String?] = ["all", "all"]
  }

  private var parts: [Part] = []

  init(_ random: inout SeededRandom) {
    // Names in another order than the entities, so that numbers change.
    var free = ["Album", "Bell", "Cup", "Door", "Elm", "Fish", "Gate", "Hat", "Ink", "Jar", "Key", "Lamp"]
      .shuffled(using: &random)
    let old = (0..<Int.random(in: 3...5, using: &random)).map { _ in free.removeLast() }
    // Some entities exchange their names.
    var later = Int.random(in: 0..<3, using: &random) == 0 ? old.shuffled(using: &random) : old
    for index in later.indices where Int.random(in: 0..<3, using: &random) == 0 { later[index] = free.removeLast() }
    for index in old.indices {
      let isGone = index > 0 && Int.random(in: 0..<4, using: &random) == 0
      var part = Part(names: [old[index], isGone ? nil : later[index]], attributes: [["name", "name"]])
      switch Int.random(in: 0..<4, using: &random) {
      case 0: part.attributes = [["name", "title"], ["size", "size"]]
      case 1: part.attributes = [["name", "size"], ["size", "name"]]
      case 2: part.attributes = [["name", "name"], ["size", nil], [nil, "weight"]]
      default: break
      }
      if index > 0, Int.random(in: 0..<3, using: &random) == 0, parts[0].names[1] != nil {
        part.parent = 0
        part.names[1] = later[index]
        // A subentity has its own names.
        part.attributes = [["own", Bool.random(using: &random) ? "own" : "proper"]]
      }
      if Bool.random(using: &random) {
        part.target = Int.random(in: old.indices, using: &random)
        if Bool.random(using: &random) { part.relationship[1] = "following" }
        if Bool.random(using: &random) { part.inverse[1] = "every" }
        for side in 0..<2 { part.relationship[side]? += "\(index)" }
        for side in 0..<2 { part.inverse[side]? += "\(index)" }
      }
      parts.append(part)
    }
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      parts.append(Part(names: [nil, free.removeLast()], attributes: [[nil, "name"]]))
    }
  }

  private func isPresent(_ index: Int, _ side: Int) -> Bool { parts[index].names[side] != nil }

  func version(_ side: Int) throws -> ModelVersion {
    var entities: [EntityDescription] = []
    for part in parts {
      guard let name = part.names[side] else { continue }
      var entity = EntityDescription(
        name, parent: part.parent.flatMap { parts[$0].names[side] },
        renamingIdentifier: side == 1 ? part.names[0] : nil)
      entity.attributes = part.attributes.compactMap { names in
        names[side].map {
          AttributeDescription(
            $0, .string, renamingIdentifier: side == 1 ? names[0] : nil, preservesValueOnDeletion: true)
        }
      }
      if let target = part.target, let destination = parts[target].names[side], let own = part.relationship[side] {
        entity.relationships.append(
          .init(
            own, to: destination, inverse: part.inverse[side],
            renamingIdentifier: side == 1 ? part.relationship[0] : nil))
      }
      entities.append(entity)
    }
    for part in parts {
      guard let name = part.names[side], let target = part.target, let destination = parts[target].names[side],
        let inverse = part.inverse[side], let index = entities.firstIndex(where: { $0.name == destination })
      else { continue }
      entities[index].relationships.append(
        .init(
          inverse, toMany: name, inverse: part.relationship[side],
          renamingIdentifier: side == 1 ? part.inverse[0] : nil))
    }
    let description = ModelDescription(entities: entities, versionIdentifiers: ["\(side + 1)"])
    return ModelVersion(name: "\(side + 1)", model: try ManagedObjectModel(description))
  }

  var names: Names {
    var names = Names()
    for part in parts {
      guard let old = part.names[0], let new = part.names[1] else { continue }
      names.entities[old] = new
    }
    for (index, part) in parts.enumerated() {
      guard let old = part.names[0], part.names[1] != nil else { continue }
      for declaring in [index] + (part.parent.map { [$0] } ?? []) {
        for attribute in parts[declaring].attributes {
          if let own = attribute[0], let later = attribute[1] { names.properties[old, default: [:]][own] = later }
        }
        if let target = parts[declaring].target, isPresent(target, 1) {
          names.properties[old, default: [:]][parts[declaring].relationship[0] ?? ""] = parts[declaring].relationship[1]
        }
        for other in parts where other.target == declaring && other.names[1] != nil {
          names.properties[old, default: [:]][other.inverse[0] ?? ""] = other.inverse[1]
        }
      }
    }
    return names
  }

  var description: String {
    parts.map { part in
      "\(part.names) \(part.attributes) parent \(part.parent.map(String.init) ?? "none") "
        + "target \(part.target.map(String.init) ?? "none") \(part.relationship) \(part.inverse)"
    }.joined(separator: "; ")
  }
}
