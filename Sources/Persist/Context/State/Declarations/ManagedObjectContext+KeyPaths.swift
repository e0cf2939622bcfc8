extension ManagedObjectContext {
  /// Resolves Swift key paths to property names, using this context's classes.
  public var keyPaths: KeyPathResolver {
    if let resolver = keyPathResolver { return resolver }
    let resolver = KeyPathResolver(layouts: layouts, classes: classes)
    keyPathResolver = resolver
    return resolver
  }

  /// Returns a predicate over an entity with its key paths replaced by names.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for a key path that computes something;
  ///   ``PersistenceError/Code/limitExceeded`` if the predicate is nested too deeply.
  func named(_ predicate: FetchPredicate, over entity: Entity) throws -> FetchPredicate {
    let predicate = try PredicateDepth.limited(predicate)
    guard predicate.hasKeyPaths else { return predicate }
    return try predicate.resolvingKeyPaths { try keys(of: $0, from: entity) }
  }

  /// Returns the property names of a key path, which contexts with the same classes find once for all of them.
  fileprivate func keys(of reference: KeyPathReference, from entity: Entity) throws -> [String] {
    guard let sharedClasses else { return try keyPaths.keys(of: reference.keyPath, from: entity) }
    return try sharedClasses.names(of: reference, from: entity) {
      try keyPaths.keys(of: reference.keyPath, from: entity)
    }
  }

  /// Returns an expression over an entity with its key paths replaced by names.
  func named(_ expression: FetchExpression, over entity: Entity) throws -> FetchExpression {
    let expression = try PredicateDepth.limited(expression)
    guard expression.hasKeyPaths else { return expression }
    return try expression.resolvingKeyPaths { try keys(of: $0, from: entity) }
  }

  /// Returns a request with the default filters, and with its key paths replaced by names.
  package func named<Result>(_ request: FetchRequest<Result>) throws -> FetchRequest<Result> {
    try withNames(request.returning(ManagedObject.self)).returning(Result.self)
  }

  private func withNames(_ request: FetchRequest<ManagedObject>) throws -> FetchRequest<ManagedObject> {
    let request = try (defaultFilters.isEmpty ? request : filtered(request)).limitingDepth()
    guard request.hasKeyPaths else { return request }
    let entity = try entity(named: request.entityName)
    return try request.resolvingKeyPaths { try keys(of: $0, from: entity) }
  }
}

extension ManagedObject {
  /// Returns the property names of a key path that starts at this object's class.
  public final func keys(of reference: KeyPathReference) throws -> [String] {
    guard let context = table?.context else { throw reference.withoutNames }
    return try context.keys(of: reference, from: layout.entity)
  }
}
