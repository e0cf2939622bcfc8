import Foundation

/// Parks values in a store and restores them, within the transaction of a migration in place.
package struct ParkedValues {
  let connection: any MigrationConnection
  let registry: ModelRegistry?
  /// The slots that the store had before the migration.
  package var slots: [ParkedSlot]
  /// The entities of whose objects the model before the migration doesn't know the order of members, by slot.
  private var unordered: [Int: [Entity]] = Dictionary()
  /// The same for the order of the inverse.
  private var inverselyUnordered: [Int: [Entity]] = Dictionary()

  /// The slots whose values others stood in for in the model before the migration.
  private var replaceable: Set<Int> = []

  /// The slots whose values remain in columns after the changes.
  var columns: [ParkedSlot] = []

  /// Whether the store may have parked values.
  private(set) var isUsed: Bool

  /// - Parameter catalog: The catalog of the store before the migration.
  package init(_ connection: any MigrationConnection, _ registry: ModelRegistry?, _ catalog: StoreCatalog) throws {
    self.connection = connection
    self.registry = registry
    isUsed = catalog.canHaveParkedValues
    slots = try isUsed ? connection.parkedSlots() : []
    columns = slots.filter { $0.column != nil }
  }

  /// Deletes everything that is parked.
  mutating func discard() throws {
    guard !slots.isEmpty else { return }
    for table in ParkedSlot.Table.all { try connection.execute(.dropParking(table)) }
    (slots, columns, isUsed) = ([], [], false)
  }

  // MARK: Before the changes

  /// Deletes parked values that were replaced since: the value that stood in for them was changed, or the pair was
  /// removed.
  package mutating func forgetReplaced(in map: TableMap, _ version: ModelVersion) throws {
    let comparisons = try ParkingComparisons(slots, with: version, registry, connection)
    for slot in slots {
      guard let (comparison, entity) = comparisons.subject(of: slot) else { continue }
      switch slot.kind {
      case .object: continue
      case .attribute:
        guard let (table, column, _) = Self.standIn(of: slot, entity, comparison, map) else { continue }
        replaceable.insert(slot.number)
        try connection.execute(ParkedValueStatement.dropReplaced(slot, table: table, column: column))
      case .relationship:
        let standIns = Self.standInPairs(of: slot, entity, comparison, map)
        guard !standIns.isEmpty else { continue }
        try connection.execute(.dropReplacedPairs(slot, standIns.flatMap(\.pairs)))
        unordered[slot.number] = standIns.filter { $0.pairs.allSatisfy { $0.place == nil } }.map(\.heir)
        inverselyUnordered[slot.number] = standIns.filter { $0.pairs.allSatisfy { $0.inversePlace == nil } }.map(\.heir)
      }
    }
  }

  /// - Returns: The parked values, objects and pairs, with numbers.
  mutating func park(_ plan: ParkingPlan) throws -> [MigrationLoss] {
    guard !plan.parts.isEmpty else { return [] }
    isUsed = true
    var parked: [MigrationLoss] = []
    try connection.execute(ParkedValueStatement.createTables)
    // A store may have them from an earlier version of Persist.
    try connection.execute(.removeUnusedParkedStates)
    let text = Data(plan.version.model.description.json.utf8)
    let digest = ParkedSlot.digest(of: plan.version.model)
    try connection.execute(.addParkedModel(digest, .blob(text)))
    var number = slots.last?.number ?? 0
    for part in plan.parts {
      number += 1
      var slot = ParkedSlot(
        number: number, kind: part.kind, entity: part.entity, property: part.property, elements: part.elements,
        model: digest, version: plan.version.name)
      let count: Int
      switch part.work {
      case .objects(let table, let entityNumber):
        count = try connection.execute(
          ParkedValueStatement.parkObjects(slot, table: table, entityNumber: entityNumber))
      case .values(let table, let column, let entityNumber, let rows, let areInFiles):
        count = try connection.execute(
          ParkedValueStatement.park(slot, table: table, column: column, entityNumber: entityNumber, rows))
        if areInFiles, count > 0 { try connection.readParkedFiles(of: slot) }
      case .pairs(let rows): count = try connection.execute(.parkPairs(slot, rows))
      case .column(let table, let column, let entityNumber, let kept, let hasMissing):
        count = try connection.count(part.count)
        if hasMissing {
          try connection.execute(
            ParkedValueStatement.park(slot, table: table, column: column, entityNumber: entityNumber, .missing))
        }
        slot.column = ParkedColumn(table: table, name: kept.newColumn, entityNumber: entityNumber)
      }
      guard count > 0 else { continue }
      try connection.execute(.addParkedSlot(slot))
      try connection.execute(.addParkedState(slot, at: Date().timeIntervalSinceReferenceDate))
      if slot.column != nil { columns.append(slot) }
      let content = MigrationLoss(part.kind, entity: part.entity, property: part.property)
      if let index = parked.firstIndex(where: { $0.isSame(as: content) }) {
        parked[index].rows = (parked[index].rows ?? 0) + count
      } else {
        parked.append(content.counting(count))
      }
    }
    try connection.execute(.removeUnusedParkedModels)
    return parked
  }

  /// Records another column of a slot's values; nil if they are in the table of parked values.
  mutating func setColumn(_ column: ParkedColumn?, of slot: ParkedSlot) throws {
    var changed = slot
    changed.column = column
    try connection.execute(.setParkedColumn(changed))
    for index in slots.indices where slots[index].number == slot.number { slots[index] = changed }
    columns.removeAll { $0.number == slot.number }
    if column != nil { columns.append(changed) }
  }

  /// Deletes some of the slots.
  mutating func remove(_ removed: [ParkedSlot]) throws {
    guard !removed.isEmpty else { return }
    for slot in removed { try remove(slot) }
    slots.removeAll { removed.contains($0) }
    columns.removeAll { removed.contains($0) }
    try removeEmptyTables(slots)
    if slots.isEmpty { isUsed = false }
  }

  // MARK: Deleted objects

  /// Removes the triggers that delete the parked values of deleted objects: the tables that they belong to may change.
  package func dropTriggers(_ schema: StoreSchema) throws {
    guard isUsed else { return }
    try connection.execute(
      ParkedValueStatement.dropTriggers(schema.triggers.map(\.name).filter(ParkedSlot.isTrigger)))
  }

  /// Lets the parked values of an object be deleted with it, whoever deletes it.
  func createTriggers(_ slots: [ParkedSlot], _ comparisons: ParkingComparisons, _ map: TableMap) throws {
    var numbers: [String: [Int]] = Dictionary()
    for slot in slots where slot.kind != .object {
      guard let (comparison, entity) = comparisons.subject(of: slot), let found = comparison.anyHeir(of: entity) else {
        continue
      }
      numbers[map[found].table, default: []].append(slot.number)
    }
    for (table, slots) in numbers.sorted(on: \.key) {
      try connection.execute(ParkedValueStatement.createTrigger(table: table, slots: slots.sorted()))
    }
  }

  // MARK: After the changes

  /// Restores the values that have a place in the new version, and records the values that stand in for the others.
  ///
  /// - Returns: The number of restored values, and the tables that contain them.
  ///
  /// - Parameter former: The comparison of the model before with the new one; nil if the store had the new one.
  package func settle(
    in map: TableMap, _ version: ModelVersion, after former: ModelComparison? = nil
  ) throws -> (count: Int, tables: Set<String>, redundant: Int) {
    guard isUsed else { return (0, [], 0) }
    let present = try connection.parkedSlots()
    let comparisons = try ParkingComparisons(present, with: version, registry, connection)
    var restored: (count: Int, tables: Set<String>, redundant: Int) = (0, [], 0)
    // The entities, by model, of objects whose keys are in use again. These objects and their values remain parked.
    var withheld: [String: Set<String>] = Dictionary()
    for kind in [ParkedSlot.Kind.object, .attribute, .relationship] {
      // The values parked last are newer than those parked before for the same place.
      for slot in kind == .attribute ? slots.reversed() : slots
      where slot.kind == kind && slot.column == nil && comparisons.isFit(slot) {
        guard let (comparison, entity) = comparisons.subject(of: slot),
          withheld[slot.model]?.isDisjoint(with: comparison.participants(of: slot, entity)) != false
        else { continue }
        if kind == .object, let found = comparison.entity(entity),
          try connection.firstNumber(.countParkedKeys(slot, in: map[found].table)) != 0
        {
          withheld[slot.model, default: []].insert(slot.entity)
          continue
        }
        guard let (count, table) = try restore(slot, to: entity, by: comparison, in: map, after: former)
        else { continue }
        restored.count += count
        restored.tables.insert(table)
      }
    }
    for slot in slots.isEmpty ? present : try connection.parkedSlots() {
      let redundant = try recordStandIns(slot, comparisons, map)
      if !slots.contains(slot) { restored.redundant += redundant }
    }
    try connection.execute(.removeEmptyParkedSlots)
    try connection.execute(.removeUnusedParkedStates)
    let remaining = try connection.parkedSlots()
    if let former, remaining.contains(where: { $0.kind == .object }) {
      // An entity that is new may be a former one under another name, which will be declared later.
      for root in map.model.entities where root.superentity == nil && former.source(of: root) == nil {
        try connection.execute(
          ParkedValueStatement.raiseKeyCounter(table: map[root].table, entityNumber: map[root].number))
      }
    }
    try createTriggers(remaining, comparisons, map)
    try removeEmptyTables(remaining)
    return restored
  }

  /// - Returns: The number of pairs that needn't be parked.
  private func recordStandIns(_ slot: ParkedSlot, _ comparisons: ParkingComparisons, _ map: TableMap) throws -> Int {
    guard let (comparison, entity) = comparisons.subject(of: slot) else { return 0 }
    switch slot.kind {
    case .object: return 0
    case .attribute:
      guard let (table, column, _) = Self.standIn(of: slot, entity, comparison, map) else { return 0 }
      try connection.execute(ParkedValueStatement.recordStandIns(slot, table: table, column: column))
      return 0
    case .relationship:
      let standIns = Self.standInPairs(of: slot, entity, comparison, map)
      try connection.execute(.recordStandIns(slot, standIns.flatMap(\.pairs)))
      // Pairs that the other model has return without having been parked, unless they have lost their place.
      return comparison.isOrdered(slot.property, of: entity) ? 0 : try connection.execute(.dropKeptPairs(slot))
    }
  }

  /// - Parameter slots: All slots that the store still has.
  private func removeEmptyTables(_ slots: [ParkedSlot]) throws {
    guard isUsed else { return }
    if slots.isEmpty {
      for table in ParkedSlot.Table.all { try connection.execute(.dropParking(table)) }
    } else {
      try connection.execute(.removeUnusedParkedModels)
    }
  }

  static func standIn(
    of slot: ParkedSlot, _ entity: Entity, _ comparison: ParkingComparison, _ map: TableMap
  ) -> (table: String, column: String, attribute: AttributeDescription)? {
    guard let (source, property) = comparison.standIn(ofAttribute: slot.property, in: entity),
      source.attribute(named: property)?.isDerived != true,
      let column = map.column(ofAttribute: property, slot.path, in: source),
      case .attribute(let attribute) = column.role
    else { return nil }
    return (map[source].table, column.name, attribute)
  }

  /// The pairs that stand in for those of a slot, by the entity whose objects have them.
  private static func standInPairs(
    of slot: ParkedSlot, _ entity: Entity, _ comparison: ParkingComparison, _ map: TableMap
  ) -> [(heir: Entity, pairs: [PairSource])] {
    guard let relationship = entity.relationship(named: slot.property) else { return [] }
    return comparison.standIns(ofRelationship: relationship, of: entity).compactMap { heir, standIns in
      let pairs = standIns.compactMap { standIn -> PairSource? in
        let property = standIn.source.property(named: standIn.property)
        let pairs = property.flatMap { map.pairs(of: $0, in: standIn.source) }
        return standIn.isTurned ? pairs?.turned : pairs
      }
      return pairs.isEmpty ? nil : (heir, pairs)
    }
  }

  // MARK: Restoring

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

  private func remove(_ slot: ParkedSlot) throws {
    for sql in SQLText.removeParkedSlot(slot) { try connection.execute(sql) }
  }

  /// The values of restored objects before their parked ones: the defaults of attributes that they didn't have or had
  /// no value for although the new model requires one, and
  /// null for everything else, because a column can have a default of its own.
  private func fills(
    of entity: Entity, _ comparison: ParkingComparison, _ map: TableMap
  ) -> [ParkedValueStatement.Fill] {
    var defaults: [String: SQLValue] = Dictionary()
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

extension ParkedSlot {
  /// The digest by which slots name a model.
  static func digest(of model: ManagedObjectModel) -> String {
    model.description.digest.hexadecimalDigits
  }

  /// The names from a composite attribute to the element.
  var path: [String] { elements.dottedKeys }
}
