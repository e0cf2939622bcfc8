extension InPlacePlanner {
  /// Clears the keys of rows that a relationship no longer relates, before the keys are transferred.
  func clearKeysOfUnrelatedRows(_ joins: [JoinPlan]) {
    for table in new.tables.map(\.table).uniqued where !unchangedTables.contains(table) { clearKeys(inTable: table) }
    for join in joins {
      guard case .becomes(let origin, let end) = join.source else { continue }
      let subject = InPlaceWork.Subject(join.table.first.entity, join.table.first.relationship)
      removePairs(
        of: end.table, by: end.ownColumn, referringTo: origin.ownerTable,
        numbers: origin.allOwners.subtracting(origin.owners),
        for: subject)
      removePairs(
        of: end.table, by: end.memberColumn, referringTo: origin.memberTable,
        numbers: origin.allMembers.subtracting(origin.members),
        for: subject)
    }
  }

  private func clearKeys(inTable table: String) {
    for (_, references) in references(inTable: table) where references[0].part == .key {
      let relationship = references[0].relationship
      var cuts: [(columns: RelationshipTransfer.Columns, rows: Set<Int>)] = []
      for reference in references {
        guard case .columns(let columns) = transfer(of: reference) else { continue }
        let cut = columns.withoutOwners
        if let index = cuts.firstIndex(where: { $0.columns == cut }) {
          cuts[index].rows.formUnion(columns.origin.owners)
        } else {
          cuts.append((cut, columns.origin.owners))
        }
      }
      for (columns, rows) in cuts {
        let origin = columns.origin
        let isToMany = relationship.isToMany
        let target = isToMany ? origin.ownerTable : origin.memberTable
        let gone = isToMany
          ? origin.allOwners.subtracting(rows) : origin.allMembers.subtracting(origin.members)
        guard !gone.isEmpty else { continue }
        let affected: RowCondition = isToMany ? .all : self.rows(rows.sorted(), of: columns.table)
        work.add(
          .sever(
            table: columns.table, column: columns.key, beside: columns.besideKey, target: target,
            entityNumbers: gone.sorted(), where: affected), in: .sever, for: subject(of: references[0]))
      }
    }
  }

  private func removePairs(
    of table: String, by column: String, referringTo target: String, numbers: Set<Int>, for subject: InPlaceWork.Subject
  ) {
    guard !numbers.isEmpty else { return }
    work.add(
      .removePairs(table: table, column: column, target: target, entityNumbers: numbers.sorted()),
      in: .sever, for: subject)
  }

  /// The reference columns of a new table, each with one reference per entity that has it.
  private func references(inTable table: String) -> [(column: String, references: [ColumnUse.Reference])] {
    guard let root = tables[table]?.root else {
      return []
    }
    return newUses[root].sorted(on: \.key).compactMap { folded, uses in
      let found = uses.sorted(on: \.key).compactMap { _, use -> ColumnUse.Reference? in
        if case .reference(let reference) = use { reference } else { nil }
      }.uniqued
      guard !found.isEmpty, let name = new.layout[table]?.first(where: { $0.name.foldedIdentifier == folded })?.name
      else { return nil }
      return (name, found)
    }
  }

  private func subject(of reference: ColumnUse.Reference) -> InPlaceWork.Subject {
    guard let owner = new.model.entitiesByName[reference.entity] else { return .init(reference.entity) }
    return .init(comparison.declaring(reference.relationship, of: owner).name, reference.relationship.name)
  }

  /// Completes relationship columns whose values don't come from a column.
  func completeReferences(of plan: TablePlan) {
    for (column, references) in references(inTable: plan.name) { complete(column, references, in: plan) }
  }

  private func complete(_ column: String, _ references: [ColumnUse.Reference], in plan: TablePlan) {
    let first = references[0]
    guard let owner = new.model.entitiesByName[first.entity] else { return }
    let relationship = first.relationship
    let transfers = references.map(transfer).filter { $0 != .none }
    switch first.part {
    case .key: for (reference, found) in joined(references) { setKeys(column, reference, from: found) }
    case .place:
      guard !transfers.isEmpty, let key = keyColumn(of: relationship, of: owner) else { return }
      let sources = transfers.flatMap { places($0, isToMany: relationship.isToMany) }
      guard sources.contains(nil) || Set(sources).count > 1 else { return }
      work.add(
        .assignPositions(table: plan.name, owner: key, member: "Z_PK", place: column), in: .complete,
        for: subject(of: first))
    case .number:
      let isMissing = transfers.contains { transfer in
        if case .columns(let columns) = transfer { columns.number == nil } else { true }
      }
      guard isMissing, let key = keyColumn(of: relationship, of: owner) else { return }
      let target = relationship.isToMany ? owner : new.model.destination(of: relationship)
      work.add(
        .takeEntityNumbers(table: plan.name, key: key, number: column, target: new[target].table), in: .complete,
        for: subject(of: first))
    }
  }

  /// The position columns that a transfer provides, with their tables; nil for pairs without positions.
  private func places(_ transfer: RelationshipTransfer, isToMany: Bool) -> [[String]?] {
    switch transfer {
    case .none: []
    case .columns(let columns): [columns.place.map { [columns.table, $0] }]
    case .pairs(let found):
      found.map { origin in
        (isToMany ? origin.pairs.place : origin.pairs.inversePlace).map { [origin.pairs.table, $0] }
      }
    }
  }

  // MARK: Keys from pairs

  /// The pairs from which a column is filled, for one entity's rows; equal ones of several entities are merged.
  private func joined(_ references: [ColumnUse.Reference]) -> [(ColumnUse.Reference, [PairOrigin])] {
    references.reduce(into: []) { found, reference in
      guard case .pairs(let origins) = transfer(of: reference) else { return }
      let same = found.firstIndex { _, others in
        others.count == 1 && origins.count == 1
          && (others[0].pairs, others[0].members) == (origins[0].pairs, origins[0].members)
      }
      if let same {
        found[same].1[0].owners.formUnion(origins[0].owners)
      } else {
        found.append((reference, origins))
      }
    }
  }

  private func setKeys(
    _ column: String, _ reference: ColumnUse.Reference, from found: [PairOrigin]
  ) {
    let relationship = reference.relationship
    guard let owner = new.model.entitiesByName[reference.entity] else { return }
    let subject = subject(of: reference)
    let row: KeyTarget.Row = relationship.isToMany ? .member : .owner
    let destination = new.model.destination(of: relationship)
    let order = placeColumn(of: relationship, of: owner)
    for origin in found {
      let owners = pairEnd(owner, of: origin.owners)
      let members = pairEnd(destination, of: origin.members)
      let hasPlace = (row == .owner ? origin.pairs.inversePlace : origin.pairs.place) != nil
      work.add(
        .setKeys(
          KeyTarget(
            rows: row == .owner ? owners : members, row: row, column: column, place: hasPlace ? order : nil,
            targets: row == .owner ? members : owners), from: stage(origin.pairs, subject)), in: .link, for: subject)
    }
  }

  /// The rows of a new hierarchy that those of old entity numbers become, in their final form.
  func pairEnd(_ entity: Entity, of oldNumbers: Set<Int>) -> PairEnd {
    let numbers = Set(oldNumbers.compactMap { origins.destination(ofNumber: $0).map { new[$0].number } })
    let all = Set(new.model.hierarchy(of: entity.root).map { new[$0].number })
    return PairEnd(table: new[entity].table, entityNumbers: numbers == all ? nil : numbers.sorted())
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

  /// Stages pairs once, for all their users.
  func stage(_ pairs: PairSource, _ subject: InPlaceWork.Subject) -> PairStage {
    if let stage = stages[pairs] { return stage }
    let stage = PairStage(number: stages.count + 1)
    stages[pairs] = stage
    work.add(.setAside(pairs, as: stage), in: .setAside, for: subject)
    work.add(.forget(stage), in: .cleanUp, for: subject)
    return stage
  }
}

extension RelationshipTransfer.Columns {
  /// The same columns for any owners, to find transfers that differ only in their owners.
  fileprivate var withoutOwners: Self {
    var origin = origin
    origin.owners = []
    return Self(origin: origin, table: table, key: key, number: number, place: place)
  }
}

extension Array where Element: Hashable {
  /// The distinct elements in order.
  fileprivate var uniqued: [Element] {
    var seen = Set<Element>()
    return filter { seen.insert($0).inserted }
  }
}
