import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistModel

/// Models that change at random from version to version; equal seeds yield equal models.
///
/// Every element keeps its identity in its user info, whatever its name, so that a test can determine origins without
/// using the comparison of models.
struct RandomModels {
  /// The key of user info that contains the identity.
  static let identity = "identity"

  var numbers: SeededRandom
  var entities: [EntityDescription] = []
  var places = [AttributeDescription("city", .string), AttributeDescription("floor", .int16)]
  private var otherComposites: [CompositeDescription] = []
  private var counter = 0
  /// The names in the previous version, by identity. Entities that leave a hierarchy take copies of properties along,
  /// which have one identity and may be renamed separately.
  private var oldNames: [String: Set<String>] = [:]
  /// The renaming identifiers of the previous version; they may name other elements there.
  private var oldIdentifiers: Set<String> = []
  /// Names that new attributes reused from renamed ones in this version; a second renaming from them would be
  /// ambiguous.
  var reused: Set<String> = []
  /// Removed elements that may return.
  var absent: [Absent] = []

  init(seed: UInt64) {
    numbers = SeededRandom(seed: seed)
    for _ in 0..<pick(3...6) { attempt { $0.addEntity() } }
    for _ in 0..<pick(2...6) { attempt { $0.addRelationship() } }
    for _ in 0..<pick(0...3) { attempt { $0.addIndex() } }
  }

  /// Versions that begin with an existing model.
  init(seed: UInt64, from model: ManagedObjectModel) {
    numbers = SeededRandom(seed: seed)
    otherComposites = model.description.composites
    entities = model.description.entities
    for index in entities.indices {
      entities[index].userInfo.merge(newIdentity()) { _, new in new }
      for position in entities[index].attributes.indices {
        entities[index].attributes[position].userInfo.merge(newIdentity()) { _, new in new }
      }
      for position in entities[index].relationships.indices {
        entities[index].relationships[position].userInfo.merge(newIdentity()) { _, new in new }
      }
    }
  }

  /// Versions of a model that changes at random; nil if renaming identifiers of several contradict each other.
  func chain(of count: Int) throws -> ModelRegistry? {
    var models = self
    var versions: [ModelVersion] = []
    for number in 1...count {
      versions.append(ModelVersion(name: "\(number)", model: try models.model()))
      models.change()
    }
    let registry = ModelRegistry(versions: versions)
    do {
      _ = try MigrationHop(from: versions[0], to: versions[count - 1], registry: registry)
      return registry
    } catch let error as PersistenceError where error.code == .mappingAmbiguous {
      return nil
    }
  }

  func model() throws -> ManagedObjectModel {
    let composites = [CompositeDescription("Place", elements: places)] + otherComposites
    let model = try ManagedObjectModel(ModelDescription(entities: entities, composites: composites))
    try model.checkDerivations()
    return model
  }

  /// Makes the next version: a few changes, each known to later versions by its renaming identifier.
  mutating func change() {
    beginVersion()
    for _ in 0..<pick(1...5) {
      let group = pick(0...9)
      attempt { models in
        switch group {
        case 0...3: models.changeAttributes()
        case 4...6: models.changeRelationships()
        case 7...8: models.changeEntities()
        default: models.changeIndexes()
        }
      }
    }
  }

  /// Changes the model if it remains valid.
  mutating func attempt(_ edit: (inout RandomModels) -> Void) {
    let (entities, places, reused) = (entities, places, reused)
    edit(&self)
    if (try? model()) == nil || !keepsReusedNamesTogether {
      (self.entities, self.places, self.reused) = (entities, places, reused)
    }
  }

  /// Whether every attribute whose name another one reuses is still in the same entity with it. An attribute of another
  /// entity doesn't get the values of one that remains.
  private var keepsReusedNamesTogether: Bool {
    reused.allSatisfy { name in
      entities.allSatisfy { entity in
        !entity.attributes.contains { $0.renamingIdentifier == name } || entity.attributes.contains { $0.name == name }
      }
    }
  }

  /// Keeps or removes identifiers of earlier versions, as people do.
  private mutating func beginVersion() {
    let keeps = chance(2)
    oldNames = [:]
    reused = []
    oldIdentifiers = identifiers
    let renamed = Set(
      entities.filter { $0.renamingIdentifier != nil }.map(\.name)
        + entities.flatMap { entity in
          entity.attributes.filter { $0.renamingIdentifier != nil }.map(\.name)
            + entity.relationships.filter { $0.renamingIdentifier != nil }.map(\.name)
        })
    func kept(_ identifier: String?, _ names: [String]) -> String? {
      // Without its identifier, an element that exchanged its name with another would exchange it back.
      if let identifier, renamed.contains(identifier) { return identifier }
      guard keeps, let identifier, !names.contains(identifier) else { return nil }
      return identifier
    }
    let names = entities.map(\.name)
    for index in entities.indices {
      remember(entities[index].userInfo, entities[index].name)
      entities[index].renamingIdentifier = kept(entities[index].renamingIdentifier, names)
      // An inherited name counts too, and inherited properties can change.
      let taken = entities.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
      for position in entities[index].attributes.indices {
        let attribute = entities[index].attributes[position]
        remember(attribute.userInfo, attribute.name)
        entities[index].attributes[position].renamingIdentifier = kept(attribute.renamingIdentifier, taken)
      }
      for position in entities[index].relationships.indices {
        let relationship = entities[index].relationships[position]
        remember(relationship.userInfo, relationship.name)
        entities[index].relationships[position].renamingIdentifier = kept(relationship.renamingIdentifier, taken)
      }
    }
  }

  private var identifiers: Set<String> {
    Set(
      entities.flatMap { entity in
        [entity.renamingIdentifier] + entity.attributes.map(\.renamingIdentifier)
          + entity.relationships.map(\.renamingIdentifier)
      }.compactMap { $0 })
  }

  private mutating func remember(_ userInfo: [String: String], _ name: String) {
    if let identity = userInfo[Self.identity] { oldNames[identity, default: []].insert(name) }
  }

  /// Whether an element can be renamed unambiguously: it must have one name in the previous version, which isn't a
  /// former name of another element there.
  func canRename(_ userInfo: [String: String], had identifier: String?) -> Bool {
    if identifier != nil { return true }
    guard let names = userInfo[Self.identity].flatMap({ oldNames[$0] }) else { return true }
    return names.count == 1 && oldIdentifiers.isDisjoint(with: names)
  }

  /// Whether an element that is added may have a name: one by which no other is or was known, and to which it might
  /// therefore return, or from which it comes.
  func canAdd(_ name: String) -> Bool { !oldIdentifiers.contains(name) && !identifiers.contains(name) }

  /// The renaming identifier of a renamed element: its current one, or its name in the previous version; nil for a new
  /// element.
  func identifier(_ userInfo: [String: String], had: String?) -> String? {
    had ?? userInfo[Self.identity].flatMap { oldNames[$0]?.min() }
  }

  // MARK: Choosing

  mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }

  /// True once in `n` times on average.
  mutating func chance(_ times: Int) -> Bool { pick(1...times) == 1 }

  mutating func one<T>(of choices: [T]) -> T? { choices.randomElement(using: &numbers) }

  mutating func anyEntity(where fits: (EntityDescription) -> Bool = { _ in true }) -> Int? {
    one(of: entities.indices.filter { fits(entities[$0]) })
  }

  mutating func name(_ prefix: String) -> String {
    counter += 1
    // A random letter before the name, so that new elements sort between old ones.
    let letter = one(of: ["A", "G", "M", "S", "Z"]) ?? "A"
    return prefix == "e" ? "\(letter)\(prefix)\(counter)" : "\(letter.lowercased())\(prefix)\(counter)"
  }

  mutating func newIdentity() -> [String: String] {
    counter += 1
    return [Self.identity: String(counter)]
  }

  // MARK: Hierarchies

  func index(of name: String?) -> Int? { name.flatMap { name in entities.firstIndex { $0.name == name } } }

  /// The entity and its ancestors.
  func lineage(of index: Int) -> [Int] {
    var line = [index]
    while let parent = self.index(of: entities[line[line.count - 1]].parent) { line.append(parent) }
    return line
  }

  /// The entity and its descendants.
  func hierarchy(of index: Int) -> [Int] { entities.indices.filter { lineage(of: $0).contains(index) } }

  /// Replaces a name wherever a property of an entity is named: in constraints, indexes and derivations.
  mutating func renameUses(of old: String, to new: String, in index: Int) {
    for user in hierarchy(of: index) {
      entities[user].uniquenessConstraints = entities[user].uniquenessConstraints.map { constraint in
        constraint.map { $0 == old ? new : $0 }
      }
      for number in entities[user].indexes.indices {
        for place in entities[user].indexes[number].elements.indices
        where entities[user].indexes[number].elements[place].subject == .property(old) {
          entities[user].indexes[number].elements[place].subject = .property(new)
        }
      }
    }
    for user in entities.indices {
      for place in entities[user].attributes.indices {
        guard let derivation = entities[user].attributes[place].derivation else { continue }
        let parts = derivation.split(separator: ".", omittingEmptySubsequences: false)
          .map { $0 == old ? new : String($0) }
        entities[user].attributes[place].derivation = parts.joined(separator: ".")
          .replacingOccurrences(of: "(\(old))", with: "(\(new))")
      }
    }
  }

  mutating func forgetUses(of name: String, in index: Int) {
    for user in hierarchy(of: index) {
      entities[user].uniquenessConstraints.removeAll { $0.contains(name) }
      entities[user].indexes.removeAll { index in index.elements.contains { $0.subject == .property(name) } }
    }
  }
}
