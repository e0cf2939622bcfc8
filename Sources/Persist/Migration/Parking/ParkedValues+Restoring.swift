/// Parked values that return.
extension ParkedValues {
  /// Restores the values of the slots that have a place.
  ///
  /// - Parameter isRestored: Whether to restore a slot. The values of an object that remains parked remain with it.
  package func restore(
    in map: TableMap, by comparisons: ParkingComparisons, after former: ModelComparison?,
    where isRestored: (ParkedSlot) -> Bool = { _ in true }
  ) throws -> (count: Int, tables: Set<String>) {
    var restored: (count: Int, tables: Set<String>) = (0, [])
    // The entities, by model, of objects that remain parked: their keys are in use again, for example.
    var withheld: [String: Set<String>] = [:]
    for kind in [ParkedSlot.Kind.object, .attribute, .relationship] {
      // The values parked last are newer than those parked before for the same place.
      for slot in kind == .attribute ? slots.reversed() : slots
      where slot.kind == kind && slot.column == nil && comparisons.isFit(slot) {
        guard let (comparison, entity) = comparisons.subject(of: slot),
          withheld[slot.model]?.isDisjoint(with: comparison.participants(of: slot, entity)) != false
        else { continue }
        if kind == .object, let found = comparison.entity(entity),
          try !isRestored(slot) || connection.firstNumber(.countParkedKeys(slot, in: map[found].table)) != 0
        {
          withheld[slot.model, default: []].insert(slot.entity)
          continue
        }
        guard isRestored(slot),
          let (count, table) = try restore(slot, to: entity, by: comparison, in: map, after: former)
        else { continue }
        restored.count += count
        restored.tables.insert(table)
      }
    }
    return restored
  }

  /// - Returns: nil if the slot has no place in the new version.
  private func restore(
    _ slot: ParkedSlot, to entity: Entity, by comparison: ParkingComparison, in map: TableMap,
    after former: ModelComparison?
  ) throws -> (count: Int, table: String)? {
    switch slot.kind {
    case .object:
      guard let found = comparison.entity(entity) else { return nil }
      let place = map[found]
      let count = try connection.execute(
        ParkedValueStatement.restoreObjects(
          slot, table: place.table, entityNumber: place.number, fills: fills(of: found, comparison, map)))
      try connection.execute(
        ParkedValueStatement.raiseKeyCounter(table: place.table, entityNumber: map[found.root].number))
      try remove(slot)
      return (count, place.table)
    case .attribute:
      guard let place = comparison.place(ofAttribute: slot.property, slot.path, in: entity),
        let column = map.column(ofAttribute: place.property, slot.path, in: place.entity)
      else { return nil }
      let table = map[place.entity].table
      // Values that were set before the rename was declared are newer, and remain.
      if !replaceable.contains(slot.number) {
        let old = former?.formerAttribute(of: place.property, slot.path, in: place.entity)
        let defaults = [place.attribute, old].compactMap { $0 }.compactMap { SQLValue($0.defaultValue, of: $0) }
        try connection.execute(
          ParkedValueStatement.dropSuperseded(
            slot, table: table, column: column.name, defaults: defaults.filter { $0 != .null }))
      }
      let count = try connection.execute(
        ParkedValueStatement.restore(
          slot, table: table, column: column.name, entityNumber: map[place.entity].number, mark: place.mark,
          onlyPresent: !place.isExact))
      if place.isExact {
        try remove(slot)
      } else if place.isReversible {
        // Only the missing values, for which the default stands in, wouldn't come back from here.
        try connection.execute(.dropRestoredValues(slot, table: table))
      }
      return (count, table)
    case .relationship:
      guard let place = comparison.place(ofRelationship: slot.property, of: entity),
        let result = try restorePairs(slot, to: place, by: comparison, in: map)
      else { return nil }
      if place.isExact { try remove(slot) }
      return result
    }
  }

  func remove(_ slot: ParkedSlot) throws {
    for sql in SharedSQL.removeParkedSlot(slot) { try connection.execute(sql) }
  }

  /// The values of restored objects before their parked ones: the defaults of attributes that they didn't have or had
  /// no value for although the new model requires one, and null for everything else, because a column can have a
  /// default of its own.
  private func fills(
    of entity: Entity, _ comparison: ParkingComparison, _ map: TableMap
  ) -> [ParkedValueStatement.Fill] {
    var defaults: [String: SQLValue] = [:]
    for column in map[entity].columns {
      let path = entity.property(named: column.property)?.elements.first { $0.slot == column.slot }?.path.dropFirst()
      guard case .attribute(let attribute) = column.role, !attribute.isDerived,
        let origin = comparison.there.correspondence.origin(of: column.property, in: entity.name),
        let value = origin.fill.flatMap({ SQLValue($0.element(at: path ?? []), of: attribute) })
      else { continue }
      defaults[column.name] = value
    }
    return (map.layout[map[entity].table] ?? []).map {
      ParkedValueStatement.Fill(column: $0.name, value: defaults[$0.name] ?? .null)
    }
  }

  private func restorePairs(
    _ slot: ParkedSlot, to place: ParkingComparison.RelationshipPlace, by comparison: ParkingComparison,
    in map: TableMap
  ) throws -> (count: Int, table: String)? {
    let destination = map.model.destination(of: place.relationship)
    guard let property = place.entity.property(named: place.relationship.name),
      let pairs = map.pairs(of: property, in: place.entity)
    else { return nil }
    let (owners, members) = (map.end(place.entity), map.end(destination))
    let count: Int
    if place.relationship.isToMany, case .join(let end) = map[place.entity].toMany[property.slot] {
      count = try connection.execute(
        .restorePairs(
          slot,
          into: PairTarget(
            table: end.table, owner: end.ownColumn, member: end.memberColumn, place: end.orderColumn,
            inversePlace: end.inverseOrderColumn, owners: owners, members: members, isReflexive: end.isReflexive)))
    } else if place.relationship.isToMany {
      guard case .foreignKey(let key) = map[place.entity].toMany[property.slot] else { return nil }
      let target = KeyTarget(
        rows: members, row: .member, column: key.column, place: key.orderColumn, targets: owners)
      count = try connection.execute(.restoreKeys(slot, into: target, taken: nil))
      try takeNumbers(key.entityColumn, beside: key.column, of: key.table, from: owners.table)
    } else {
      let inverse = map.model.inverse(of: place.relationship).flatMap { destination.property(named: $0.name) }
      let taken = inverse.flatMap { inverse in
        map[destination].columns.first { $0.slot == inverse.slot && $0.role == .toOne }?.name
      }
      let target = KeyTarget(
        rows: owners, row: .owner, column: pairs.member, place: pairs.inversePlace, targets: members)
      count = try connection.execute(.restoreKeys(slot, into: target, taken: taken))
      let number = map[place.entity].columns.first { $0.property == property.name && $0.role == .toOneEntity }
      try takeNumbers(number?.name, beside: pairs.member, of: pairs.table, from: members.table)
    }
    let owned = (unordered[slot.number] ?? []).compactMap(comparison.entity)
    if let column = pairs.place, !owned.isEmpty {
      try connection.execute(.restoreOrder(slot, pairs, of: map.rows(owned), place: column, inverse: false))
    }
    let inverse = (inverselyUnordered[slot.number] ?? []).compactMap(comparison.entity)
    if let column = pairs.inversePlace, !inverse.isEmpty {
      try connection.execute(.restoreOrder(slot, pairs, of: map.rows(inverse), place: column, inverse: true))
    }
    return (count, pairs.table)
  }

  private func takeNumbers(_ number: String?, beside key: String, of table: String, from target: String) throws {
    guard let number else { return }
    try connection.apply(.takeEntityNumbers(table: table, key: key, number: number, target: target))
  }
}
