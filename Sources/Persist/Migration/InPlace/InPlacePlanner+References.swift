extension InPlacePlanner {
  /// Keys of rows that go are forgotten by what led to them.
  mutating func severRowsThatGo() {
    for entity in new.model.entities {
      for relationship in entity.relationships {
        guard let old = oldRelationship(relationship, of: entity) else { continue }
        let members = rowsThatGo(
          of: self.old.model.destination(of: old.relationship), unlessKindOf: new.model.destination(of: relationship))
        let subject = InPlaceWork.Subject(declaring(relationship, of: entity).name, relationship.name)
        switch transfer(relationship, of: entity) {
        case .columns(let columns):
          sever(columns, subject, relationship.isToMany ? rowsThatGo(of: old.entity, unlessKindOf: entity) : members)
        case .joinTable(let end):
          countOutOfReach(members, in: end.table, end.memberColumn, subject)
          unjoin(end.table, end.ownColumn, rowsThatGo(of: old.entity, unlessKindOf: entity))
          unjoin(end.table, end.memberColumn, members)
        // Where the members' own rows name their owner, the inverse tells of them.
        case .pairs(let pairs) where pairs.member != "Z_PK":
          countOutOfReach(members, in: pairs.table, pairs.member, subject)
        case .pairs, .none: break
        }
      }
    }
  }

  private mutating func sever(
    _ columns: RelationshipTransfer.Columns, _ subject: InPlaceWork.Subject, _ rows: [String: [Int]]
  ) {
    countOutOfReach(rows, in: columns.table, columns.key, subject)
    for (target, numbers) in rows {
      work.add(
        .sever(
          table: columns.table, column: columns.key, beside: columns.besideKey, target: target,
          entityNumbers: numbers), in: .sever, for: subject)
    }
  }

  /// Rows that go are a loss of their own; others stay, and are only out of this relationship's reach.
  private mutating func countOutOfReach(
    _ rows: [String: [Int]], in table: String, _ column: String, _ subject: InPlaceWork.Subject
  ) {
    for (target, numbers) in rows {
      let staying = moves.filter { $0.destination != nil && numbers.contains($0.sourceNumber) }.map(\.sourceNumber)
      guard !staying.isEmpty else { continue }
      work.lose(
        .leadingTo(table, column: column, target: target, entityNumbers: staying.sorted()),
        MigrationLoss(
          entity: subject.entity, property: subject.property, what: "leads to objects that aren't its destination's"))
    }
  }

  private mutating func unjoin(_ table: String, _ column: String, _ rows: [String: [Int]]) {
    for (target, numbers) in rows {
      work.add(.unjoin(table: table, column: column, target: target, entityNumbers: numbers), in: .sever)
    }
  }

  /// The numbers of old entities that a relationship led to and that aren't where it leads now, by their table.
  func rowsThatGo(of old: Entity, unlessKindOf new: Entity) -> [String: [Int]] {
    let hierarchy = Set(self.old.model.hierarchy(of: old).map(\.name))
    let gone = moves.filter { move in
      hierarchy.contains(move.source.name) && move.destination.map { $0.isKind(of: new) } != true
        && !move.source.isAbstract
    }
    return Dictionary(grouping: gone, by: \.sourceTable).mapValues { $0.map(\.sourceNumber).sorted() }
  }

  /// Columns of relationships that come from elsewhere than a column.
  mutating func completeReferences(of plan: TablePlan) {
    let uses = new.columnUses(of: plan.root)
    for (column, uses) in uses.sorted(by: { $0.key < $1.key }) {
      for (_, use) in uses.sorted(by: { $0.key < $1.key }) {
        guard case .reference(let reference) = use, let owner = new.model.entitiesByName[reference.entity],
          let name = new.layout[plan.name]?.first(where: { $0.name.foldedIdentifier == column })?.name
        else { continue }
        complete(name, reference, of: owner, in: plan)
      }
    }
  }

  private mutating func complete(
    _ column: String, _ reference: ColumnUse.Reference, of owner: Entity, in plan: TablePlan
  ) {
    let relationship = reference.relationship
    let subject = InPlaceWork.Subject(owner.name, relationship.name)
    let transfers = transfers(of: reference)
    if transfers.count > 1, reference.part == .key { refuseMerging(subject) }
    guard let transfer = transfers.first, let key = keyColumn(of: relationship, of: owner) else { return }
    let destination = new.model.destination(of: relationship)
    let target = relationship.isToMany ? owner : destination
    switch (transfer, reference.part) {
    case (.pairs(let pairs), .key):
      let row: KeyTarget.Row = relationship.isToMany ? .member : .owner
      let holder = relationship.isToMany ? destination : declaring(relationship, of: owner)
      work.add(
        .setKeys(
          KeyTarget(
            rows: pairEnd(holder), row: row, column: column,
            place: hasPlace(pairs, row) ? placeColumn(of: relationship, of: owner) : nil, targets: pairEnd(target)),
          from: stage(pairs, subject)), in: .link, for: subject)
      refuseCrowds(pairs, row, subject)
    case (.pairs(let pairs), .place) where hasPlace(pairs, relationship.isToMany ? .member : .owner): break
    case (.pairs, .place):
      work.add(.takePlaces(table: plan.name, owner: key, member: "Z_PK", place: column), in: .complete, for: subject)
    case (.columns(let columns), .place) where columns.place == nil:
      work.add(.takePlaces(table: plan.name, owner: key, member: "Z_PK", place: column), in: .complete, for: subject)
    case (.pairs, .number):
      work.add(
        .takeEntityNumbers(table: plan.name, key: key, number: column, target: new[target].table), in: .complete,
        for: subject)
    case (.columns(let columns), .number) where columns.number == nil:
      work.add(
        .takeEntityNumbers(table: plan.name, key: key, number: column, target: new[target].table), in: .complete,
        for: subject)
    default: break
    }
  }

  /// The rows of an entity and those below it, as they are in the end.
  func pairEnd(_ entity: Entity) -> PairEnd {
    let numbers = new.model.hierarchy(of: entity).map { new[$0].number }.sorted()
    return PairEnd(table: new[entity].table, entityNumbers: entity.superentity == nil ? nil : numbers)
  }

  private func declaring(_ relationship: RelationshipDescription, of owner: Entity) -> Entity {
    owner.property(named: relationship.name).flatMap { new.model.entitiesByName[$0.declaringEntity] } ?? owner
  }

  private func hasPlace(_ pairs: PairSource, _ row: KeyTarget.Row) -> Bool {
    (row == .owner ? pairs.inversePlace : pairs.place) != nil
  }

  private mutating func refuseMerging(_ subject: InPlaceWork.Subject) {
    work.blockers.append(
      MigrationBlocker(
        entity: subject.entity, property: subject.property,
        what: "\(subject.entity).\(subject.property ?? "") brings together relationships without inverse of several "
          + "entities.", fix: "Give the step a mapping model, or give the relationships an inverse before."))
  }

  /// Where one object had many others there is place for one only.
  private mutating func refuseCrowds(_ pairs: PairSource, _ row: KeyTarget.Row, _ subject: InPlaceWork.Subject) {
    let (owner, member) = row == .owner ? (pairs.owner, pairs.member) : (pairs.member, pairs.owner)
    guard owner != "Z_PK" else { return }
    work.require(
      .crowded(pairs.table, owner: owner, member: member),
      else: MigrationBlocker(
        entity: subject.entity, property: subject.property,
        what: "Objects that have several others in a relationship which leads to one only",
        fix: "Give the step a mapping model that chooses one of them."))
  }

  private func keyColumn(of relationship: RelationshipDescription, of owner: Entity) -> String? {
    guard let property = owner.property(named: relationship.name) else { return nil }
    if case .foreignKey(let foreignKey) = new[owner].toMany[property.slot] { return foreignKey.column }
    return new[owner].columns.first { $0.slot == property.slot && $0.role == .toOne }?.name
  }

  private func placeColumn(of relationship: RelationshipDescription, of owner: Entity) -> String? {
    guard let property = owner.property(named: relationship.name) else { return nil }
    if case .foreignKey(let foreignKey) = new[owner].toMany[property.slot] { return foreignKey.orderColumn }
    return new[owner].orderColumns[property.slot]
  }

  /// Puts pairs aside once, whoever takes them.
  mutating func stage(_ pairs: PairSource, _ subject: InPlaceWork.Subject) -> PairStage {
    if let stage = stages[pairs] { return stage }
    let stage = PairStage(number: stages.count + 1)
    stages[pairs] = stage
    work.add(.setAside(pairs, as: stage), in: .setAside, for: subject)
    work.add(.forget(stage), in: .cleanUp, for: subject)
    return stage
  }
}
