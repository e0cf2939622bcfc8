/// Old pairs that become those of a new relationship, from the perspective of its owners.
struct PairOrigin: Sendable, Equatable {
  /// The storage of the pairs, from the perspective of the owners.
  enum Place: Sendable, Equatable {
    /// In a column of the owners' rows, with the adjacent column of entity numbers.
    case toOne(number: String?)
    /// In columns of the members' rows.
    case foreignKey(TableMap.ForeignKey)
    case join(TableMap.JoinEnd)
  }

  let pair: ModelComparison.OldPair
  /// Whether the owners are those of the end for which the pair is named.
  let isNamedEnd: Bool
  let pairs: PairSource
  let place: Place
  /// Whether an owner had at most one member.
  let isOwnerUnique: Bool
  /// Whether a member had at most one owner.
  let isMemberUnique: Bool
  /// Whether each pair is stored in both directions, because the relationship was its own inverse.
  let isSymmetric: Bool
  let ownerTable: String
  let memberTable: String
  /// The old entity numbers of owners and members whose pairs the new relationship takes.
  var owners: Set<Int>
  var members: Set<Int>
  /// The old entity numbers of all possible participants of the old pairs.
  let allOwners: Set<Int>
  let allMembers: Set<Int>

  /// The rows of the old store that the pairs connect.
  @inline(never)
  var rows: PairRows {
    PairRows(
      pairs: pairs, owners: .init(table: ownerTable, entityNumbers: owners.sorted()),
      members: .init(table: memberTable, entityNumbers: members.sorted()))
  }
}

/// The origins of the pairs of all new relationships in the old store.
struct RelationshipOrigins: Sendable {
  /// A relationship of the new model, by the entity that declares it.
  private struct NewEnd: Sendable, Hashable {
    let entity: String
    let relationship: String
  }

  let comparison: ModelComparison
  let old: TableMap
  private var byEntity: [String: [String: [PairOrigin]]] = Dictionary()
  private var byDeclaration: [String: [String: [PairOrigin]]] = Dictionary()
  /// The first relationship whose pairs all come from one place, and which can therefore take over the place itself.
  private var heirs: [PairSource: NewEnd] = Dictionary()
  /// The new relationships that take pairs from an old one, each named by its first end.
  private var users: [ModelComparison.OldPair: Set<NewEnd>] = Dictionary()
  /// The new to-one relationships whose values are in an old column, each with the rows that have it.
  private var columnTakers: [PairSource: [(end: NewEnd, owners: Set<Int>)]] = Dictionary()
  private let destinations: [Int: Entity]

  init(_ comparison: ModelComparison, from old: TableMap) {
    self.comparison = comparison
    self.old = old
    let newNames = Dictionary(
      comparison.correspondence.entities.map { ($1, $0) }, uniquingKeysWith: { first, second in min(first, second) })
    destinations = Dictionary(
      old.tables.compactMap { place in
        newNames[place.entity.name].flatMap { comparison.new.entitiesByName[$0] }.map { (place.number, $0) }
      }, uniquingKeysWith: { first, _ in first })
    for entity in comparison.new.entities {
      for relationship in entity.description.relationships where !relationship.isTransient {
        collect(relationship, declaredBy: entity)
      }
    }
  }

  /// The origins of a relationship's pairs for the objects of exactly one entity.
  subscript(_ relationship: RelationshipDescription, of entity: Entity) -> [PairOrigin] {
    byEntity[entity.name]?[relationship.name] ?? []
  }

  /// The origins of a relationship of all entities that have it.
  subscript(_ relationship: RelationshipDescription, ofAll entity: Entity) -> [PairOrigin] {
    byDeclaration[comparison.declaring(relationship, of: entity).name]?[relationship.name] ?? []
  }

  /// Whether the relationship takes over the old table or column itself, not only its contents.
  func takesOver(_ origin: PairOrigin, _ relationship: RelationshipDescription, of entity: Entity) -> Bool {
    let user = user(relationship, declaredBy: comparison.declaring(relationship, of: entity))
    guard heir(of: origin.pairs) == user else { return false }
    guard case .foreignKey = origin.place else { return true }
    // The column may belong to a to-one relationship, whose values remain there.
    return users[origin.pair]?.count == 1 || isOneWay(origin.pair)
  }

  /// Whether a to-one relationship takes over the values of an old column, rather than copies of the pairs.
  ///
  /// A relationship that moves down to two entities has an inverse for each, and the old inverse's column has the
  /// values of both in the same rows. A column that is taken over is cleared of values that belong to others, so for
  /// each row only one relationship can take it over.
  func takesOverColumn(
    _ origin: PairOrigin, _ relationship: RelationshipDescription, of entity: Entity
  ) -> Bool {
    let own = NewEnd(
      entity: comparison.declaring(relationship, of: entity).name, relationship: relationship.name)
    let first = columnTakers[origin.pairs]?.first { !$0.owners.isDisjoint(with: origin.owners) }
    return first.map { $0.end == own } ?? true
  }

  private func heir(of pairs: PairSource) -> NewEnd? { heirs[pairs] ?? heirs[pairs.turned] }

  private func isOneWay(_ pair: ModelComparison.OldPair) -> Bool {
    old.model.entitiesByName[pair.entity]?.relationship(named: pair.relationship)?.inverse == nil
  }

  private func user(_ relationship: RelationshipDescription, declaredBy entity: Entity) -> NewEnd {
    let own = NewEnd(entity: entity.name, relationship: relationship.name)
    guard let inverse = comparison.new.inverse(of: relationship) else { return own }
    let declaring = comparison.declaring(inverse, of: comparison.new.destination(of: relationship))
    let other = NewEnd(entity: declaring.name, relationship: inverse.name)
    return (own.entity, own.relationship) <= (other.entity, other.relationship) ? own : other
  }

  /// The new entity of the rows of an old entity number; nil if they are removed.
  func destination(ofNumber number: Int) -> Entity? { destinations[number] }

  private mutating func collect(_ relationship: RelationshipDescription, declaredBy entity: Entity) {
    guard let end = comparison.leadingEnd(of: relationship, in: entity) else { return }
    let isOwnInverse = entity.property(named: relationship.name).map(comparison.new.isOwnInverse) ?? false
    var whole: [PairOrigin] = []
    for heir in comparison.new.hierarchy(of: entity) {
      var found = end == .own ? origin(relationship, of: heir) : originsByInverse(relationship, of: heir)
      if isOwnInverse, !relationship.isToMany {
        // Pairs of a relationship that becomes its own inverse relate their members to their owners, too.
        found += originsByInverse(relationship, of: heir).filter { !$0.isSymmetric }
      }
      byEntity[heir.name, default: Dictionary()][relationship.name] = found
      if !relationship.isToMany, found.count == 1, case .toOne = found[0].place {
        columnTakers[found[0].pairs, default: []].append(
          (NewEnd(entity: entity.name, relationship: relationship.name), found[0].owners))
      }
      whole = found.reduce(whole, Self.merging)
    }
    byDeclaration[entity.name, default: Dictionary()][relationship.name] = whole
    let user = user(relationship, declaredBy: entity)
    for origin in whole { users[origin.pair, default: []].insert(user) }
    guard whole.count == 1, let only = whole.first, heir(of: only.pairs) == nil else { return }
    heirs[only.pairs] = user
  }

  /// Merges origins of the same pairs if they have the same owners or the same members.
  private static func merging(_ origins: [PairOrigin], _ next: PairOrigin) -> [PairOrigin] {
    var origins = origins
    for index in origins.indices where origins[index].pairs == next.pairs && origins[index].pair == next.pair {
      guard origins[index].members == next.members || origins[index].owners == next.owners else { continue }
      origins[index].owners.formUnion(next.owners)
      origins[index].members.formUnion(next.members)
      return origins
    }
    return origins + [next]
  }

  private func origin(_ relationship: RelationshipDescription, of entity: Entity) -> [PairOrigin] {
    guard let (source, before) = comparison.oldRelationship(relationship, of: entity) else { return [] }
    let wanted = comparison.new.destination(of: relationship)
    return [origin(before, of: source, owners: [old[source].number]) { $0.isKind(of: wanted) }].compactMap { $0 }
      .filter { !$0.members.isEmpty }
  }

  /// The origins of a new inverse of an existing relationship: it has the same pairs, from the other end's perspective.
  private func originsByInverse(_ relationship: RelationshipDescription, of entity: Entity) -> [PairOrigin] {
    guard let inverse = comparison.new.inverse(of: relationship), let own = comparison.source(of: entity),
      entity.isKind(of: comparison.new.destination(of: inverse))
    else { return [] }
    return comparison.new.hierarchy(of: comparison.new.destination(of: relationship)).reduce([]) { found, member in
      guard let (source, before) = comparison.oldRelationship(inverse, of: member),
        own.isKind(of: comparison.old.destination(of: before)),
        let origin = origin(before, of: source, owners: [old[source].number], members: { $0 === entity })
      else { return found }
      return Self.merging(found, origin.turned)
    }
  }

  /// - Parameter members: whether an old member's new entity can be a member.
  private func origin(
    _ relationship: RelationshipDescription, of source: Entity, owners: Set<Int>, members: (Entity) -> Bool
  ) -> PairOrigin? {
    guard let property = source.property(named: relationship.name), let pairs = old.pairs(of: property, in: source),
      old.absent.isDisjoint(with: [source.name, relationship.destination])
    else { return nil }
    let place: PairOrigin.Place
    switch old[source].toMany[property.slot] {
    case nil:
      place = .toOne(
        number: old[source].columns.first { $0.property == property.name && $0.role == .toOneEntity }?.name)
    case .foreignKey(let key): place = .foreignKey(key)
    case .join(let end): place = .join(end)
    }
    let destination = old.model.destination(of: relationship)
    let inverse = old.model.inverse(of: relationship)
    let all = Set(old.model.hierarchy(of: destination).map { old[$0].number })
    let declaring = comparison.declaring(relationship, of: source)
    let (pair, isNamed) = comparison.oldPair(of: relationship, in: source)
    return PairOrigin(
      pair: pair, isNamedEnd: isNamed, pairs: pairs, place: place, isOwnerUnique: !relationship.isToMany,
      isMemberUnique: inverse.map { !$0.isToMany } ?? relationship.isToMany,
      isSymmetric: old.model.isOwnInverse(property), ownerTable: old[source].table,
      memberTable: old[destination].table, owners: owners,
      members: all.filter { destinations[$0].map(members) == true },
      allOwners: Set(old.model.hierarchy(of: declaring).map { old[$0].number }), allMembers: all)
  }
}

extension PairOrigin {
  /// The same pairs from the perspective of their members.
  var turned: PairOrigin {
    let other: Place
    switch place {
    case .join(let end): other = .join(end.turned)
    // A column of the members' own rows is a column of the owners' rows for them, and vice versa.
    case .toOne(let number):
      other = .foreignKey(
        .init(table: pairs.table, column: pairs.member, entityColumn: number, orderColumn: pairs.inversePlace))
    case .foreignKey(let key): other = .toOne(number: key.entityColumn)
    }
    return PairOrigin(
      pair: pair, isNamedEnd: !isNamedEnd, pairs: pairs.turned, place: other, isOwnerUnique: isMemberUnique,
      isMemberUnique: isOwnerUnique, isSymmetric: isSymmetric, ownerTable: memberTable, memberTable: ownerTable,
      owners: members, members: owners, allOwners: allMembers, allMembers: allOwners)
  }
}

extension TableMap.JoinEnd {
  /// The same table from the perspective of its other end.
  fileprivate var turned: TableMap.JoinEnd {
    TableMap.JoinEnd(
      table: table, ownColumn: memberColumn, memberColumn: ownColumn, orderColumn: inverseOrderColumn,
      inverseOrderColumn: orderColumn, isReflexive: isReflexive)
  }
}

extension TableMap {
  /// The storage of a relationship's pairs, from its entity's perspective; nil if the store doesn't have it.
  package func pairs(of property: Property, in entity: Entity) -> PairSource? {
    let table = self[entity]
    if property.isToOne {
      guard let key = table.columns.first(where: { $0.slot == property.slot && $0.role == .toOne }) else { return nil }
      return PairSource(
        table: table.table, owner: "Z_PK", member: key.name, place: nil,
        inversePlace: table.orderColumns[property.slot])
    }
    switch table.toMany[property.slot] {
    case nil: return nil
    case .foreignKey(let key):
      return PairSource(
        table: key.table, owner: key.column, member: "Z_PK", place: key.orderColumn, inversePlace: nil)
    case .join(let end):
      return PairSource(
        table: end.table, owner: end.ownColumn, member: end.memberColumn, place: end.orderColumn,
        inversePlace: end.inverseOrderColumn)
    }
  }
}
