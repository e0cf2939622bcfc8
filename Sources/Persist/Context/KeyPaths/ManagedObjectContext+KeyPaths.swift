extension ManagedObjectContext {
  /// Finds the names of the properties that Swift key paths lead to, with this context's classes.
  public var keyPaths: KeyPathResolver {
    if let resolver = keyPathResolver { return resolver }
    let resolver = KeyPathResolver(layouts: layouts, classes: classes)
    keyPathResolver = resolver
    return resolver
  }

  /// A predicate over an entity with names in place of its key paths.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for a key path that computes something;
  ///   ``PersistenceError/Code/limitExceeded`` where the predicate nests too deeply.
  func named(_ predicate: FetchPredicate, over entity: Entity) throws -> FetchPredicate {
    try PredicateDepth.check(predicate)
    guard predicate.hasKeyPaths else { return predicate }
    return try predicate.resolvingKeyPaths { try keyPaths.keys(of: $0.keyPath, from: entity) }
  }

  /// An expression over an entity with names in place of its key paths.
  func named(_ expression: FetchExpression, over entity: Entity) throws -> FetchExpression {
    try PredicateDepth.check(expression)
    guard expression.hasKeyPaths else { return expression }
    return try expression.resolvingKeyPaths { try keyPaths.keys(of: $0.keyPath, from: entity) }
  }

  /// A request with names in place of its key paths.
  func named<Result>(_ request: FetchRequest<Result>) throws -> FetchRequest<Result> {
    try request.checkDepth()
    guard request.hasKeyPaths else { return request }
    let entity = try entity(named: request.entityName)
    return try request.resolvingKeyPaths { try keyPaths.keys(of: $0.keyPath, from: entity) }
  }
}

extension ManagedObject {
  /// The names that a key path from this object's class stands for.
  public final func keys(of reference: KeyPathReference) throws -> [String] {
    guard let context = table?.context else { throw reference.withoutNames }
    return try context.keyPaths.keys(of: reference.keyPath, from: layout.entity)
  }
}
