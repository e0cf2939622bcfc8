/// Copies what is parked in a store to a copy of it in another engine.
///
/// Files have columns for values of any type; servers have texts. Both read and write rows in the form that files have,
/// for which a server needs to know the types of the values and of those that stand in for them.
package struct ParkedTransfer: ParkedCopier {
  private let registry: ModelRegistry?
  /// The maximum number of rows in a statement: SQLite accepts at least 999 parameters.
  private static let rowsAtOnce = 150
  /// The size of values in bytes that ends a statement early.
  private static let bytesAtOnce = 1 << 20

  package init(_ registry: ModelRegistry?) { self.registry = registry }

  package func copyParked(
    from source: any StoreInspector, to copy: any MigrationConnection, _ model: ManagedObjectModel
  ) throws {
    try addParked(from: source, to: copy, model)
    let slots = try copy.parkedSlots()
    guard !slots.isEmpty else { return }
    let comparisons = try ParkingComparisons(slots, with: version(with: model), registry, copy)
    let catalog = try copy.catalog()
    try ParkedValues(copy, registry, catalog).createTriggers(slots, comparisons, catalog.tableMap(of: model))
  }

  /// Adds what is parked in a store to what is parked in a copy already, without the triggers that delete parked values
  /// with their objects.
  package func addParked(
    from source: any StoreInspector, to copy: any MigrationConnection, _ model: ManagedObjectModel
  ) throws {
    let slots = try source.parkedSlots()
    guard !slots.isEmpty else { return }
    let former = try source.catalog()
    let comparisons = try ParkingComparisons(slots, with: version(with: model), registry, source)
    let map = former.tableMap(of: model)
    let hasAges = former.schema.table(named: ParkedSlot.Table.states) != nil

    try copy.execute(ParkedValueStatement.createTables)
    let last = try copy.parkedSlots().last?.number ?? 0
    for digest in Set(slots.map(\.model)).sorted() {
      if let text = try source.parkedModel(digest) { try copy.execute(.addParkedModel(digest, .blob(text))) }
    }
    for slot in slots {
      var own = slot
      own.column = nil
      own.number += last
      try copy.execute(.addParkedSlot(own))
      let time = hasAges ? try source.firstNumber(.parkedTime(slot)) : 0
      try copy.execute(.addParkedState(own, at: Double(time)))
      if hasAges { try copy.execute(.setParkedMigrations(own, source.firstNumber(.parkedMigrations(slot)))) }
      let types = try types(of: slot, comparisons, map, source)
      var rows: [[SQLValue]] = []
      var size = 0
      try source.forEachParkedRow(of: slot, types) { row in
        rows.append(row)
        size += row.reduce(0) { $0 + $1.size }
        guard rows.count == Self.rowsAtOnce || size > Self.bytesAtOnce else { return }
        try copy.execute(ParkedValueStatement.add(own, rows, types))
        (rows, size) = ([], 0)
      }
      if !rows.isEmpty { try copy.execute(ParkedValueStatement.add(own, rows, types)) }
    }
  }

  private func version(with model: ManagedObjectModel) -> ModelVersion {
    registry?.versions.first { $0.model.fingerprints == model.fingerprints } ?? ModelVersion(name: "", model: model)
  }

  private func types(
    of slot: ParkedSlot, _ comparisons: ParkingComparisons, _ map: TableMap, _ source: any StoreInspector
  ) throws -> ParkedTypes {
    guard slot.kind == .attribute else { return ParkedTypes(value: nil, standIn: nil) }
    guard let (comparison, entity) = comparisons.subject(of: slot) else {
      // Without a comparison of the models, no attribute is known to have replaced this one.
      return ParkedTypes(value: try formerAttribute(of: slot, source), standIn: nil)
    }
    let standIn = ParkedValues.standIn(of: slot, entity, comparison, map)
    return ParkedTypes(value: entity.attribute(of: slot), standIn: standIn?.attribute)
  }

  private func formerAttribute(of slot: ParkedSlot, _ source: any StoreInspector) throws -> AttributeDescription {
    let text = try source.parkedModel(slot.model)
    let description = try text.map { try ModelDescription(json: $0) }
    let model = try description.map { try ManagedObjectModel(ParsedModel($0)) }
    if let found = model?.entitiesByName[slot.entity]?.attribute(of: slot) { return found }
    throw PersistenceError(
      .invalidRequest, at: .property(slot.entity, slot.property),
      "The store contains parked values of \(ModelVersion.quoted(slot.version)) whose type is unknown, so they can't "
        + "be copied.",
      fix: "Purge them with `persist parked --purge`, or copy the store within its engine.")
  }
}

extension Entity {
  /// The attribute whose values a slot has, or the element of it.
  fileprivate func attribute(of slot: ParkedSlot) -> AttributeDescription? {
    guard !slot.path.isEmpty else { return attribute(named: slot.property) }
    return property(named: slot.property)?.elements.first { $0.path.dropFirst().elementsEqual(slot.path) }?.attribute
  }
}

extension SQLValue {
  /// The approximate size in bytes.
  fileprivate var size: Int {
    switch self {
    case .null, .integer, .double: 8
    case .text(let text): text.utf8.count
    case .blob(let data): data.count
    }
  }
}
