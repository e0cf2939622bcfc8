import Persist

/// The comparison of what a migration has parked in a copy of a store with the store: it has the store's values, and
/// nothing that has no other place is missing.
///
/// Further values of a place of which the store had parked some before aren't compared with the store.
struct ParkedArrivals {
  private let before: StoreContents
  private let former: ParkedMarks
  private let after: StoreContents
  private let reader: ParkedReader
  private let newMap: TableMap
  private static let groupSize = 100

  /// - Parameters:
  ///   - before: The store.
  ///   - former: Its parked values.
  ///   - after: The migrated copy.
  ///   - reader: A reader of its parked values.
  ///   - result: The same copy.
  init(
    from before: StoreContents, parked former: ParkedMarks, to after: StoreContents, reader: ParkedReader,
    in result: any StoreInspector
  ) throws {
    (self.before, self.former, self.after, self.reader) = (before, former, after, reader)
    newMap = try result.catalog().tableMap(of: after.model)
  }

  /// The first values, objects or pairs that aren't parked as the store has them, in words; nil if all are.
  func firstLoss() throws -> String? {
    let digest = ParkedSlot.digest(of: before.model)
    for slot in reader.slots where slot.model == digest && !former.hasSlot(like: slot) {
      guard let (comparison, _) = reader.comparisons.subject(of: slot),
        let entity = before.model.entitiesByName[slot.entity]
      else { continue }
      let lost: Set<Int64> =
        switch slot.kind {
        case .object: try differentObjects(slot, entity)
        case .attribute: try differentValues(slot, of: entity, comparedBy: comparison)
        case .relationship: try differentPairs(slot, of: entity, comparedBy: comparison)
        }
      if let first = lost.min() { return ParkedMarks.words(lost.count, of: slot, first: first) }
    }
    return nil
  }

  private func differentObjects(_ slot: ParkedSlot, _ entity: Entity) throws -> Set<Int64> {
    var keys: Set<Int64> = []
    try reader.forEachRow(of: slot) { keys.insert(ParkedMarks.number($0[0])) }
    try before.forEachObject(of: entity) { object in
      // Objects that are both parked and present are equal.
      if keys.remove(object.key) == nil { keys.insert(object.key) }
    }
    return keys
  }

  private func differentValues(
    _ slot: ParkedSlot, of entity: Entity, comparedBy comparison: ParkingComparison
  ) throws -> Set<Int64> {
    guard let property = entity.property(named: slot.property), let attribute = try reader.types(of: slot).value else {
      return []
    }
    var parked: Set<Int64> = []
    var different: Set<Int64> = []
    var group: [Int64: SQLValue] = [:]
    func compareGroup() throws {
      var missing = Set(group.keys)
      try before.forEachObject(of: entity, keys: group.keys.sorted()) { object in
        missing.remove(object.key)
        guard case .value(let whole) = try object.value(of: property) else { return }
        let value = whole.element(at: slot.path)
        let own = (group[object.key] ?? .null).storedValue(of: attribute)
        let isSame = MigratedValue.content(.value(value)).isKept(in: .content(.value(own)))
        if !isSame { different.insert(object.key) }
      }
      different.formUnion(missing)
      group.removeAll(keepingCapacity: true)
    }
    try reader.forEachRow(of: slot) { row in
      let key = ParkedMarks.number(row[0])
      group[key] = row[1]
      parked.insert(key)
      if group.count == Self.groupSize { try compareGroup() }
    }
    try compareGroup()
    // Otherwise only missing values are parked.
    guard comparison.place(ofAttribute: slot.property, slot.path, in: entity) == nil else { return different }
    try before.forEachObject(of: entity) { object in
      guard !parked.contains(object.key), case .value(let whole) = try object.value(of: property) else { return }
      if !whole.element(at: slot.path).isNull { different.insert(object.key) }
    }
    return different
  }

  private func differentPairs(
    _ slot: ParkedSlot, of entity: Entity, comparedBy comparison: ParkingComparison
  ) throws -> Set<Int64> {
    guard let property = entity.property(named: slot.property), let relationship = property.relationship else {
      return []
    }
    var parked: [Int64: Set<Int64>] = [:]
    try reader.forEachRow(of: slot) { row in
      parked[ParkedMarks.number(row[0]), default: []].insert(ParkedMarks.number(row[1]))
    }
    let pairs = try before.related(property, of: entity, keys: parked.keys.sorted())
    var different = Set(parked.filter { !$1.isSubset(of: pairs[$0] ?? []) }.keys)
    // Pairs that the new model has too come back without having been parked.
    guard comparison.place(ofRelationship: slot.property, of: entity) == nil,
      ParkedValues.standInPairs(of: slot, in: entity, comparedBy: comparison, map: newMap).isEmpty
    else { return different }
    let destination = before.model.destination(of: relationship)
    for heir in before.model.hierarchy(of: entity) where !heir.isAbstract {
      guard let property = heir.property(named: slot.property) else { continue }
      var lost: [Int64: Set<Int64>] = [:]
      try before.forEachObject(of: heir) { object in
        let missing = try object.related(property).subtracting(parked[object.key] ?? [])
        if !missing.isEmpty { lost[object.key] = missing }
      }
      // References to objects that don't exist aren't parked.
      let present = try before.related(nil, of: destination, keys: Set(lost.values.joined()).sorted())
      different.formUnion(lost.filter { $1.contains { present[$0] != nil } }.keys)
    }
    return different
  }
}
