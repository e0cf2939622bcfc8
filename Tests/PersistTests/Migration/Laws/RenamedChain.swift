import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Versions of a hierarchy whose attributes get new names, exchange them, reuse those of others and move to parents
/// and children. The values of each attribute of a version come from one attribute of the version before, or none.
struct RenamedChain {
  /// One attribute of a version.
  struct Attribute: Hashable {
    let name: String
    /// The name of the attribute in the version before, of the entities that have both; nil for a new attribute.
    let source: String?
    var identifier: String?
  }

  /// A version: the declared attributes by entity.
  typealias Declared = [String: [Attribute]]
  /// The values of each object by attribute, by its key.
  typealias Values = [Int: [String: String]]

  private var random: SeededRandom
  private var parents: [String: String?] = ["A": nil]
  private var fresh = 0
  private(set) var declared: [Declared] = []

  /// - Parameter keepsIdentifiers: Whether attributes that keep their name may keep an identifier of an earlier rename.
  init(_ seed: UInt64, versions: ClosedRange<Int>, keepsIdentifiers: Bool) {
    random = SeededRandom(seed: seed)
    for name in ["B", "C", "D"].prefix(number(1...3)) { parents[name] = entities.randomElement(using: &random) }
    declared = [first()]
    for _ in 1..<number(versions) { declared.append(next(after: declared[declared.count - 1], keepsIdentifiers)) }
  }

  var entities: [String] { parents.keys.sorted() }

  private func ancestors(_ entity: String) -> [String] {
    Array(sequence(first: entity) { parents[$0] ?? nil })
  }

  private func all(_ declared: Declared, _ entity: String) -> [Attribute] {
    ancestors(entity).flatMap { declared[$0] ?? [] }
  }

  private func heirs(_ entity: String) -> [String] { entities.filter { ancestors($0).contains(entity) } }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func freshName() -> String {
    fresh += 1
    return "n\(fresh)"
  }

  private static let pool = ["u", "v", "w", "x", "y", "z"]

  /// The first version: names from a small pool, each once on the way from an entity to its root.
  private mutating func first() -> Declared {
    var declared: Declared = [:]
    for entity in entities {
      for name in Self.pool.shuffled(using: &random).prefix(number(1...3)) {
        let isUsed = heirs(entity).contains { heir in all(declared, heir).contains { $0.name == name } }
        if !isUsed { declared[entity, default: []].append(Attribute(name: name, source: name, identifier: nil)) }
      }
    }
    return declared
  }

  /// A version whose attributes have values of any of the entity's former ones, each of them at most once, under any of
  /// the former names or a new one.
  private mutating func next(after old: Declared, _ keepsIdentifiers: Bool) -> Declared {
    var declared: Declared = [:]
    for entity in entities {
      for _ in 0..<number(1...4) {
        let heirs = heirs(entity)
        let former = all(old, entity)
        let names = Set(Self.pool + former.map(\.name)).sorted().filter { name in
          !heirs.contains { heir in all(declared, heir).contains { $0.name == name } }
        }
        let sources = former.map(\.name).filter { source in
          !heirs.contains { heir in all(declared, heir).contains { $0.source == source } }
        }
        guard let source = sources.randomElement(using: &random) else {
          declared[entity, default: []].append(Attribute(name: freshName(), source: nil, identifier: nil))
          continue
        }
        let reused = former.map(\.name).filter(names.contains)
        let name = number(0...3) == 0 ? freshName() : reused.randomElement(using: &random) ?? freshName()
        var identifier = name == source ? nil : source
        if identifier == nil, keepsIdentifiers, number(0...1) == 0 {
          identifier = former.first { $0.name == source }?.identifier
        }
        declared[entity, default: []].append(Attribute(name: name, source: source, identifier: identifier))
      }
    }
    return declared
  }

  func versions() throws -> [ModelVersion] {
    try declared.enumerated().map { number, declared in
      let entities = entities.map { entity in
        EntityDescription(
          entity, parent: parents[entity] ?? nil,
          attributes: (entity == "A" ? [AttributeDescription("key", .int64)] : [])
            + (declared[entity] ?? []).map {
              AttributeDescription($0.name, .string, renamingIdentifier: $0.identifier)
            })
      }
      return ModelVersion(
        name: "\(number + 1)", model: try ManagedObjectModel(ModelDescription(entities: entities)))
    }
  }

  /// Creates a store of the first version with two objects of each entity, with values that say where they come from.
  func fill(_ version: ModelVersion, at url: URL) throws -> Values {
    var values: Values = [:]
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for (index, entity) in entities.enumerated() {
      for row in 0..<2 {
        let object = try context.make(entity, ["key": index * 10 + row])
        values[index * 10 + row] = [:]
        for attribute in all(declared[0], entity) {
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

  /// The values of a version, made of those of the version before.
  func follow(_ values: Values, to version: Int) -> Values {
    var next: Values = [:]
    for (key, before) in values {
      next[key] = [:]
      for attribute in all(declared[version], entities[key / 10]) {
        if let source = attribute.source, let value = before[source] { next[key]?[attribute.name] = value }
      }
    }
    return next
  }

  func read(_ version: ModelVersion, at url: URL) throws -> Values {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    var values: Values = [:]
    for object in try context.fetch(FetchRequest<ManagedObject>("A")) {
      guard let key = object["key"] as? Int else { continue }
      values[key] = [:]
      for attribute in object.entity.attributes where attribute.name != "key" {
        if let value = object[attribute.name] as? String { values[key]?[attribute.name] = value }
      }
    }
    try coordinator.remove(store)
    return values
  }
}

extension RenamedChain: CustomStringConvertible {
  var description: String {
    let versions = declared.map { declared in
      entities.map { entity in
        let attributes = (declared[entity] ?? []).map { attribute in
          attribute.name + (attribute.identifier.map { " (was \($0))" } ?? "")
        }
        return "\(entity): \((parents[entity] ?? nil) ?? "") {\(attributes.joined(separator: ", "))}"
      }.joined(separator: " ")
    }
    return versions.joined(separator: "\n")
  }
}
