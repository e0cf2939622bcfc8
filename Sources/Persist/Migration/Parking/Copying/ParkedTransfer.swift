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
    guard let reader = try ParkedReader(source, of: model, registry: registry) else { return }
    try copyParked(reader, to: copy, model)
  }

  /// Copies what is parked in a store, or a part of it, to a copy in which nothing is parked.
  ///
  /// - Parameters:
  ///   - reader: A reader of the store's parked values.
  ///   - copy: The copy.
  ///   - model: The model of both.
  ///   - isIncluded: Whether to copy a row of a slot; nil to copy all.
  package func copyParked(
    _ reader: ParkedReader, to copy: any MigrationConnection, _ model: ManagedObjectModel,
    where isIncluded: (([SQLValue], ParkedSlot) -> Bool)? = nil
  ) throws {
    try addParked(reader, to: copy, where: isIncluded)
    if isIncluded != nil {
      try copy.execute(.removeEmptyParkedSlots)
      try copy.execute(.removeUnusedParkedStates)
      try copy.execute(.removeUnusedParkedModels)
    }
    let slots = try copy.parkedSlots()
    guard !slots.isEmpty else {
      for table in ParkedSlot.Table.all { try copy.execute(.dropParking(table)) }
      return
    }
    let version = ParkedReader.version(with: model, registry)
    let comparisons = try ParkingComparisons(slots, with: version, registry: registry, inspector: copy)
    let catalog = try copy.catalog()
    try ParkedValues(copy, registry: registry, catalog: catalog).createTriggers(
      slots, comparisons, in: catalog.tableMap(of: model))
  }

  /// Adds what is parked in a store to what is parked in a copy already, without the triggers that delete parked values
  /// with their objects.
  package func addParked(
    from source: any StoreInspector, to copy: any MigrationConnection, _ model: ManagedObjectModel
  ) throws {
    guard let reader = try ParkedReader(source, of: model, registry: registry) else { return }
    try addParked(reader, to: copy, where: nil)
  }

  private func addParked(
    _ reader: ParkedReader, to copy: any MigrationConnection, where isIncluded: (([SQLValue], ParkedSlot) -> Bool)?
  ) throws {
    let source = reader.source
    let hasAges = reader.schema.hasTable(named: ParkedSlot.Table.states)
    try copy.execute(ParkedValueStatement.createTables)
    let last = try copy.parkedSlots().last?.number ?? 0
    for digest in Set(reader.slots.map(\.model)).sorted() {
      if let text = try source.parkedModel(digest) { try copy.execute(.addParkedModel(digest, .blob(text))) }
    }
    for slot in reader.slots {
      var own = slot
      own.column = nil
      own.number += last
      try copy.execute(.addParkedSlot(own))
      let time = hasAges ? try source.firstNumber(.parkedTime(slot)) : 0
      try copy.execute(.addParkedState(own, at: Double(time)))
      if hasAges { try copy.execute(.setParkedMigrations(own, source.firstNumber(.parkedMigrations(slot)))) }
      let types = try reader.types(of: slot)
      var rows: [[SQLValue]] = []
      var size = 0
      try reader.forEachRow(of: slot) { row in
        guard isIncluded?(row, slot) != false else { return }
        rows.append(row)
        size += row.reduce(0) { $0 + $1.size }
        guard rows.count == Self.rowsAtOnce || size > Self.bytesAtOnce else { return }
        try copy.execute(ParkedValueStatement.add(own, rows, types))
        (rows, size) = ([], 0)
      }
      if !rows.isEmpty { try copy.execute(ParkedValueStatement.add(own, rows, types)) }
    }
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
