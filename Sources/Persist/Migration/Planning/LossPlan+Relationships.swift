/// Losses of pairs that no relationship of the new model takes.
extension LossPlan {
  private struct Lost: Hashable {
    let loss: MigrationLoss
    let pairs: PairSource
    let ownerTable: String
    let memberTable: String
    let members: Set<Int>
    /// The relationships that take precedence if the two ends of one conflict.
    let leaders: [PairRows]
  }

  /// The rows whose pairs are kept, by the pairs' old relationship and from the perspective of the end that names it.
  private typealias Kept = [ModelComparison.OldPair: [(owners: Set<Int>, members: Set<Int>)]]

  mutating func addRelationships() {
    let kept = keptPairs()
    var order: [Lost] = []
    var owners: [Lost: Set<Int>] = Dictionary()
    for (entity, destination) in stayingEntities {
      for property in entity.properties {
        guard let relationship = property.relationship, !relationship.isTransient,
          let lost = lost(relationship, property, of: entity, to: destination, kept: kept)
        else { continue }
        if owners[lost] == nil { order.append(lost) }
        owners[lost, default: []].insert(old[entity].number)
      }
    }
    for lost in order {
      let rows = PairRows(
        pairs: lost.pairs, owners: end(owners[lost] ?? [], of: lost.ownerTable),
        members: end(lost.members, of: lost.memberTable))
      add(lost.leaders.isEmpty ? .related(rows) : .unmatched(rows, lost.leaders), lost.loss)
    }
  }

  private func end(_ numbers: Set<Int>, of table: String) -> PairEnd {
    PairEnd(table: table, entityNumbers: rows(Array(numbers), of: table).entityNumbers)
  }

  // MARK: Orders

  /// Adds the orders of remaining members that are lost.
  mutating func addOrders() {
    let kept = keptPairs()
    for (entity, destination) in stayingEntities {
      for property in entity.properties {
        guard let relationship = property.relationship, !relationship.isTransient, relationship.isToMany,
          relationship.isOrdered, let pairs = old.pairs(of: property, in: entity),
          let loss = orderLoss(relationship, property, of: entity, to: destination, kept: kept)
        else { continue }
        let members = old.model.hierarchy(of: old.model.destination(of: relationship))
        add(
          .related(
            PairRows(
              pairs: pairs, owners: end([old[entity].number], of: old[entity].table),
              members: end(Set(members.map { old[$0].number }), of: old[members[members.startIndex]].table))), loss)
      }
    }
  }

  /// The loss of a relationship's order; nil if it is kept, or if the new relationship has at most one member.
  private func orderLoss(
    _ relationship: RelationshipDescription, _ property: Property, of entity: Entity, to destination: Entity,
    kept: Kept
  ) -> MigrationLoss? {
    let what = "order forgotten"
    let pair = comparison.oldPair(of: relationship, in: entity).pair
    guard let successor = successor(of: relationship, in: destination) else {
      guard kept[pair] != nil else { return nil }
      return MigrationLoss(
        entity: correspondence.newName(ofEntity: property.declaringEntity) ?? destination.name,
        property: relationship.name, what: what)
    }
    let origins = origins[successor, of: destination]
    guard successor.isToMany, !origins.isEmpty else { return nil }
    // The members may come from the other end, which doesn't know their order.
    if successor.isOrdered, origins.contains(where: { $0.pair == pair }) { return nil }
    return MigrationLoss(
      entity: comparison.declaring(successor, of: destination).name, property: successor.name, what: what)
  }

  private func successor(of relationship: RelationshipDescription, in destination: Entity) -> RelationshipDescription? {
    destination.relationships.first {
      !$0.isTransient && correspondence.origin(of: $0.name, in: destination.name)?.source == relationship.name
    }
  }

  // MARK: Pairs

  private func keptPairs() -> Kept {
    var kept: Kept = Dictionary()
    for entity in comparison.new.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        for origin in origins[relationship, of: entity] {
          kept[origin.pair, default: []].append(
            origin.isNamedEnd ? (origin.owners, origin.members) : (origin.members, origin.owners))
        }
      }
    }
    return kept
  }

  private func lost(
    _ relationship: RelationshipDescription, _ property: Property, of entity: Entity, to destination: Entity,
    kept: Kept
  ) -> Lost? {
    let number = old[entity].number
    let (pair, isNamed) = comparison.oldPair(of: relationship, in: entity)
    let isReflexive = relationship.inverse == relationship.name && pair.relationship == relationship.name
    let staying = Set(
      old.model.hierarchy(of: old.model.destination(of: relationship))
        .filter { hasRows($0) && origins.destination(ofNumber: old[$0].number) != nil }.map { old[$0].number })
    let takers = kept[pair] ?? []
    let members = staying.filter { member in
      !takers.contains { taker in
        let there = taker.owners.contains(isNamed ? number : member)
          && taker.members.contains(isNamed ? member : number)
        return there
          || isReflexive && taker.owners.contains(isNamed ? member : number)
            && taker.members.contains(isNamed ? number : member)
      }
    }
    guard !members.isEmpty, let pairs = old.pairs(of: property, in: entity) else { return nil }
    let (loss, leaders) = loss(relationship, as: property, of: entity, to: destination, isTaken: !takers.isEmpty)
    // For a relationship that remains, only one end reports the loss.
    guard loss.what == Self.removed || !leaders.isEmpty || reportsLosses(relationship, of: entity, isNamed: isNamed)
    else {
      return nil
    }
    return Lost(
      loss: loss, pairs: pairs, ownerTable: old[entity].table,
      memberTable: old[old.model.destination(of: relationship)].table, members: members, leaders: leaders)
  }

  private static let removed = "relationship removed"

  /// Whether an old relationship is the end that reports losses of its pairs: the to-one end, otherwise the one that
  /// remains in place, otherwise the first.
  private func reportsLosses(_ relationship: RelationshipDescription, of entity: Entity, isNamed: Bool) -> Bool {
    guard let inverse = old.model.inverse(of: relationship) else { return true }
    if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
    let stays = stays(relationship, of: entity)
    return stays == self.stays(inverse, of: old.model.destination(of: relationship)) ? isNamed : stays
  }

  private func stays(_ relationship: RelationshipDescription, of entity: Entity) -> Bool {
    let declaring = comparison.declaring(relationship, of: entity)
    return correspondence.newName(of: relationship.name, inOldEntity: declaring.name) != nil
  }

  private func loss(
    _ relationship: RelationshipDescription, as property: Property, of entity: Entity, to destination: Entity,
    isTaken: Bool
  ) -> (MigrationLoss, leaders: [PairRows]) {
    if let successor = successor(of: relationship, in: destination) {
      let declaring = comparison.declaring(successor, of: destination).name
      if comparison.leadingEnd(of: successor, in: destination) == .inverse, let inverse = successor.inverse {
        return (
          MigrationLoss(
            entity: declaring, property: successor.name,
            what: "contradicts its inverse '\(successor.destination).\(inverse)', which is kept"),
          origins[successor, ofAll: destination].map(\.rows)
        )
      }
      return (
        MigrationLoss(
          entity: declaring, property: successor.name, what: "leads to objects that aren't its destination's"), []
      )
    }
    if isTaken {
      return (MigrationLoss(entity: destination.name, property: relationship.name, what: Self.notOfEntity), [])
    }
    return (
      MigrationLoss(
        entity: correspondence.newName(ofEntity: property.declaringEntity) ?? destination.name,
        property: relationship.name, what: Self.removed), []
    )
  }
}
