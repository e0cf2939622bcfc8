import Persist

/// The comparison of what was parked in a store before a migration with the migrated copy: it is parked there too, has
/// come back, or was replaced by newer values before.
///
/// A value that comes back under a name that the objects already had a value for can be older than that one, so that
/// the objects only have to have a value.
struct ParkedReturns {
  private let before: StoreContents
  private let after: StoreContents
  private let source: any StoreInspector
  private let reader: ParkedReader
  /// The comparisons of the models of slots with the new model.
  private let places: ParkingComparisons
  /// The parked values of the copy.
  private let parked: ParkedMarks
  private let map: TableMap
  private let newMap: TableMap
  /// The way from the old to the new model.
  private let correspondence: ModelCorrespondence
  /// The keys of the objects that were parked, by model and entity.
  private var objects: [String: [String: Set<Int64>]] = [:]
  private static let groupSize = 100

  /// - Parameters:
  ///   - before: The store.
  ///   - source: The same store.
  ///   - reader: A reader of its parked values.
  ///   - after: The migrated copy.
  ///   - result: The same copy.
  ///   - parked: Its parked values.
  init(
    from before: StoreContents, in source: any StoreInspector, reader: ParkedReader, to after: StoreContents,
    in result: any StoreInspector, parked: ParkedMarks, by trials: MigrationTrials
  ) throws {
    (self.before, self.source, self.reader, self.after, self.parked) = (before, source, reader, after, parked)
    places = try ParkingComparisons(reader.slots, with: trials.version, registry: trials.registry, inspector: source)
    map = try source.catalog().tableMap(of: before.model)
    newMap = try result.catalog().tableMap(of: after.model)
    correspondence = try MigrationHop(
      from: trials.registry.version(with: before), to: trials.version, registry: trials.registry
    ).comparison.correspondence
    for slot in reader.slots where slot.kind == .object {
      var keys: Set<Int64> = []
      try reader.forEachRow(of: slot) { keys.insert(ParkedMarks.number($0[0])) }
      objects[slot.model, default: [:]][slot.entity, default: []].formUnion(keys)
    }
  }

  /// The first values, objects or pairs that are lost, in words; nil if nothing is.
  func firstLoss() throws -> String? {
    for slot in reader.slots {
      var lost: [Int64] = []
      var group: [[SQLValue]] = []
      try reader.forEachRow(of: slot) { row in
        guard !parked.contains(row, of: slot) else { return }
        group.append(row)
        guard group.count == Self.groupSize else { return }
        lost += try Self.keys(missing(group, of: slot))
        group.removeAll(keepingCapacity: true)
      }
      lost += try Self.keys(missing(group, of: slot))
      if let first = lost.min() { return ParkedMarks.words(lost.count, of: slot, first: first) }
    }
    return nil
  }

  /// The rows of a slot that haven't come back, although nothing has replaced them.
  private func missing(_ rows: [[SQLValue]], of slot: ParkedSlot) throws -> [[SQLValue]] {
    guard !rows.isEmpty else { return [] }
    switch slot.kind {
    case .object:
      guard let (comparison, entity) = places.subject(of: slot), let found = comparison.entity(entity) else {
        return rows
      }
      let keys = try after.keys(of: found, among: Self.keys(rows))
      return rows.filter { !keys.contains(ParkedMarks.number($0[0])) }
    case .attribute:
      // A missing value leaves no trace where it comes back.
      return try missingValues(rows.filter { $0[1] != .null }, of: slot).filter {
        try !isReplaced($0, in: slot) && isObject(ParkedMarks.number($0[0]), of: slot)
      }
    case .relationship: return try missingPairs(rows, of: slot)
    }
  }

  private static func keys(_ rows: [[SQLValue]]) -> [Int64] { rows.map { ParkedMarks.number($0[0]) } }

  // MARK: Values

  private func missingValues(_ rows: [[SQLValue]], of slot: ParkedSlot) throws -> [[SQLValue]] {
    guard let (comparison, entity) = places.subject(of: slot),
      let place = comparison.place(ofAttribute: slot.property, slot.path, in: entity),
      let property = place.entity.property(named: place.property), let attribute = try reader.types(of: slot).value
    else { return rows }
    let isOnlySource = correspondence.origin(of: place.property, in: place.entity.name)?.source == nil
      && reader.slots.allSatisfy { $0 == slot || !returns($0, like: slot, to: place) }
    var waiting = Dictionary(rows.map { (ParkedMarks.number($0[0]), $0) }) { first, _ in first }
    try after.forEachObject(of: place.entity, keys: Self.keys(rows)) { object in
      guard let row = waiting[object.key] else { return }
      switch try object.value(of: property) {
      case .missingFile: waiting[object.key] = nil
      case .value(let whole):
        let value = whole.element(at: slot.path)
        guard !value.isNull else { return }
        let parked = row[1].storedValue(of: attribute)
        let isSame = MigratedValue.content(.value(parked)).isKept(in: .content(.value(value)))
        if !isOnlySource || parked.isNull || isSame { waiting[object.key] = nil }
      }
    }
    return rows.filter { waiting[ParkedMarks.number($0[0])] != nil }
  }

  private func returns(_ other: ParkedSlot, like slot: ParkedSlot, to place: ParkingComparison.AttributePlace) -> Bool {
    guard other.kind == .attribute, other.path == slot.path, let (comparison, entity) = places.subject(of: other),
      let found = comparison.place(ofAttribute: other.property, other.path, in: entity)
    else { return false }
    return found.entity === place.entity && found.property == place.property
  }

  /// Whether the value that stood in for a parked one was changed, which makes it the newer one.
  private func isReplaced(_ row: [SQLValue], in slot: ParkedSlot) throws -> Bool {
    guard let (comparison, entity) = reader.comparisons.subject(of: slot),
      let (table, column, _) = ParkedValues.standIn(of: slot, in: entity, comparedBy: comparison, map: map)
    else { return false }
    let key = ParkedMarks.number(row[0])
    return try source.firstNumber(.countOthers(than: row[2], inRow: key, of: table, column: column)) > 0
  }

  /// Whether the object of a parked value exists, or is itself parked.
  private func isObject(_ key: Int64, of slot: ParkedSlot) throws -> Bool {
    if objects[slot.model]?[slot.entity]?.contains(key) == true { return true }
    guard let (comparison, entity) = reader.comparisons.subject(of: slot), let found = comparison.entity(entity) else {
      return false
    }
    return try !before.keys(of: found, among: [key]).isEmpty
  }

  // MARK: Pairs

  private func missingPairs(_ rows: [[SQLValue]], of slot: ParkedSlot) throws -> [[SQLValue]] {
    // Others may have removed them.
    guard !hasStandIns(slot, comparedBy: reader.comparisons, in: map) else { return [] }
    guard let (comparison, entity) = places.subject(of: slot),
      let place = comparison.place(ofRelationship: slot.property, of: entity),
      let property = place.entity.property(named: place.relationship.name)
    else {
      // Pairs that the new model has in another relationship come back without having been parked.
      return hasStandIns(slot, comparedBy: places, in: newMap) ? [] : rows
    }
    let destination = after.model.destination(of: place.relationship)
    let inverse = after.model.inverse(of: place.relationship).flatMap { destination.property(named: $0.name) }
    let pairs = rows.map { (owner: ParkedMarks.number($0[0]), member: ParkedMarks.number($0[1])) }
    let members = try after.related(property, of: place.entity, keys: pairs.map(\.owner))
    let owners = try inverse.map { try after.related($0, of: destination, keys: pairs.map(\.member)) }
    let ends = try owners ?? after.related(nil, of: destination, keys: pairs.map(\.member))
    return zip(rows, pairs).filter { _, pair in
      guard let own = members[pair.owner], let others = ends[pair.member] else { return false }
      // To-one relationships that lead elsewhere by now remain.
      if !place.relationship.isToMany, !own.isEmpty { return false }
      if inverse?.relationship?.isToMany == false, !others.isEmpty { return false }
      return !own.contains(pair.member)
    }.map(\.0)
  }

  /// Whether a model has a slot's pairs in another relationship while they are parked.
  private func hasStandIns(_ slot: ParkedSlot, comparedBy comparisons: ParkingComparisons, in map: TableMap) -> Bool {
    guard let (comparison, entity) = comparisons.subject(of: slot) else { return false }
    return !ParkedValues.standInPairs(of: slot, in: entity, comparedBy: comparison, map: map).isEmpty
  }
}
