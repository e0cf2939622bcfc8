/// The derivation of a join table of the new layout.
struct JoinPlan: Sendable {
  indirect enum Source: Sendable, Equatable {
    case new
    /// The old table becomes the new one; from the perspective of the new one's first side.
    case becomes(PairOrigin, TableMap.JoinEnd)
    /// The pairs are stored elsewhere; from the perspective of the new one's first side.
    case pairs([PairOrigin])
  }

  let table: TableMap.JoinTable
  let source: Source

  /// The old join table that becomes the new one.
  var oldTable: String? { if case .becomes(_, let end) = source { end.table } else { nil } }
}

extension InPlacePlanner {
  func planJoinTables() -> [JoinPlan] { new.joinTables.map { JoinPlan(table: $0, source: joinSource(of: $0)) } }

  private func joinSource(of table: TableMap.JoinTable) -> JoinPlan.Source {
    guard let declaring = new.model.entitiesByName[table.first.entity],
      let relationship = declaring.relationship(named: table.first.relationship)
    else { return .new }
    let found = origins[relationship, ofAll: declaring]
    guard let only = found.first else { return .new }
    guard found.count == 1, case .join(let end) = only.place, end.isReflexive == table.isReflexive,
      origins.takesOver(only, relationship, of: declaring)
    else { return .pairs(found) }
    return .becomes(only, end)
  }

  func reshape(_ join: JoinPlan) {
    let subject = InPlaceWork.Subject(join.table.first.entity, join.table.first.relationship)
    guard let definition = definitions[join.table.name],
      let owner = new.model.entitiesByName[join.table.first.entity],
      let member = new.model.entitiesByName[join.table.second.entity]
    else { return }
    switch join.source {
    case .new: work.add(.createTable(definition), in: .create, for: subject)
    case .pairs(let found):
      work.add(.createTable(definition), in: .create, for: subject)
      for origin in found {
        let target = PairTarget(
          table: join.table.name, owner: join.table.first.column, member: join.table.second.column,
          place: origin.pairs.place == nil ? nil : join.table.first.orderColumn,
          inversePlace: origin.pairs.inversePlace == nil ? nil : join.table.second.orderColumn,
          owners: pairEnd(owner, of: origin.owners), members: pairEnd(member, of: origin.members),
          isReflexive: join.table.isReflexive)
        work.add(.join(target, from: stage(origin.pairs, subject)), in: .link, for: subject)
      }
      // Positions from several relationships aren't valid in the combined one.
      let isOne = found.count == 1
      assignPositions(
        join,
        has: (
          isOne && found.allSatisfy { $0.pairs.place != nil },
          isOne && found.allSatisfy { $0.pairs.inversePlace != nil }
        ), subject)
    case .becomes(_, let end): reshape(join, from: end, to: definition, subject)
    }
  }

  private func reshape(
    _ join: JoinPlan, from end: TableMap.JoinEnd, to definition: TableDefinition, _ subject: InPlaceWork.Subject
  ) {
    guard let real = schema.table(named: end.table) else { return }
    let matches: [(old: String?, new: String?)] = [
      (end.ownColumn, join.table.first.column), (end.memberColumn, join.table.second.column),
      (end.orderColumn, join.table.first.orderColumn), (end.inverseOrderColumn, join.table.second.orderColumn),
    ]
    var renames: [RenameSequence.Rename] = []
    for match in matches {
      if let old = match.old, let new = match.new, !renames.contains(where: { $0.old == old }) {
        renames.append(.init(old: old, new: new))
      }
    }
    let taken = Set((real.columns.map(\.name) + definition.columns.map(\.name)).map(\.foldedIdentifier))
    var doomed: [String] = []
    for column in [end.orderColumn, end.inverseOrderColumn].compactMap({ $0 })
    where !renames.contains(where: { $0.old == column }) && !doomed.contains(column) {
      if definition.columns.contains(where: { $0.name.foldedIdentifier == column.foldedIdentifier }) {
        let aside = freeName("Z_OLD", taken: taken)
        renames.append(.init(old: column, new: aside))
        doomed.append(aside)
      } else {
        doomed.append(column)
      }
    }
    var number = 0
    let steps = RenameSequence.ordered(renames, taken: real.columns.map(\.name)) {
      number += 1
      return freeName("Z_MOVING_\(number)", taken: taken)
    }
    for step in steps {
      work.add(.renameColumn(step.old, to: step.new, table: join.table.name), in: .rename, for: subject)
    }
    let present = Set(renames.map(\.new.foldedIdentifier))
    let added = definition.columns.filter { !present.contains($0.name.foldedIdentifier) }
    let isTurned = old.joinTables.first { $0.name == end.table }.map { $0.first.column != end.ownColumn } ?? false
    if isTurned || doomed.count > (canDropColumns ? 1 : 0) {
      let known = Set(
        [end.ownColumn, end.memberColumn, end.orderColumn, end.inverseOrderColumn].map { $0?.foldedIdentifier })
      work.add(
        .rebuildTable(
          TableRebuild(
            definition: definition,
            former: real.columns.map { column in
              .init(
                name: renames.first { $0.old.foldedIdentifier == column.name.foldedIdentifier }?.new ?? column.name,
                declaredType: column.declaredType)
            },
            kept: real.columns.filter { !known.contains($0.name.foldedIdentifier) },
            values: definition.columns.map { column in
              .init(column.name, added.contains(column) ? .constant(.null) : .column(column.name))
            }, temporaryName: temporaryName(for: join.table.name))), in: .reshape, for: subject)
    } else {
      for column in added {
        work.add(.addColumn(column, default: .null, table: join.table.name), in: .reshape, for: subject)
      }
      for column in doomed { work.add(.dropColumn(column, table: join.table.name), in: .reshape, for: subject) }
    }
    assignPositions(join, has: (end.orderColumn != nil, end.inverseOrderColumn != nil), subject)
  }

  /// Assigns positions after the others to members without one, in the order of their keys.
  private func assignPositions(_ join: JoinPlan, has: (Bool, Bool), _ subject: InPlaceWork.Subject) {
    let (first, second) = (join.table.first, join.table.second)
    if let place = first.orderColumn, !has.0 {
      work.add(
        .assignPositions(table: join.table.name, owner: first.column, member: second.column, place: place),
        in: .complete, for: subject)
    }
    if let place = second.orderColumn, !has.1, place != first.orderColumn {
      work.add(
        .assignPositions(table: join.table.name, owner: second.column, member: first.column, place: place),
        in: .complete, for: subject)
    }
  }
}
