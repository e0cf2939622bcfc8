/// Parked values that return.
extension ParkedValues {
  /// Restores the values of the slots that have a place.
  ///
  /// - Parameter isRestored: Whether to restore a slot. Values of objects that remain parked do, too.
  func restore(
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
    for sql in SQLText.removeParkedSlot(slot) { try connection.execute(sql) }
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

// MARK: Beside another model

extension ParkedValues {
  /// The model that a store serves beside the one with the places, and its layout.
  package struct Neighbor {
    let map: TableMap
    let version: ModelVersion
    /// Whether programs with the neighbor never write a column, and no trigger computes it.
    let hasNoPart: (_ table: String, _ column: String) -> Bool

    package init(_ map: TableMap, _ version: ModelVersion, hasNoPart: @escaping (String, String) -> Bool) {
      (self.map, self.version, self.hasNoPart) = (map, version, hasNoPart)
    }
  }

  /// Parked values of an attribute that only one of two models has, and their place.
  package struct Returning: Sendable {
    package let slot: ParkedSlot
    package let table: String
    package let column: String
    package let type: TableMap.ColumnType
    package let entityNumber: Int
    package let mark: MarkChange
    /// Whether missing values remain as they are.
    package let onlyPresent: Bool
    /// The values that objects without another one have; null isn't among them.
    package let defaults: [SQLValue]
  }

  /// Prepares the return of values that may take long, and that nobody else writes: they are in the table of parked
  /// values afterward, and also remain parked until ``restore(in:_:beside:)``.
  ///
  /// - Returns: The values that can be copied before that, in any order and any number of times.
  package mutating func prepareReturn(
    to map: TableMap, _ version: ModelVersion, beside neighbor: Neighbor
  ) throws -> [Returning] {
    guard !slots.isEmpty else { return [] }
    let comparisons = try ParkingComparisons(slots, with: version, registry, connection)
    let present = try ParkingComparisons(slots, with: neighbor.version, registry, connection)
    // The values parked last are newer, and remain.
    let found = slots.reversed().compactMap { slot -> Returning? in
      guard slot.kind == .attribute, present.admits(slot, into: map, by: comparisons, neighbor),
        let (comparison, entity) = comparisons.subject(of: slot),
        let place = comparison.place(ofAttribute: slot.property, slot.path, in: entity),
        let column = map.column(ofAttribute: place.property, slot.path, in: place.entity)
      else { return nil }
      let table = map[place.entity].table
      guard neighbor.hasNoPart(table, column.name) else { return nil }
      let standard = SQLValue(place.attribute.defaultValue, of: place.attribute)
      return Returning(
        slot: slot, table: table, column: column.name, type: column.type, entityNumber: map[place.entity].number,
        mark: place.mark, onlyPresent: !place.isExact, defaults: [standard].compactMap { $0 }.filter { $0 != .null })
    }
    let numbers = Set(found.map(\.slot.number))
    try collect { slot, _ in numbers.contains(slot.number) }
    return found
  }

  /// Restores what has a place beside another model, whose programs go on.
  ///
  /// Values for which others stand in there remain parked if these couldn't follow: the neighbor then goes on seeing
  /// the others. The tables of parked values and their triggers remain as they are, since changing these would exclude
  /// readers.
  package mutating func restore(in map: TableMap, _ version: ModelVersion, beside neighbor: Neighbor) throws {
    guard !slots.isEmpty else { return }
    try forgetReplaced(in: neighbor.map, neighbor.version)
    let comparisons = try ParkingComparisons(slots, with: version, registry, connection)
    let present = try ParkingComparisons(slots, with: neighbor.version, registry, connection)
    let returning = Set(slots.filter { present.admits($0, into: map, by: comparisons, neighbor) }.map(\.number))
    try collect { slot, _ in returning.contains(slot.number) }
    _ = try restore(in: map, by: comparisons, after: nil) { returning.contains($0.number) }
    try connection.execute(.removeEmptyParkedSlots)
    try connection.execute(.removeUnusedParkedStates)
  }
}

extension ParkingComparisons {
  /// Whether the values of a slot may return to a layout without being in the way of the model of these comparisons.
  ///
  /// - Parameter there: The comparisons with the model that has the places.
  fileprivate func admits(
    _ slot: ParkedSlot, into map: TableMap, by there: ParkingComparisons, _ neighbor: ParkedValues.Neighbor
  ) -> Bool {
    guard there.isFit(slot), let (comparison, entity) = subject(of: slot), let (other, _) = there.subject(of: slot)
    else { return false }
    switch slot.kind {
    case .object: return comparison.entity(entity) == nil && !comparison.isCrossed(entity)
    case .attribute:
      // Programs with the neighbor don't see the object.
      guard comparison.entity(entity) != nil || comparison.isCrossed(entity) else { return true }
      guard ParkedValues.standIn(of: slot, entity, comparison, neighbor.map) == nil else {
        return isFit(slot) && comparison.place(ofAttribute: slot.property, slot.path, in: entity) != nil
      }
      guard let place = other.place(ofAttribute: slot.property, slot.path, in: entity),
        let column = map.column(ofAttribute: place.property, slot.path, in: place.entity)
      else { return false }
      return neighbor.hasNoPart(map[place.entity].table, column.name)
    case .relationship:
      if comparison.place(ofRelationship: slot.property, of: entity) != nil { return true }
      guard ParkedValues.standInPairs(of: slot, entity, comparison, neighbor.map).isEmpty,
        let place = other.place(ofRelationship: slot.property, of: entity),
        let property = place.entity.property(named: place.relationship.name),
        let pairs = map.pairs(of: property, in: place.entity)
      else { return false }
      return [pairs.owner, pairs.member].allSatisfy { neighbor.hasNoPart(pairs.table, $0) }
    }
  }
}
