/// How a join table of the new layout comes about.
struct JoinPlan: Sendable {
  enum Source: Sendable, Hashable {
    case new
    /// The old table becomes the new one; seen from the new one's first side.
    case becomes(TableMap.JoinEnd)
    /// The pairs stand elsewhere; seen from the new one's first side.
    case pairs(PairSource)
  }

  let table: TableMap.JoinTable
  let source: Source

  /// The old join table that becomes the new one.
  var oldTable: String? { if case .becomes(let end) = source { end.table } else { nil } }
}

extension InPlacePlanner {
  func planJoinTables() -> [JoinPlan] {
    var taken = Set<String>()
    return new.joinTables.map { table in
      var source = joinSource(of: table)
      if case .becomes(let end) = source, !taken.insert(end.table).inserted { source = .new }
      return JoinPlan(table: table, source: source)
    }
  }

  private func joinSource(of table: TableMap.JoinTable) -> JoinPlan.Source {
    for side in [table.first, table.second] {
      guard let declaring = new.model.entitiesByName[side.entity] else { continue }
      for entity in new.model.hierarchy(of: declaring) {
        guard let relationship = entity.relationship(named: side.relationship) else { continue }
        let isTurned = side != table.first
        switch transfer(relationship, of: entity) {
        case .none, .columns: continue
        case .joinTable(let end) where end.isReflexive == table.isReflexive:
          return .becomes(isTurned ? end.turned : end)
        case .joinTable(let end):
          let pairs = PairSource(
            table: end.table, owner: end.ownColumn, member: end.memberColumn, place: end.orderColumn,
            inversePlace: end.inverseOrderColumn)
          return .pairs(isTurned ? pairs.turned : pairs)
        case .pairs(let pairs): return .pairs(isTurned ? pairs.turned : pairs)
        }
      }
    }
    return .new
  }

  mutating func reshape(_ join: JoinPlan) {
    let subject = InPlaceWork.Subject(join.table.first.entity, join.table.first.relationship)
    guard let definition = definitions[join.table.name],
      let owner = new.model.entitiesByName[join.table.first.entity],
      let member = new.model.entitiesByName[join.table.second.entity]
    else { return }
    switch join.source {
    case .new: work.add(.createTable(definition), in: .create, for: subject)
    case .pairs(let pairs):
      work.add(.createTable(definition), in: .create, for: subject)
      let target = PairTarget(
        table: join.table.name, owner: join.table.first.column, member: join.table.second.column,
        place: pairs.place == nil ? nil : join.table.first.orderColumn,
        inversePlace: pairs.inversePlace == nil ? nil : join.table.second.orderColumn,
        owners: pairEnd(owner), members: pairEnd(member), isReflexive: join.table.isReflexive)
      work.add(.join(target, from: stage(pairs, subject)), in: .link, for: subject)
      takePlaces(join, has: (pairs.place != nil, pairs.inversePlace != nil), subject)
    case .becomes(let end): reshape(join, from: end, to: definition, subject)
    }
  }

  private mutating func reshape(
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
            definition: definition, kept: real.columns.filter { !known.contains($0.name.foldedIdentifier) },
            values: definition.columns.map { column in
              .init(column.name, added.contains(column) ? .constant(.null) : .column(column.name))
            }, temporaryName: temporaryName(for: join.table.name))), in: .reshape, for: subject)
    } else {
      for column in added {
        work.add(.addColumn(column, default: .null, table: join.table.name), in: .reshape, for: subject)
      }
      for column in doomed { work.add(.dropColumn(column, table: join.table.name), in: .reshape, for: subject) }
    }
    takePlaces(join, has: (end.orderColumn != nil, end.inverseOrderColumn != nil), subject)
  }

  /// Members without an order yet get one by their keys.
  private mutating func takePlaces(_ join: JoinPlan, has: (Bool, Bool), _ subject: InPlaceWork.Subject) {
    let (first, second) = (join.table.first, join.table.second)
    if let place = first.orderColumn, !has.0 {
      work.add(
        .takePlaces(table: join.table.name, owner: first.column, member: second.column, place: place),
        in: .complete, for: subject)
    }
    if let place = second.orderColumn, !has.1, place != first.orderColumn {
      work.add(
        .takePlaces(table: join.table.name, owner: second.column, member: first.column, place: place),
        in: .complete, for: subject)
    }
  }
}

extension TableMap.JoinEnd {
  /// The same table from its other end.
  fileprivate var turned: TableMap.JoinEnd {
    TableMap.JoinEnd(
      table: table, ownColumn: memberColumn, memberColumn: ownColumn, orderColumn: inverseOrderColumn,
      inverseOrderColumn: orderColumn, isReflexive: isReflexive)
  }
}
