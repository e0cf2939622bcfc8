import Foundation

/// Runs a mapping model: copies the objects of a store file to another file, in three passes.
///
/// 1. Destination objects with their attributes, entity mapping by entity mapping.
/// 2. Their relationships.
/// 3. The validation of the copy.
///
/// Mappings that SQL can express run as `INSERT … SELECT` from one store into the other, the rest object by object.
struct CopyMigration: ~Copyable {
  let source: URL
  let destination: URL
  let mappingModel: MappingModel
  let policies: MigrationPolicies
  let manager: MigrationManager
  /// Core Data's hashes of the entities of the destination model, if known.
  let coreDataHashes: [String: Data]?
  let goesByObject: Bool
  /// Whether the migration is recorded in the log of a new destination; it always is in that of an existing one.
  let isLogged: Bool
  let start = ContinuousClock.now

  private var engine: any MigrationEngine { get throws { try StoreLocation(source).engine } }

  /// - Returns: the number of rows in the source; nil if counting them would take too long.
  func run() throws -> Int? {
    let location = StoreLocation(destination)
    guard try engine.canCreateStore(at: location) else { return try addToStore(at: location) }
    do {
      let rows = try writeCopy(to: location, isNew: true)
      if isLogged {
        try engine.changeMetadata(of: location, completingFile: false) { $0.log(logEntry(rows: rows)) }
      }
      return rows
    } catch {
      try? engine.destroyStore(at: location)
      throw error
    }
  }

  /// Adds the objects to a copy of an existing store, whose content then replaces the store's in one transaction.
  private func addToStore(at location: StoreLocation) throws -> Int? {
    let options = StoreOptions()
    let workspace = try engine.workspace(for: location, waitingAtMost: options.busyTimeout)
    defer { workspace.remove() }
    let hold = try workspace.hold(options: options)
    defer { hold.end() }
    let tables = try hold.inspector.catalog().tableMap(of: manager.destinationModel)
    // The copy, and the log or journal of the exchange.
    try engine.requireDiskSpace(for: location, bytes: ExtraSpace.copies(2, ofSize: engine.size(of: location)))
    let file = try workspace.file(0)
    let copy = StoreLocation(file)
    try engine.duplicate(StoreLocation(workspace.store), to: copy)
    // Errors name the store, not its copy.
    let rows = try PersistenceError.placing({ if $0.store == file { $0.store = destination } }) {
      try writeCopy(to: copy, isNew: false)
    }
    let entry = logEntry(rows: rows)
    try engine.changeMetadata(of: copy, completingFile: true) { $0.log(entry) }
    try hold.replaceContent(
      of: tables, by: file, model: manager.destinationModel, logEntry: entry.propertyList, reporting: { _ in })
    return rows
  }

  private func logEntry(rows: Int?) -> MigrationLogEntry {
    let (old, new) = (manager.sourceModel.versionIdentifiers.first, manager.destinationModel.versionIdentifiers.first)
    return MigrationLogEntry(
      date: Date(), from: mappingModel.sourceVersion ?? old ?? mappingModel.name,
      to: mappingModel.destinationVersion ?? new ?? mappingModel.name, way: .copy, rows: rows,
      seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  private func writeCopy(to target: StoreLocation, isNew: Bool) throws -> Int? {
    let file = try engine.copy(StoreLocation(source), to: target, model: manager.destinationModel, isNew: isNew)
    defer { file.close() }
    let connection = file.source
    let catalog = try connection.catalog()
    let map = try tableMap(of: manager.sourceModel, catalog, source)
    if isNew {
      var metadata = catalog.metadata
      metadata.recordLineage(through: [manager.sourceModel], to: manager.destinationModel)
      try file.make(metadata: metadata, coreDataHashes: coreDataHashes)
    }
    try file.shareLargeValues()
    let plan = try plan(catalog, map, in: file, by: connection)
    // Into an existing file, a mapping model may copy some of the rows only.
    if let blocker = isNew ? plan.blockers(in: catalog.schema).first : nil { throw blocker.error }
    for (count, blocker) in isNew ? plan.checks(in: catalog.schema) : plan.checks {
      try connection.requireNone(count, else: blocker)
    }
    try file.reserve(plan.reservedKeys)
    try file.attach()
    let objects = try plan.usesObjects ? openObjects(plan, file, at: target) : nil
    defer { objects?.close() }
    manager.copy = objects?.copy
    var tally = try CopyProgress(plan, on: connection, reportingTo: manager)
    if plan.usesObjects { try file.makeIndexes { try $1(1, nil) } }
    try createInstances(plan, objects: objects?.copy, in: file, tally: &tally)
    try createRelationships(plan, objects: objects?.copy, in: file, tally: &tally)
    try tally.validate()
    try validate(plan, objects?.copy, in: file)
    try CopySurroundings(plan: plan, file: file, schema: catalog.schema).takeOver()
    try tally.done()
    return try rows(map, catalog.schema, in: connection)
  }

  private func rows(_ map: TableMap, _ schema: StoreSchema, in connection: any MigrationConnection) throws -> Int? {
    let tables = Set(map.tables.map(\.table)).filter { schema.hasTable(named: $0) }
    let keys = try tables.reduce(0) { try $0 + connection.approximateRowCount(of: $1) }
    guard keys <= MigrationLogEntry.countedRows else { return nil }
    return try tables.reduce(0) { try $0 + connection.count(.rows($1, .all)) }
  }

  // MARK: Before

  private func tableMap(of model: ManagedObjectModel, _ catalog: StoreCatalog, _ url: URL) throws -> TableMap {
    let map = catalog.tableMap(of: model)
    guard map.differences.isEmpty else {
      throw PersistenceError(
        .incompatibleModel, at: .store(url),
        "The store doesn't match the source model: \(map.differences.joined(separator: " "))",
        fix: "Create the manager with the model that the store was written with.")
    }
    return map
  }

  private func plan(
    _ catalog: StoreCatalog, _ map: TableMap, in file: any StoreCopy, by connection: any MigrationConnection
  ) throws -> CopyPlan {
    var greatest: [String: Int64] = Dictionary()
    for table in map.tables where table.entity.superentity == nil && !map.absent.contains(table.entity.name) {
      // The keys of deleted rows aren't assigned again.
      let counter = catalog.numberRows.first { $0.number == table.number }?.maximum ?? 0
      greatest[table.entity.name] = max(try connection.greatestRow(of: table.table), counter)
    }
    var planner = CopyPlanner(
      mappingModel, from: map, to: file.map, storeIdentifier: catalog.metadata.identifier, policies: policies,
      greatestKeys: greatest, usedKeys: try file.usedKeys(), goesByObject: goesByObject)
    return try planner.make()
  }

  /// Both stores, opened for contexts.
  private final class OpenObjects {
    let copy: ObjectCopy
    private let stores: [any PersistentStore]

    init(copy: ObjectCopy, stores: [any PersistentStore]) {
      self.copy = copy
      self.stores = stores
    }

    func close() { for store in stores { try? store.close() } }
  }

  private func openObjects(
    _ plan: CopyPlan, _ file: any StoreCopy, at target: StoreLocation
  ) throws -> OpenObjects {
    let old = try engine.openStore(
      at: StoreLocation(source), model: manager.sourceModel, options: StoreOptions(isReadOnly: true), allowsGaps: false)
    let new = try engine.openStore(
      at: target, model: manager.destinationModel, options: file.options, allowsGaps: false)
    let coordinators = try [(manager.sourceModel, old), (manager.destinationModel, new)].map { model, store in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      return coordinator
    }
    return OpenObjects(
      copy: try ObjectCopy(
        plan: plan, manager: manager, source: coordinators[0], destination: coordinators[1],
        associations: file.makeAssociations(), now: Date()),
      stores: [old, new])
  }

  // MARK: Passes

  private func createInstances(
    _ plan: CopyPlan, objects: ObjectCopy?, in file: any StoreCopy, tally: inout CopyProgress
  ) throws {
    for step in plan.steps {
      if let rows = step.rows {
        try Self.naming(step) { try tally.run(.copy(rows), in: .objects, of: step, on: file) }
      } else if step.createsByObject || step.policy != nil {
        try tally.begin(.objects, step)
        try objects?.createInstances(step) { try tally.advance(by: $0, in: .objects, of: step) }
      }
    }
  }

  private func createRelationships(
    _ plan: CopyPlan, objects: ObjectCopy?, in file: any StoreCopy, tally: inout CopyProgress
  ) throws {
    for step in plan.steps {
      for (name, way) in step.relationships.sorted(on: \.key) {
        guard case .pairs(let copies) = way else { continue }
        try Self.naming(step, property: name) {
          for copy in copies { try tally.run(copy, step, on: file) }
        }
      }
    }
    try file.apply(plan.completions)
    if !plan.usesObjects { try makeIndexes(plan, in: file, &tally) }
    objects?.refresh()
    for step in plan.steps where step.relatesByObject {
      try tally.begin(.relationships, step)
      try objects?.createRelationships(step) { try tally.advance(by: $0, in: .relationships, of: step) }
    }
    try inheritOrders(plan, objects: objects, in: file)
  }

  private func inheritOrders(
    _ plan: CopyPlan, objects: ObjectCopy?, in file: any StoreCopy
  ) throws {
    let statements = plan.orders.compactMap { SQLText.inheritOrder($0) }
    guard !statements.isEmpty else { return }
    for statement in statements { try file.execute(statement) }
    var completions: [SchemaChange] = []
    for completion in plan.orders.compactMap(\.inverseOrder?.completion) where !completions.contains(completion) {
      completions.append(completion)
    }
    try file.apply(completions)
    objects?.refresh()
  }

  /// Adds the entity and the relationship to errors of SQL statements.
  private static func naming(_ step: CopyPlan.Step, property: String? = nil, _ body: () throws -> Void) throws {
    try PersistenceError.placing(
      { place in
        guard place.entity == nil else { return }
        (place.entity, place.property) = (step.destination?.name, property)
      }, body)
  }

  /// Creates the indexes after all rows have been inserted; the error of a unique index names the conflicting rows.
  private func makeIndexes(_ plan: CopyPlan, in file: any StoreCopy, _ tally: inout CopyProgress) throws {
    do {
      try tally.makeIndexes(of: file)
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw try CopyCheck(plan: plan, file: file).uniquenessError() ?? error
    }
  }

  private func validate(_ plan: CopyPlan, _ objects: ObjectCopy?, in file: any StoreCopy) throws {
    for step in plan.steps where step.policy != nil { try objects?.validate(step) }
    try file.updateDerivedTriggers()
    try file.makeFullTextIndexes()
    try CopyCheck(plan: plan, file: file, parked: manager.parked).run()
  }
}
