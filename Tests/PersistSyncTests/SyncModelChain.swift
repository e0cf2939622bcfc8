import Foundation
import Persist
import PersistTestSupport

/// Random versions of ``SyncModel``, each made from the one before by renames, moves, removals, additions, other types,
/// and parts that come back.
struct SyncModelChain {
  /// The names that one version has for the parts of ``SyncModel``.
  struct Names {
    /// The names of entities by their first names; those that the version doesn't have are missing.
    var entities: [String: String] = [:]
    /// The names of properties by the first names of their root entities and their own.
    var properties: [String: [String: String]] = [:]
    /// The first names of the entities that declare properties, by the first names of their root entities and of the
    /// properties.
    var owners: [String: [String: String]] = [:]

    /// The first name of an entity.
    func entity(named name: String) -> String? { entities.first { $0.value == name }?.key }

    /// The name of a property.
    ///
    /// - Parameter entity: The first name of the object's entity.
    func property(_ name: String, of entity: String) -> String? {
      properties[SyncModelChain.root(of: entity)]?[name]
    }

    /// The first name of a property.
    func property(named name: String, of entity: String) -> String? {
      properties[SyncModelChain.root(of: entity)]?.first { $0.value == name }?.key
    }
  }

  private struct Part {
    var name: String
    var former: String?
    var isThere = true
  }

  private struct Trait {
    /// The first name of the entity that declares it.
    var entity: String
    let root: String
    let first: String
    var name: String
    var former: String?
    /// Whether this version has it in another entity than the one before.
    var isMoved = false
    var isThere = true
    var attribute: AttributeDescription?
    var relationship: RelationshipDescription?
  }

  private(set) var versions: [ManagedObjectModel] = []
  private(set) var names: [Names] = []
  private var parts: [String: Part] = [:]
  private var traits: [Trait] = []
  private let base = SyncModel.description

  /// - Parameter count: The number of versions.
  init(_ random: inout SeededRandom, count: Int) throws {
    for entity in base.entities {
      parts[entity.name] = Part(name: entity.name)
      let root = Self.root(of: entity.name)
      for attribute in entity.attributes {
        traits.append(
          Trait(entity: entity.name, root: root, first: attribute.name, name: attribute.name, attribute: attribute))
      }
      for relationship in entity.relationships {
        traits.append(
          Trait(
            entity: entity.name, root: root, first: relationship.name, name: relationship.name,
            relationship: relationship))
      }
    }
    for version in 0..<count {
      if version > 0 { change(version, &random) }
      try add(version)
    }
  }

  /// The first name of an entity's root.
  static func root(of entity: String) -> String { ["Part": "Item", "Star": "Sticker"][entity] ?? entity }

  // MARK: Changes

  private mutating func change(_ version: Int, _ random: inout SeededRandom) {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    for name in parts.keys { parts[name]?.former = nil }
    for index in traits.indices { (traits[index].former, traits[index].isMoved) = (nil, false) }
    for _ in 0...number(5) {
      let index = number(traits.count)
      switch number(12) {
      case 0, 1, 2, 3: renameTrait(index, version)
      case 4, 5: renameEntity(parts.keys.sorted()[number(parts.count)], version, ["A", "", "Z"][number(3)])
      case 6, 7: toggle(index)
      case 8: widen(index)
      case 9: move(["weight", "when", "price"][number(3)])
      case 10: addAttribute(version, to: parts.keys.sorted()[number(parts.count)])
      default: toggleEntity(["Lid", "Star", "Sticker", "Part"][number(4)])
      }
    }
  }

  private mutating func renameTrait(_ index: Int, _ version: Int) {
    // Nothing would say that a property is one which was removed under another name.
    guard isThere(traits[index]), traits[index].former == nil else { return }
    traits[index].former = traits[index].name
    traits[index].name = "\(traits[index].first)\(version)"
  }

  private mutating func renameEntity(_ name: String, _ version: Int, _ prefix: String) {
    guard let part = parts[name], part.isThere, part.former == nil else { return }
    parts[name]?.former = part.name
    // The order of names decides which end of a relationship has the facts.
    parts[name]?.name = "\(prefix)\(name)\(version)"
  }

  /// Removes a property and its inverse, or brings them back.
  private mutating func toggle(_ index: Int) {
    // Objects are known by an identifier, the label is unique, and the shape is required.
    let trait = traits[index]
    guard !["id", "label", "shape"].contains(trait.first), trait.attribute?.isDerived != true else { return }
    let ends = Set([index, trait.relationship.flatMap(inverse)].compactMap { $0 })
    guard ends.allSatisfy({ traits[$0].former == nil }) else { return }
    for end in ends { traits[end].isThere = !trait.isThere }
  }

  private func inverse(of relationship: RelationshipDescription) -> Int? {
    relationship.inverse.flatMap { name in
      traits.firstIndex { $0.entity == relationship.destination && $0.first == name }
    }
  }

  /// Gives numbers a type that contains all of their values.
  private mutating func widen(_ index: Int) {
    switch traits[index].attribute?.type {
    case .boolean: traits[index].attribute?.type = .int16
    case .int16: traits[index].attribute?.type = .int32
    case .int32: traits[index].attribute?.type = .int64
    default: break
    }
  }

  /// Moves an attribute between an entity and its parent.
  private mutating func move(_ name: String) {
    guard let index = traits.firstIndex(where: { $0.first == name && $0.root == "Item" }), traits[index].isThere,
      parts["Part"]?.isThere == true
    else { return }
    traits[index].isMoved = true
    traits[index].entity = traits[index].entity == "Item" ? "Part" : "Item"
  }

  private mutating func addAttribute(_ version: Int, to entity: String) {
    let name = "extra\(version)"
    guard !traits.contains(where: { $0.first == name }) else { return }
    traits.append(
      Trait(
        entity: entity, root: Self.root(of: entity), first: name, name: name,
        attribute: AttributeDescription(name, .string)))
  }

  /// Removes an entity with the relationships to it, or brings it back.
  private mutating func toggleEntity(_ name: String) {
    guard let part = parts[name], part.former == nil else { return }
    let subentities = name == "Sticker" ? ["Star"] : []
    guard subentities.allSatisfy({ parts[$0]?.former == nil }) else { return }
    let isChanged = traits.contains { trait in
      guard trait.former != nil || trait.isMoved else { return false }
      return [trait.entity, trait.root, trait.relationship?.destination].contains { $0 == name }
        || subentities.contains(trait.entity) || trait.isMoved && name == "Part"
    }
    if isChanged { return }
    for name in [name] + subentities { parts[name]?.isThere = !part.isThere }
    if name == "Star", parts["Sticker"]?.isThere == false { parts["Star"]?.isThere = false }
  }

  // MARK: Models

  private func isThere(_ trait: Trait) -> Bool {
    guard trait.isThere, parts[trait.entity]?.isThere == true else { return false }
    guard let relationship = trait.relationship else { return true }
    guard parts[relationship.destination]?.isThere == true else { return false }
    return inverse(of: relationship).map { traits[$0].isThere && parts[traits[$0].entity]?.isThere == true } ?? true
  }

  private mutating func add(_ version: Int) throws {
    var names = Names()
    var entities: [EntityDescription] = []
    for entity in base.entities {
      guard let part = parts[entity.name], part.isThere else { continue }
      names.entities[entity.name] = part.name
      var changed = entity
      (changed.name, changed.renamingIdentifier) = (part.name, part.former)
      changed.parent = entity.parent.flatMap { parts[$0]?.name }
      let own = traits.filter { $0.entity == entity.name && isThere($0) }
      changed.attributes = own.compactMap { attribute(of: $0) }
      changed.relationships = own.compactMap { relationship(of: $0) }
      changed.uniquenessConstraints = entity.uniquenessConstraints.map { constraint in
        constraint.map { name in own.first { $0.first == name }?.name ?? name }
      }
      entities.append(changed)
      for trait in own {
        names.properties[trait.root, default: [:]][trait.first] = trait.name
        names.owners[trait.root, default: [:]][trait.first] = trait.entity
      }
    }
    let description = ModelDescription(
      entities: entities, composites: base.composites, versionIdentifiers: ["\(version)"])
    versions.append(try ManagedObjectModel(description))
    self.names.append(names)
  }

  private func attribute(of trait: Trait) -> AttributeDescription? {
    guard var attribute = trait.attribute else { return nil }
    (attribute.name, attribute.renamingIdentifier) = (trait.name, trait.former)
    if attribute.isDerived, let label = traits.first(where: { $0.entity == trait.entity && $0.first == "label" }) {
      attribute.derivation = "uppercase:(\(label.name))"
    }
    return attribute
  }

  private func relationship(of trait: Trait) -> RelationshipDescription? {
    guard var relationship = trait.relationship else { return nil }
    let inverse = inverse(of: relationship).map { traits[$0].name }
    (relationship.name, relationship.renamingIdentifier) = (trait.name, trait.former)
    relationship.destination = parts[relationship.destination]?.name ?? ""
    relationship.inverse = inverse
    return relationship
  }

  /// The versions that a program of one version knows.
  func registry(upTo version: Int) -> ModelRegistry {
    ModelRegistry(families: [
      ModelFamily(
        "Model", versions: (0...version).map { ModelVersion(name: "Model \($0)", model: versions[$0]) },
        current: "Model \(version)")
    ])
  }

  /// The identifying attributes in a version.
  func identifiers(_ version: Int) -> [String: String] {
    guard let entity = names[version].entities["Item"], let name = names[version].properties["Item"]?["id"] else {
      return [:]
    }
    return [entity: name]
  }
}
