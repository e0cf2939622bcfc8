extension TableMapBuilder {
  /// One end of a many-to-many relationship in the model.
  private struct End {
    let entity: Entity
    let relationship: RelationshipDescription
  }

  /// Assigns every many-to-many relationship its join table.
  mutating func placeJoinTables() {
    // Computing the names of join tables takes most of the time, so it is skipped if there are none.
    guard entities.contains(where: { $0.properties.contains { !$0.isToOne && $0.relationship?.inverse != nil } }) else {
      return
    }
    var seen = Set<[String]>()
    var tableAllocator = NameAllocator(names: names, reserving: tables.map(\.name) + names.storeTables)
    var taken = Set(tables.map(\.name.foldedIdentifier))
    let candidates = Dictionary(
      grouping: (names == .coreData ? schema?.tables ?? [] : []).map { (table: $0, name: NumberedName($0.name)) },
      by: \.name.stem)
    for entity in entities {
      for property in entity.ownProperties where !property.isTransient {
        guard let relationship = property.relationship, relationship.isToMany,
          let inverseName = relationship.inverse,
          let inverse = model.destination(of: relationship).property(named: inverseName),
          let inverseRelationship = inverse.relationship, inverseRelationship.isToMany,
          let inverseEntity = model.entitiesByName[inverse.declaringEntity]
        else { continue }
        let own = End(entity: entity, relationship: relationship)
        let other = End(entity: inverseEntity, relationship: inverseRelationship)
        guard !seen.contains([entity.name, relationship.name]) else { continue }
        seen.insert([entity.name, relationship.name])
        seen.insert([inverseEntity.name, inverseRelationship.name])

        let (first, second) = namesTable(own, before: other) ? (own, other) : (other, own)
        let predicted = predictedTable(first, second, tableAllocator: &tableAllocator)
        if schema == nil {
          joinTables.append(predicted)
          continue
        }
        if names == .snakeCase {
          place(predicted, of: own, other)
          continue
        }
        let stems = [first, second].map {
          NumberedName(LayoutNames.join(number: 0, relationship: $0.relationship.name)).stem
        }
        let near = stems.prefix(stems[0] == stems[1] ? 1 : 2).flatMap { candidates[$0] ?? [] }
        if let found = find(
          predicted, between: first, and: second, among: near.filter { !taken.contains($0.table.name.foldedIdentifier) }
        ) {
          taken.insert(found.name.foldedIdentifier)
          joinTables.append(found)
        } else if absent.isDisjoint(with: [own.entity.name, other.entity.name]) {
          differences.append(
            "The store has no join table '\(predicted.name)' for \(own.entity.name).\(relationship.name).")
        }
      }
    }
  }

  /// Whether a join table is named for an end rather than the other: the end of the entity whose name sorts first, and
  /// of two relationships of one entity the one whose name sorts last. Observed in every real store at hand; an
  /// existing store may differ.
  private func namesTable(_ end: End, before other: End) -> Bool {
    end.entity == other.entity
      ? end.relationship.name >= other.relationship.name : end.entity.name < other.entity.name
  }

  /// A join table of a server, whose names contain no entity numbers, so that they are always those of the rules.
  private mutating func place(_ table: TableMap.JoinTable, of own: End, _ other: End) {
    let columns = [table.first.column, table.second.column, table.first.orderColumn, table.second.orderColumn]
    let missing = columns.compactMap { $0 }.filter { schema?.hasColumn($0, of: table.name) != true }
    if schema?.hasTable(named: table.name) == true { joinTables.append(table) }
    guard let name = missing.first, absent.isDisjoint(with: [own.entity.name, other.entity.name]) else { return }
    differences.append(
      "The store has no join table '\(table.name)' with a column '\(name)' for "
        + "\(own.entity.name).\(own.relationship.name).")
  }

  private mutating func predictedTable(
    _ first: End, _ second: End, tableAllocator: inout NameAllocator
  ) -> TableMap.JoinTable {
    if names == .snakeCase {
      let found = LayoutNames.join(
        (first.entity.name, first.relationship.name), (second.entity.name, second.relationship.name))
      return joinTable(tableAllocator.allocate(found.table), between: (first, found.first), and: (second, found.second))
      { $0 }
    }
    let name = tableAllocator.allocate(joinName(of: first, named: first))
    let isReflexive = first.entity == second.entity && first.relationship.name == second.relationship.name
    let firstColumn = allocateColumn(joinName(of: first, named: second), of: first.entity)
    let secondColumn =
      isReflexive ? LayoutNames.reflexive : allocateColumn(joinName(of: second, named: first), of: second.entity)
    return joinTable(name, between: (first, firstColumn), and: (second, secondColumn)) { $0 }
  }

  /// The name that Core Data gives to an end's join table and, with the relationship of the other end, to the column
  /// with the end's keys.
  private func joinName(of end: End, named relationship: End) -> String {
    LayoutNames.join(number: numbers[end.entity], relationship: relationship.relationship.name)
  }

  /// - Parameters:
  ///   - first: One end, with the column of its keys.
  ///   - column: Returns the table's actual name for a name given by the rules; nil if it has no such column.
  private func joinTable(
    _ name: String, between first: (end: End, column: String), and second: (end: End, column: String),
    column: (String) -> String?
  ) -> TableMap.JoinTable {
    func order(_ end: End, by members: String) -> String? {
      end.relationship.isOrdered ? column(names.order(ofMembers: members)) : nil
    }
    return TableMap.JoinTable(
      name: name,
      first: .init(
        entity: first.end.entity.name, relationship: first.end.relationship.name, column: first.column,
        orderColumn: order(first.end, by: second.column)),
      second: .init(
        entity: second.end.entity.name, relationship: second.end.relationship.name, column: second.column,
        orderColumn: order(second.end, by: first.column)))
  }

  /// The predicted table, or else the nearest match.
  private mutating func find(
    _ predicted: TableMap.JoinTable, between first: End, and second: End,
    among candidates: [(table: StoreSchema.Table, name: NumberedName)]
  ) -> TableMap.JoinTable? {
    var best: (rank: Int, table: StoreSchema.Table, isTurned: Bool, columns: (String, String))?
    for (table, name) in candidates {
      for (isTurned, namer) in [(false, first), (true, second)] {
        guard let tableRank = name.distance(from: NumberedName(joinName(of: namer, named: namer))),
          let columns = columns(of: table, as: predicted, between: first, and: second)
        else { continue }
        let rank = tableRank + columns.rank
        if best.map({ rank < $0.rank }) ?? true {
          best = (rank, table, isTurned, (columns.first, columns.second))
        }
      }
    }
    guard let best else { return nil }
    let (firstEnd, secondEnd) = best.isTurned ? (second, first) : (first, second)
    let (firstColumn, secondColumn) = best.isTurned ? (best.columns.1, best.columns.0) : best.columns
    let result = joinTable(best.table.name, between: (firstEnd, firstColumn), and: (secondEnd, secondColumn)) {
      Self.orderColumn(like: $0, of: best.table)
    }
    for (end, side) in [(firstEnd, result.first), (secondEnd, result.second)]
    where end.relationship.isOrdered && side.orderColumn == nil {
      differences.append(
        "Join table '\(result.name)' has no order column for \(side.entity).\(side.relationship).")
    }
    return result
  }

  /// The order column with a name, or else the nearest match.
  private static func orderColumn(like name: String, of table: StoreSchema.Table) -> String? {
    func bare(_ name: String) -> NumberedName? {
      let folded = name.foldedIdentifier
      return folded.hasPrefix("z_fok_") ? NumberedName("z_" + folded.dropFirst(6)) : nil
    }
    if let column = table.column(named: name) { return column.name }
    guard let wanted = bare(name) else { return nil }
    return table.columns
      .compactMap { column in bare(column.name)?.distance(from: wanted).map { (column.name, $0) } }
      .min { $0.1 < $1.1 }?.0
  }

  /// The two key columns of a possible join table, with their distance from the predicted ones.
  private func columns(
    of table: StoreSchema.Table, as predicted: TableMap.JoinTable, between first: End, and second: End
  ) -> (first: String, second: String, rank: Int)? {
    func candidates(_ name: String) -> [(name: String, rank: Int)] {
      let base = NumberedName(name)
      return table.columns.compactMap { column in
        if column.name.foldedIdentifier == name.foldedIdentifier { return (column.name, 0) }
        return NumberedName(column.name).distance(from: base).map { (column.name, $0 + 1) }
      }
    }
    var best: (first: String, second: String, rank: Int)?
    for firstColumn in candidates(joinName(of: first, named: second)) {
      let seconds = candidates(
        predicted.isReflexive ? LayoutNames.reflexive : joinName(of: second, named: first))
      for secondColumn in seconds where secondColumn.name != firstColumn.name {
        let rank = firstColumn.rank + secondColumn.rank
        if best.map({ rank < $0.rank }) ?? true { best = (firstColumn.name, secondColumn.name, rank) }
      }
    }
    return best
  }
}
