/// Batches access the stores directly: registered objects, in this context or others, don't change until the result is
/// merged into their context or they are refreshed.
extension ManagedObjectContext {
  /// Inserts rows without creating objects.
  ///
  /// - Throws: ``PersistenceError/Code/validationMissingRequired``, ``PersistenceError/Code/unknownProperty``,
  ///   ``PersistenceError/Code/typeMismatch``, ``PersistenceError/Code/constraintConflict``, errors of the request's
  ///   closure, and the store's errors; no row is inserted then.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchInsertResult {
    try throwDeferredError()
    let entity = try entity(named: request.entityName)
    guard !entity.isAbstract else {
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name), "'\(entity.name)' is abstract and can't have rows.",
        fix: "Insert rows of one of its subentities.")
    }
    let store = try store(for: entity, identifier: request.affectedStoreIdentifier)
    let batch = BatchInsert(
      entity: entity, conflict: batchConflict, wantsIdentifiers: request.resultType.content == .objectIDs,
      origin: historyOrigin, next: request.next)
    return BatchResult([try store.insert(batch)], request.resultType)
  }

  /// Updates rows without creating objects.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``, ``PersistenceError/Code/typeMismatch`` and
  ///   ``PersistenceError/Code/invalidRequest`` for values that can't be set,
  ///   ``PersistenceError/Code/validationMissingRequired`` for setting a required attribute to nil, or to an expression
  ///   that has no value for a row with one, ``PersistenceError/Code/constraintConflict``, and the store's errors. A
  ///   store in which the batch fails is unchanged.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchUpdateResult {
    var rows = FetchRequest<ManagedObjectID>(request.entityName)
    rows.predicate = request.predicate
    rows.includesSubentities = request.includesSubentities
    rows.ignoresDefaultFilters = request.ignoresDefaultFilters
    rows.affectedStoreIdentifiers = request.affectedStoreIdentifiers
    let entity = try entity(named: request.entityName)
    let properties = try request.propertiesToUpdate.mapValues { try named($0, over: entity) }
    let changes = try BatchChanges(properties, of: entity, in: model).changes
    let wantsIdentifiers = request.resultType.content == .objectIDs
    return BatchResult(
      try batch(over: rows) { store, query in
        try store.update(
          BatchUpdate(rows: query, changes: changes, wantsIdentifiers: wantsIdentifiers, origin: historyOrigin))
      }, request.resultType)
  }

  /// Deletes rows without creating objects.
  ///
  /// - Throws: ``PersistenceError/Code/validationDeleteDenied`` if a delete rule denies it,
  ///   ``PersistenceError/Code/validationMissingRequired`` if remaining rows require deleted ones, and the store's
  ///   errors. A store in which the batch fails is unchanged.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchDeleteResult {
    if request.rows.objectIDs?.isEmpty == true { return BatchResult([], request.resultType) }
    let wantsIdentifiers = request.resultType.content == .objectIDs
    return BatchResult(
      try batch(over: request.rows) { store, query in
        try store.delete(BatchDelete(rows: query, wantsIdentifiers: wantsIdentifiers, origin: historyOrigin))
      }, request.resultType)
  }

  /// Runs a batch over the saved rows in each store of a request.
  private dynamic func batch(
    over rows: FetchRequest<ManagedObjectID>, _ body: (any PersistentStore, RowQuery) throws -> BatchOutcome
  ) throws -> [BatchOutcome] {
    try prepareToFetch()
    graph.outdateRowsAhead()
    var rows = try named(rows)
    rows.includesPendingChanges = false
    // A batch bypasses all contexts and works on the stores.
    let pass = try FetchPass(rows, in: parent == nil ? self : ManagedObjectContext(persistentStoreCoordinator))
    // Rows that a store can't find by itself are first found in a context without changes.
    if !pass.isAnsweredByStore {
      let ids = try ManagedObjectContext(persistentStoreCoordinator).fetch(rows)
      var found = FetchRequest<ManagedObjectID>(rows.entityName, objectIDs: ids)
      found.includesPendingChanges = false
      return try batch(over: found, body)
    }
    return try pass.sources.compactMap { source in
      try pass.query(for: source, keysOnly: true).map { query in try body(source.tables.origin, query) }
    }
  }

  private func store(for entity: Entity, identifier: String?) throws -> any PersistentStore {
    guard let identifier else { return try persistentStoreCoordinator.storeForInsert(of: entity) }
    let stores = persistentStoreCoordinator.stores(holding: entity)
    if let store = stores.first(where: { $0.identifier == identifier }) { return store }
    throw PersistenceError(
      .invalidRequest, at: .entity(entity.name),
      "No open store with the identifier \(identifier) contains '\(entity.name)'.",
      fix: "Use the identifier of one of the coordinator's stores.")
  }

  /// The handling of rows whose unique values already exist.
  private var batchConflict: BatchInsert.Conflict {
    switch mergePolicy.mergeType {
    // There are no objects that a custom policy could resolve.
    case .error, .custom: .fail
    case .mergeByPropertyStoreTrump, .rollback: .keepStored
    case .mergeByPropertyObjectTrump: .updateGiven
    case .overwrite: .overwrite
    }
  }
}

/// The values that a batch update sets, checked against the model.
private struct BatchChanges {
  private(set) var changes: [(slot: Int, value: FetchExpression)] = []

  init(_ properties: [String: FetchExpression], of entity: Entity, in model: ManagedObjectModel) throws {
    for (name, expression) in properties.sorted(on: \.key) {
      guard let property = entity.property(named: name) else {
        throw PersistenceError(
          .unknownProperty, at: .property(entity.name, name), "'\(entity.name)' has no property '\(name)'.",
          fix: "Its properties are \(entity.properties.map(\.name).sorted().joined(separator: ", ")).")
      }
      try PredicateCheck.check(.compare(expression, .equal, .constant(.null)), over: entity, in: model)
      changes.append((property.slot, try Self.value(expression, for: property, of: entity, in: model)))
    }
  }

  private static func value(
    _ expression: FetchExpression, for property: Property, of entity: Entity, in model: ManagedObjectModel
  ) throws -> FetchExpression {
    let place = PersistenceError.Place.property(entity.name, property.name)
    func refuse(_ message: String) -> PersistenceError {
      PersistenceError(.invalidRequest, at: place, message, fix: "Change the objects instead.")
    }
    switch property.kind {
    case .attribute(let attribute):
      if attribute.isTransient || attribute.isDerived {
        throw refuse("'\(property.name)' is transient or derived and can't be set.")
      }
      guard let value = expression.constantValue else { return expression }
      if value.isNull, !attribute.isOptional {
        throw PersistenceError(
          .validationMissingRequired, at: place, "'\(property.name)' is required and can't be set to nil.",
          fix: "Give it a value.")
      }
      let conversion = ValueConversion(attribute, at: place)
      return .constant(
        attribute.type == .composite
          ? try conversion.stored(value, elements: property.elements) : try conversion.stored(value))
    case .relationship(let relationship):
      let isOneToOne = model.inverse(of: relationship).map { !$0.isToMany } ?? false
      guard !relationship.isToMany, !relationship.isTransient, !isOneToOne, expression.constantValue != nil else {
        throw refuse("A batch can't set the relationship '\(property.name)': both its sides would have to change.")
      }
      if expression.constantValue?.isNull == true, !relationship.isOptional {
        throw PersistenceError(
          .validationMissingRequired, at: place, "'\(property.name)' is required and can't be set to nil.",
          fix: "Give it an object's identifier.")
      }
      return expression
    case .fetchedProperty: throw refuse("'\(property.name)' is a fetched property.")
    }
  }
}
