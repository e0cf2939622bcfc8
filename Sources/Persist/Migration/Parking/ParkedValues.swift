import Foundation

/// Parks values in a store and restores them, within the transaction of a migration in place.
package struct ParkedValues {
  package let connection: any MigrationConnection
  package let registry: ModelRegistry?
  /// The slots that the store had before the migration.
  package var slots: [ParkedSlot]
  /// The entities of whose objects the model before the migration doesn't know the order of members, by slot.
  var unordered: [Int: [Entity]] = Dictionary()
  /// The same for the order of the inverse.
  var inverselyUnordered: [Int: [Entity]] = Dictionary()

  /// The numbers of the slots for which the former model had a value that stood in.
  var replaceable: Set<Int> = []

  /// The slots whose values remain in columns after the changes.
  var columns: [ParkedSlot] = []

  /// Whether the store may have parked values.
  private(set) var isUsed: Bool
  /// Whether it may have had some before.
  private let wasUsed: Bool

  /// - Parameter catalog: The catalog of the store before the migration.
  package init(_ connection: any MigrationConnection, registry: ModelRegistry?, catalog: StoreCatalog) throws {
    self.connection = connection
    self.registry = registry
    isUsed = catalog.canHaveParkedValues
    wasUsed = isUsed
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
    let comparisons = try ParkingComparisons(slots, with: version, registry: registry, inspector: connection)
    for slot in slots {
      guard let (comparison, entity) = comparisons.subject(of: slot) else { continue }
      switch slot.kind {
      case .object: continue
      case .attribute:
        guard let (table, column, _) = Self.standIn(of: slot, in: entity, comparedBy: comparison, map: map) else {
          continue
        }
        replaceable.insert(slot.number)
        try connection.execute(ParkedValueStatement.dropReplaced(slot, table: table, column: column))
      case .relationship:
        let standIns = Self.standInPairs(of: slot, in: entity, comparedBy: comparison, map: map)
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
    guard wasUsed else { return }
    try connection.execute(
      ParkedValueStatement.dropTriggers(schema.triggers.map(\.name).filter(ParkedSlot.isTrigger)))
  }

  /// Lets the parked values of an object be deleted with it, whoever deletes it.
  func createTriggers(_ slots: [ParkedSlot], _ comparisons: ParkingComparisons, in map: TableMap) throws {
    var numbers: [String: [Int]] = [:]
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
  /// - Returns: The number of restored values, the tables that contain them, and the number of parked pairs that the
  ///   new version has without them.
  ///
  /// - Parameter former: The comparison of the model before with the new one; nil if the store had the new one.
  package func settle(
    in map: TableMap, _ version: ModelVersion, after former: ModelComparison? = nil
  ) throws -> (count: Int, tables: Set<String>, redundant: Int) {
    guard isUsed else { return (0, [], 0) }
    let present = try connection.parkedSlots()
    let comparisons = try ParkingComparisons(present, with: version, registry: registry, inspector: connection)
    let (count, tables) = try restore(in: map, by: comparisons, after: former)
    var redundant = 0
    for slot in slots.isEmpty ? present : try connection.parkedSlots() {
      let kept = try recordStandIns(slot, comparisons, in: map)
      if !slots.contains(slot) { redundant += kept }
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
    try createTriggers(remaining, comparisons, in: map)
    try removeEmptyTables(remaining)
    return (count, tables, redundant)
  }

  /// - Returns: The number of pairs that needn't be parked.
  private func recordStandIns(_ slot: ParkedSlot, _ comparisons: ParkingComparisons, in map: TableMap) throws -> Int {
    guard let (comparison, entity) = comparisons.subject(of: slot) else { return 0 }
    switch slot.kind {
    case .object: return 0
    case .attribute:
      guard let (table, column, _) = Self.standIn(of: slot, in: entity, comparedBy: comparison, map: map) else {
        return 0
      }
      try connection.execute(ParkedValueStatement.recordStandIns(slot, table: table, column: column))
      return 0
    case .relationship:
      let standIns = Self.standInPairs(of: slot, in: entity, comparedBy: comparison, map: map)
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

  package static func standIn(
    of slot: ParkedSlot, in entity: Entity, comparedBy comparison: ParkingComparison, map: TableMap
  ) -> (table: String, column: String, attribute: AttributeDescription)? {
    guard let (source, property) = comparison.standIn(ofAttribute: slot.property, in: entity),
      source.attribute(named: property)?.isDerived != true,
      let column = map.column(ofAttribute: property, slot.path, in: source),
      case .attribute(let attribute) = column.role
    else { return nil }
    return (map[source].table, column.name, attribute)
  }

  /// The pairs that stand in for those of a slot, by the entity whose objects have them.
  package static func standInPairs(
    of slot: ParkedSlot, in entity: Entity, comparedBy comparison: ParkingComparison, map: TableMap
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
}

extension ParkedSlot {
  /// The digest by which slots name a model.
  package static func digest(of model: ManagedObjectModel) -> String {
    model.description.digest.hexadecimalDigits
  }

  /// The names from a composite attribute to the element.
  package var path: [String] { elements.dottedKeys }
}
