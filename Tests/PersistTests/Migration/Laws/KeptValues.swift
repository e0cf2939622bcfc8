@testable import Persist
@testable import PersistModel

/// The parts of a store that a migration must keep, determined without the comparison of models: by the names of
/// properties, by their renaming identifiers, and by identities that random models write into user info.
struct KeptValues {
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  let before: StoreContent
  let after: StoreContent

  /// The old entity of each new one.
  private let sources: [String: String]
  private let destinations: [String: String]

  init(_ old: ManagedObjectModel, _ new: ManagedObjectModel, before: StoreContent, after: StoreContent) {
    (self.old, self.new, self.before, self.after) = (old, new, before, after)
    var sources: [String: String] = [:]
    for entity in new.entities {
      let identity = entity.description.userInfo[RandomModels.identity]
      let same = identity.flatMap { wanted in
        old.entities.first { $0.description.userInfo[RandomModels.identity] == wanted }
      }
      let named = identity == nil ? old.entitiesByName[entity.description.renamingIdentifier ?? entity.name] : nil
      sources[entity.name] = (same ?? named)?.name
    }
    self.sources = sources
    destinations = Dictionary(sources.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Origins

  private struct Known {
    let name: String
    let identity: String?
    let identifier: String?
  }

  private func known(_ property: Property) -> Known? {
    switch property.kind {
    case .attribute(let attribute) where !attribute.isTransient:
      Known(
        name: attribute.name, identity: attribute.userInfo[RandomModels.identity],
        identifier: attribute.renamingIdentifier)
    case .relationship(let relationship) where !relationship.isTransient:
      Known(
        name: relationship.name, identity: relationship.userInfo[RandomModels.identity],
        identifier: relationship.renamingIdentifier)
    default: nil
    }
  }

  /// Returns the old property that is the origin of a new entity's property.
  private func origin(of property: Property, in entity: Entity) -> Property? {
    guard let source = sources[entity.name].flatMap({ old.entitiesByName[$0] }), let new = known(property) else {
      return nil
    }
    let candidates = source.properties.filter { ($0.attribute == nil) == (property.attribute == nil) }
    if isToldByName(property, in: entity, from: source) { return candidates.first { known($0)?.name == new.name } }
    let shared = sharedIdentities(entity.properties).union(sharedIdentities(candidates))
    if let identity = new.identity, !shared.contains(identity),
      let same = candidates.first(where: { known($0)?.identity == identity })
    {
      return same
    }
    let taken = Set(entity.properties.compactMap { known($0)?.identity }).subtracting(shared)
    let named = candidates.filter { known($0)?.identity.map { !taken.contains($0) } ?? true }
    if let identifier = new.identifier, let renamed = named.first(where: { known($0)?.name == identifier }) {
      return renamed
    }
    let others = Set(entity.properties.compactMap { known($0)?.identifier })
    return named.first { known($0)?.name == new.name && !others.contains(new.name) }
  }

  /// The identities that several properties of an entity have. An attribute that moved down to siblings, and up again
  /// from one of them, is in the others twice, under two names: names determine which of the two has the values.
  private func sharedIdentities(_ properties: [Property]) -> Set<String> {
    let counts = Dictionary(properties.compactMap { known($0)?.identity }.map { ($0, 1) }, uniquingKeysWith: +)
    return Set(counts.filter { $0.value > 1 }.keys)
  }

  /// Whether a property's name determines its origin although an identifier contradicts it.
  ///
  /// Both models have both names, and only one of the four properties has an identifier: it remains from an earlier
  /// renaming, or from an exchange of names that was reverted, and following it would lose a value that has a place in
  /// both models.
  private func isToldByName(_ property: Property, in entity: Entity, from source: Entity) -> Bool {
    let own = entity.properties.filter { ($0.attribute == nil) == (property.attribute == nil) }
    let olds = source.properties.filter { ($0.attribute == nil) == (property.attribute == nil) }
    func isPlain(_ name: String, _ properties: [Property]) -> Bool {
      properties.contains { $0.name == name && Self.formerName($0) == nil }
    }
    func isLeftOver(_ property: Property) -> Bool {
      guard let former = Self.formerName(property) else { return false }
      return isPlain(former, own) && isPlain(former, olds) && isPlain(property.name, olds)
    }
    let claimants = own.filter { Self.formerName($0) == property.name }
    return isLeftOver(property) && claimants.isEmpty || !claimants.isEmpty && claimants.allSatisfy(isLeftOver)
  }

  private static func formerName(_ property: Property) -> String? {
    let identifier = property.attribute?.renamingIdentifier ?? property.relationship?.renamingIdentifier
    return identifier == property.name || identifier == "" ? nil : identifier
  }

  /// The new name of an old object's entity; nil if that was removed.
  private func moved(_ object: StoreContent.Object) -> StoreContent.Object? {
    destinations[object.entity].map { .init(entity: $0, key: object.key) }
  }

  private func moved(_ pair: StoreContent.Pair) -> StoreContent.Pair? {
    guard let owner = moved(pair.owner), let member = moved(pair.member) else { return nil }
    return .init(owner: owner, member: member)
  }

  // MARK: Attributes

  /// The number of lost values of remaining objects, and the errors in the others.
  ///
  /// A value of a removed attribute that is found in an added one may count as lost or as kept: two attributes of one
  /// name that were merged in a parent become one, with the identity of either.
  func attributes() -> (lost: Int, either: Int, wrong: [String]) {
    var (lost, either, wrong) = (0, 0, [String]())
    for (object, values) in before.values {
      guard let destination = moved(object), let entity = new.entitiesByName[destination.entity],
        let source = old.entitiesByName[object.entity]
      else { continue }
      guard let now = after.values[destination] else {
        wrong.append("\(object) is gone")
        continue
      }
      var kept = Set<String>()
      var added: [SQLValue] = []
      for property in entity.properties {
        guard let attribute = property.attribute, !attribute.isTransient, !attribute.isDerived else { continue }
        guard let origin = origin(of: property, in: entity) else {
          if let value = now[property.name] { added.append(value) }
          continue
        }
        // No value of the old type is valid for the new one: such a migration is refused, or it loses the values and
        // says so.
        if let old = origin.attribute, AttributeConversion(from: old.type, to: attribute.type) == .refused { continue }
        kept.insert(origin.name)
        // Its elements are added and removed independently.
        guard origin.attribute?.type != .composite else { continue }
        guard let value = values[origin.name] else { continue }
        let found = now[property.name]
        if found.map({ Self.isSame($0, value) }) != true {
          wrong.append("\(destination).\(property.name): \(found.map { "\($0)" } ?? "nothing") instead of \(value)")
        }
      }
      for (name, value) in values {
        let path = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let attribute = source.attribute(named: path[0]), !attribute.isDerived, !kept.contains(path[0]) else {
          continue
        }
        lost += 1
        if added.contains(where: { Self.isSame($0, value) }) { either += 1 }
      }
    }
    return (lost, either, wrong.sorted())
  }

  /// Whether two stored values are equivalent: a number of another kind, or bytes with or without a mark before them.
  private static func isSame(_ value: SQLValue, _ other: SQLValue) -> Bool {
    switch (value, other) {
    case (.integer(let value), .double(let other)), (.double(let other), .integer(let value)): Double(value) == other
    case (.blob(let value), .blob(let other)): value == other || value == [1] + other || [1] + value == other
    default: value == other
    }
  }

  // MARK: Relationships

  /// The number of lost members whose objects both remain, counting those listed by an inverse from both ends; and
  /// pairs without an origin.
  ///
  /// If inverses were exchanged, only one of the two relationships is kept: a pair in both may be kept or lost.
  func relationships() -> (oneWay: Int, bothWays: Int, either: Int, wrong: [String]) {
    var taken: [String: Set<StoreContent.Pair>] = [:]
    var crossed = Set<String>()
    var wrong: [String] = []
    for entity in new.entities where !entity.isAbstract {
      for property in entity.properties {
        guard let relationship = property.relationship, !relationship.isTransient else { continue }
        let found = after.pairs(entity.name, property.name)
        var known = Set<StoreContent.Pair>()
        if let (origin, source) = oldRelationship(property, in: entity) {
          for (name, turned) in ends(of: origin, source) {
            taken[name, default: []].formUnion(turned ? Set(found.map(\.turned)) : found)
          }
          known.formUnion(oldPairs(source, origin))
          known.formUnion(oldPairsOfInverse(origin))
        }
        if let inverse = relationship.inverse {
          for member in new.hierarchy(of: new.destination(of: relationship)) {
            guard let back = member.property(named: inverse), let (origin, source) = oldRelationship(back, in: member)
            else { continue }
            for (name, turned) in ends(of: origin, source) {
              taken[name, default: []].formUnion(turned ? found : Set(found.map(\.turned)))
            }
            if let (own, _) = oldRelationship(property, in: entity), own.inverse != nil, origin.inverse != nil,
              own.inverse != origin.name
            {
              crossed.formUnion(ends(of: origin, source).map(\.name))
            }
            known.formUnion(oldPairs(source, origin).map(\.turned))
            known.formUnion(oldPairsOfInverse(origin).map(\.turned))
          }
        }
        let invented = found.subtracting(known)
        if !invented.isEmpty { wrong.append("\(entity.name).\(property.name) invents \(invented)") }
      }
    }
    var (oneWay, bothWays, either) = (0, 0, 0)
    for entity in old.entities where !entity.isAbstract {
      for relationship in entity.relationships where !relationship.isTransient {
        let name = pairName(relationship, entity)
        let pairs = oldPairs(entity, relationship)
        let lost = pairs.subtracting(taken[name] ?? []).count
        if relationship.inverse == nil { oneWay += lost } else { bothWays += lost }
        if crossed.contains(name) { either += pairs.count - lost }
      }
    }
    return (oneWay, bothWays, either, wrong.sorted())
  }

  /// The number of members of ordered relationships that have lost their order, and lists in another order.
  func orders() -> (unordered: Int, changed: [String]) {
    var (unordered, changed) = (0, [String]())
    for (object, lists) in before.lists {
      guard let now = moved(object), let entity = new.entitiesByName[now.entity] else { continue }
      for (name, list) in lists {
        let heir = entity.properties.first { property in
          property.relationship?.isTransient == false && origin(of: property, in: entity)?.name == name
            && origin(of: property, in: entity)?.relationship != nil
        }
        guard let heir, let relationship = heir.relationship, relationship.isToMany else { continue }
        guard relationship.isOrdered else {
          unordered += after.pairs(entity.name, heir.name).filter { $0.owner == now }.count
          continue
        }
        let found = (after.lists[now]?[heir.name] ?? []).filter(list.contains)
        let wanted = list.filter(found.contains)
        if found != wanted { changed.append("\(now).\(heir.name): \(found) instead of \(wanted)") }
      }
    }
    return (unordered, changed.sorted())
  }

  private func oldRelationship(
    _ property: Property, in entity: Entity
  ) -> (RelationshipDescription, Entity)? {
    guard let source = sources[entity.name].flatMap({ old.entitiesByName[$0] }),
      let origin = origin(of: property, in: entity)?.relationship
    else { return nil }
    return (origin, source)
  }

  /// An old relationship and its inverse, as seen from the other side.
  private func ends(of origin: RelationshipDescription, _ source: Entity) -> [(name: String, isTurned: Bool)] {
    let own = (pairName(origin, source), false)
    guard let inverse = old.inverse(of: origin) else { return [own] }
    return [own, (pairName(inverse, old.destination(of: origin)), true)]
  }

  /// The pairs of an old relationship as listed by its inverse, from the perspective of the relationship's owners.
  private func oldPairsOfInverse(_ origin: RelationshipDescription) -> Set<StoreContent.Pair> {
    guard let inverse = old.inverse(of: origin) else { return [] }
    return Set(
      old.hierarchy(of: old.destination(of: origin)).flatMap { oldPairs($0, inverse) }.map(\.turned))
  }

  private func oldPairs(_ entity: Entity, _ relationship: RelationshipDescription) -> Set<StoreContent.Pair> {
    Set(before.pairs(entity.name, relationship.name).compactMap(moved))
  }

  /// An old relationship, regardless of which of the inheriting entities it is accessed through.
  private func pairName(_ relationship: RelationshipDescription, _ entity: Entity) -> String {
    "\(entity.property(named: relationship.name)?.declaringEntity ?? "").\(relationship.name)"
  }
}
