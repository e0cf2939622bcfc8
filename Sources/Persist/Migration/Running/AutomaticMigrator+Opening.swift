public import Foundation

extension AutomaticMigrator {
  /// Deletes what has been parked for longer than ``parkedLifetime``, and restores what has a place in the model, which
  /// may declare a rename that the model before didn't.
  public func maintainStore(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {
    _ = try maintain(url, known: registry?.version(with: model), model: model, registry: registry, options: options)
  }

  /// - Returns: The number of restored values, objects and pairs.
  func maintain(
    _ url: URL, known: ModelVersion?, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws -> Int {
    guard parking != .discarding else { return 0 }
    let version = known ?? unregisteredVersion(of: model)
    let hasWork = try StoreLocation(url).inspect(options: options) { inspector in
      // A store that serves two models isn't maintained: the places of parked values depend on the model.
      guard try inspector.servedModels() == nil else { return false }
      let slots = try inspector.parkedSlots()
      let catalog = try inspector.catalog()
      return try hasExpired(slots, catalog, in: inspector)
        || ParkingComparisons(slots, with: version, registry: registry, inspector: inspector)
          .areRestored(in: catalog.tableMap(of: model), inspector)
    }
    guard hasWork else { return 0 }
    var restored = 0
    try ParkedValues.change(at: url, options: options, registry: registry) { parked, catalog in
      try parked.dropTriggers(catalog.schema)
      if case .seconds = parkedLifetime { try parked.removeExpired(parkedLifetime) }
      try parked.forgetReplaced(in: catalog.tableMap(of: model), version)
      try parked.collectColumns(before: version, nil)
      restored = try parked.settle(in: catalog.tableMap(of: model), version).count
      try parked.dropEmptyColumns(of: catalog.schema)
    }
    return restored
  }

  /// Whether something has been parked for longer than the lifetime, or since an unknown time.
  private func hasExpired(
    _ slots: [ParkedSlot], _ catalog: StoreCatalog, in inspector: any StoreInspector
  ) throws -> Bool {
    guard case .seconds = parkedLifetime, let condition = parkedLifetime.condition(now: Date()) else { return false }
    guard catalog.schema.hasTable(named: ParkedSlot.Table.states) else { return true }
    return try slots.contains { try inspector.firstNumber(.countExpired($0, condition)) > 0 }
  }
}

extension AutomaticMigrator {
  /// Rejects a store of the coordinator's model with values that the types of the model's classes can't read, unless
  /// loss is allowed.
  public func examineStore(at url: URL, of model: ManagedObjectModel, options: StoreOptions) throws {
    try requireReadable(model, at: url, options: options)
  }

  /// - Parameters:
  ///   - url: A store of the model.
  ///   - reported: The URL for the error, if it differs.
  /// - Throws: ``PersistenceError/Code/typeMismatch`` with the numbers of rows if loss isn't allowed and the types of
  ///   the model's classes can't read all values.
  func requireReadable(
    _ model: ManagedObjectModel, at url: URL, reportedAs reported: URL? = nil, options: StoreOptions
  ) throws {
    guard !allowsLoss, let scan = UnreadableScan(model) else { return }
    let values = try scan.values(in: StoreLocation(url), options: options)
    guard !values.isEmpty else { return }
    let errors = values.map { values in
      var error = MigrationBlocker(refusing: values).error
      error.place.store = reported ?? url
      return error
    }
    throw PersistenceError.combining(
      errors, as: .typeMismatch, "The types of \(errors.count) properties can't read all stored values.")
  }
}
