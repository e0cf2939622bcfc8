import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// The law: within a hierarchy, a renaming identifier decides where the values of an attribute come from, whatever the
/// names of the parents and the children mean now.
@Suite("Law of renames within a hierarchy")
struct HierarchyRenameLawTests {
  @Test(
    "Every attribute has the values of the one that its renaming identifier or its name refers to",
    .law("hierarchy-renames", short: 40, long: 3000))
  func law() throws {
    forEachSeed { seed in
      var run = RenameRun(SeededRandom(seed: seed))
      try run.run(seed)
    }
  }
}

/// One attribute of a version.
private struct Renamed: Hashable {
  let name: String
  /// The name of the attribute in the version before, of the entities that have both; nil for a new attribute.
  let source: String?
  var identifier: String?
}

/// A version: the declared attributes by entity.
private typealias Declared = [String: [Renamed]]

private struct RenameRun {
  private var random: SeededRandom
  private var parents: [String: String?] = ["A": nil]
  private var next = 0

  init(_ random: SeededRandom) { self.random = random }

  private var entities: [String] { parents.keys.sorted() }

  private func ancestors(_ entity: String) -> [String] {
    Array(sequence(first: entity) { parents[$0] ?? nil })
  }

  private func all(_ declared: Declared, _ entity: String) -> [Renamed] {
    ancestors(entity).flatMap { declared[$0] ?? [] }
  }

  private func heirs(_ entity: String) -> [String] { entities.filter { ancestors($0).contains(entity) } }

  private mutating func fresh() -> String {
    next += 1
    return "n\(next)"
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// The first version: names from a small pool, each once on the way from an entity to its root.
  private mutating func first() -> Declared {
    var declared: Declared = [:]
    for entity in entities {
      for name in ["u", "v", "w", "x", "y", "z"].shuffled(using: &random).prefix(number(1...3)) {
        let isTaken = heirs(entity).contains { heir in all(declared, heir).contains { $0.name == name } }
        if !isTaken { declared[entity, default: []].append(Renamed(name: name, source: name, identifier: nil)) }
      }
    }
    return declared
  }

  /// A version whose attributes have values of any of the entity's former ones, each of them at most once, under any of
  /// the former names or a new one.
  private mutating func second(after old: Declared) -> Declared {
    var declared: Declared = [:]
    for entity in entities {
      for _ in 0..<number(1...4) {
        let heirs = heirs(entity)
        let names = ["u", "v", "w", "x", "y", "z"].filter { name in
          !heirs.contains { heir in all(declared, heir).contains { $0.name == name } }
        }
        let sources = all(old, entity).map(\.name).filter { source in
          !heirs.contains { heir in all(declared, heir).contains { $0.source == source } }
        }
        guard let source = sources.randomElement(using: &random) else {
          declared[entity, default: []].append(Renamed(name: fresh(), source: nil, identifier: nil))
          continue
        }
        let former = all(old, entity).map(\.name).filter(names.contains)
        let name = number(0...3) == 0 ? fresh() : former.randomElement(using: &random) ?? fresh()
        declared[entity, default: []].append(
          Renamed(name: name, source: source, identifier: name == source ? nil : source))
      }
    }
    return declared
  }

  private func version(_ number: Int, _ declared: Declared) throws -> ModelVersion {
    let entities = entities.map { entity in
      EntityDescription(
        entity, parent: parents[entity] ?? nil,
        attributes: (entity == "A" ? [AttributeDescription("key", .int64)] : [])
          + (declared[entity] ?? []).map {
            AttributeDescription($0.name, .string, renamingIdentifier: $0.identifier)
          })
    }
    return ModelVersion(name: "\(number)", model: try ManagedObjectModel(ModelDescription(entities: entities)))
  }

  mutating func run(_ seed: UInt64) throws {
    for name in ["B", "C", "D"].prefix(number(1...3)) { parents[name] = entities.randomElement(using: &random) }
    let first = first(), second = second(after: first)
    let versions = try [first, second].enumerated().map { try version($0 + 1, $1) }
    let registry = ModelRegistry(versions: versions)
    let text = "\(parents.mapValues { $0 ?? "" }) \(first) \(second)"
    for copies in [false, true] {
      let migrator = AutomaticMigrator(alwaysCopies: copies)
      try withTemporaryStore { url in
        let values = try fill(versions[0].model, first, at: url)
        try migrator.migrate(storeAt: url, to: versions[1], registry: registry)
        let after = follow(values, second)
        try #expect(read(versions[1].model, second, at: url) == after, "\(copies ? "copied" : "in place"): \(text)")
      }
    }
  }

  /// The values of each object by attribute, by its key.
  private typealias Values = [Int: [String: String]]

  private mutating func fill(_ model: ManagedObjectModel, _ declared: Declared, at url: URL) throws -> Values {
    var values: Values = [:]
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for (index, entity) in entities.enumerated() {
      for row in 0..<2 {
        let object = try context.make(entity, ["key": index * 10 + row])
        values[index * 10 + row] = [:]
        for attribute in all(declared, entity) {
          let value = "\(entity)\(row).\(attribute.name)"
          object[attribute.name] = value
          values[index * 10 + row]?[attribute.name] = value
        }
      }
    }
    try context.save()
    try coordinator.remove(store)
    return values
  }

  /// The values of the next version.
  private func follow(_ values: Values, _ declared: Declared) -> Values {
    var next: Values = [:]
    for (key, before) in values {
      next[key] = [:]
      for attribute in all(declared, entities[key / 10]) {
        if let source = attribute.source, let value = before[source] { next[key]?[attribute.name] = value }
      }
    }
    return next
  }

  private func read(_ model: ManagedObjectModel, _ declared: Declared, at url: URL) throws -> Values {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    var values: Values = [:]
    for object in try context.fetch(FetchRequest<ManagedObject>("A")) {
      guard let key = object["key"] as? Int else { continue }
      values[key] = [:]
      for attribute in all(declared, object.entity.name) {
        if let value = object[attribute.name] as? String { values[key]?[attribute.name] = value }
      }
    }
    try coordinator.remove(store)
    return values
  }
}
