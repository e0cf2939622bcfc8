import Foundation
import Persist

/// The entities and properties of one model by those of another one, older or newer.
///
/// Renames are declared by the newer model, and nothing says which one that is. Both directions are computed. The one
/// that knows of more renames has precedence.
struct Correspondence {
  /// The own entities, of which there are several if a mapping model splits or merges entities.
  private(set) var entities: [String: [String]] = [:]
  /// The own names of properties, by their entity, the own one and their name.
  private var properties: [String: [String: [String: String]]] = [:]
  private var taken: Set<[String]> = []
  /// The own declarations of properties by their declarations. A property that is moved between an entity and its
  /// subentities has several ones in either model.
  private var declarations: [PropertyDeclaration: [PropertyDeclaration]] = [:]
  private var sources: [PropertyDeclaration: [PropertyDeclaration]] = [:]
  private let models: (theirs: ManagedObjectModel, own: ManagedObjectModel)
  /// Properties of either model whose values aren't those of a property of the other one.
  private let computed: Set<[String]>

  /// An entity or property of each model that are the same.
  private struct Pair {
    var theirs: [String]
    var own: [String]

    var isRename: Bool { theirs.last != own.last }
    var reversed: Pair { Pair(theirs: own, own: theirs) }
  }

  /// - Parameters:
  ///   - mapped: The counterparts by a mapping model.
  ///   - computed: The attributes that a mapping model computes.
  /// - Throws: `PersistenceError.Code.mappingAmbiguous` if a name has several possible counterparts.
  init(
    from theirs: ManagedObjectModel, to own: ManagedObjectModel, mapped: [(theirs: [String], own: [String])],
    computed: Set<[String]>
  ) throws {
    (self.computed, models) = (computed, (theirs, own))
    let mapped = mapped.map { Pair(theirs: $0.theirs, own: $0.own) }
    for pair in mapped where pair.own.count == 1 { add(pair, isMapped: true) }
    for pair in mapped where pair.own.count == 2 { add(pair) }
    let forward = try ModelCorrespondence(from: theirs, to: own)
    let backward = try ModelCorrespondence(from: own, to: theirs)
    let one = Self.pairs(forward, theirs, own)
    let other = Self.pairs(backward, own, theirs).map(\.reversed)
    let isOtherFirst = other.count(where: \.isRename) > one.count(where: \.isRename)
    for pair in isOtherFirst ? other + one : one + other { add(pair) }
  }

  private static func pairs(
    _ correspondence: ModelCorrespondence, _ old: ManagedObjectModel, _ new: ManagedObjectModel
  ) -> [Pair] {
    let entities = old.entities.compactMap { entity in
      correspondence.newName(ofEntity: entity.name).map { (entity.name, $0) }
    }
    let properties = entities.flatMap { former, name in
      (new.entitiesByName[name]?.properties ?? []).compactMap { property in
        correspondence.origin(of: property.name, in: name)?.source.map {
          Pair(theirs: [former, $0], own: [name, property.name])
        }
      }
    }
    return entities.map { Pair(theirs: [$0], own: [$1]) } + properties
  }

  /// - Parameter isMapped: Whether a mapping model has the pair. Only mapping models split and merge entities.
  private mutating func add(_ pair: Pair, isMapped: Bool = false) {
    let (entity, ownEntity) = (pair.theirs[0], pair.own[0])
    let isKnown = entities[entity]?.contains(ownEntity) == true
    guard pair.theirs.count == 2 else {
      if isKnown || !isMapped && entities[entity] != nil { return }
      if taken.insert(pair.own).inserted || isMapped { entities[entity, default: []].append(ownEntity) }
      return
    }
    guard isKnown, properties[entity]?[ownEntity]?[pair.theirs[1]] == nil, !computed.contains(pair.theirs),
      !computed.contains(pair.own), taken.insert([entity] + pair.own).inserted
    else { return }
    properties[entity, default: [:]][ownEntity, default: [:]][pair.theirs[1]] = pair.own[1]
    if let declared = models.theirs.declaration(of: pair.theirs[1], in: entity),
      let own = models.own.declaration(of: pair.own[1], in: ownEntity)
    {
      add(declared, own)
    }
  }

  /// Adds a declaration unless an entity of either model would have two properties that are one in the other model.
  private mutating func add(_ declared: PropertyDeclaration, _ own: PropertyDeclaration) {
    let isTaken =
      declarations[declared]?.contains { models.own.areRelated($0.entity, own.entity) } == true
      || sources[own]?.contains { models.theirs.areRelated($0.entity, declared.entity) } == true
    if isTaken { return }
    declarations[declared, default: []].append(own)
    sources[own, default: []].append(declared)
  }

  /// Whether an entity is split, or others have the same counterpart.
  private func isDivided(_ entity: String, _ own: String) -> Bool {
    entities[entity, default: []].count > 1 || entities.values.count { $0.contains(own) } > 1
  }

  /// Adds the pairs that two correspondences in succession have beyond this one.
  mutating func complete(by first: Correspondence, _ second: Correspondence) {
    for (entity, all) in first.entities.sorted(by: { $0.key < $1.key }) {
      for middle in all {
        for own in second.entities[middle] ?? [] {
          add(
            Pair(theirs: [entity], own: [own]),
            isMapped: first.isDivided(entity, middle) || second.isDivided(middle, own))
          for (name, other) in (first.properties[entity]?[middle] ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let last = second.properties[middle]?[own]?[other] {
              add(Pair(theirs: [entity, name], own: [own, last]))
            }
          }
        }
      }
    }
    // An entity in between may be missing although its superentity, which declares the property, is there.
    for (declared, all) in first.declarations.sorted(by: { $0.key < $1.key }) {
      for middle in all {
        for own in second.declarations[middle] ?? [] { add(declared, own) }
      }
    }
  }

  /// The own name of a property; nil if the object's entity doesn't have it.
  ///
  /// - Parameters:
  ///   - path: The name of a property, or the path to an element of a composite.
  ///   - entity: The entity for which it was recorded. The object may have another one: another replica created it as
  ///     that of a subentity, or its former entity was removed.
  ///   - ownEntity: The own entity of the object.
  func property(_ path: String, of entity: String, in ownEntity: String) -> String? {
    let point = path.firstIndex(of: ".") ?? path.endIndex
    return ownName(of: String(path[..<point]), in: entity, for: ownEntity).map { $0 + path[point...] }
  }

  private func ownName(of name: String, in entity: String, for ownEntity: String) -> String? {
    let all = properties[entity]
    if let name = all?[ownEntity]?[name] { return name }
    if computed.contains([entity, name]) { return nil }
    if let declared = models.theirs.declaration(of: name, in: entity) {
      let own = declarations[declared]?.first { models.own.isKind(ownEntity, of: $0.entity) }
      if let own { return computed.contains([ownEntity, own.name]) ? nil : own.name }
    }
    // Properties of siblings are the same if their names are, as they are within one version.
    guard all?[ownEntity] == nil else { return nil }
    return entities[entity]?.first.flatMap { all?[$0]?[name] }
  }

  /// The own declarations of a property, that of the entity's counterpart first.
  func declarations(of name: String, in entity: String) -> [PropertyDeclaration] {
    let exact = entities[entity]?.first.flatMap { own in
      property(name, of: entity, in: own).map { PropertyDeclaration(entity: own, name: $0) }
    }
    let others = models.theirs.declaration(of: name, in: entity).flatMap { declarations[$0] } ?? []
    guard let exact else { return others }
    return [exact] + others.filter { !models.own.areRelated($0.entity, exact.entity) }
  }
}

/// A property by the entity that declares it.
struct PropertyDeclaration: Hashable, Comparable {
  var entity: String
  var name: String

  static func < (left: Self, right: Self) -> Bool { (left.entity, left.name) < (right.entity, right.name) }
}

extension ManagedObjectModel {
  fileprivate func declaration(of property: String, in entity: String) -> PropertyDeclaration? {
    (entitiesByName[entity]?.property(named: property)?.declaringEntity).map {
      PropertyDeclaration(entity: $0, name: property)
    }
  }

  fileprivate func isKind(_ entity: String, of other: String) -> Bool {
    guard let entity = entitiesByName[entity], let other = entitiesByName[other] else { return false }
    return entity.isKind(of: other)
  }

  /// Whether two entities are the same, or one of them inherits from the other one.
  fileprivate func areRelated(_ entity: String, _ other: String) -> Bool {
    isKind(entity, of: other) || isKind(other, of: entity)
  }
}
