/// Resolution of key paths to names.
extension FetchRequest {
  /// Whether the request contains unresolved key paths.
  package var hasKeyPaths: Bool { content.hasKeyPaths }

  /// The request with long chains flattened.
  ///
  /// - Throws: ``PersistenceError/Code/limitExceeded`` if a part of the request nests too deeply.
  package func limitingDepth() throws -> FetchRequest {
    var request = self
    try request.content.limitDepth()
    return request
  }

  /// The request with its key paths replaced by names.
  package func resolvingKeyPaths(_ keys: (KeyPathReference) throws -> [String]) throws -> FetchRequest {
    var request = self
    try request.content.resolveKeyPaths(keys)
    return request
  }
}

extension FetchRequestContent {
  fileprivate var hasKeyPaths: Bool {
    predicate?.hasKeyPaths == true || sortDescriptors.contains { $0.keyPath != nil }
      || havingPredicate?.hasKeyPaths == true
      || propertiesToFetch.contains(where: \.expression.hasKeyPaths)
      || propertiesToGroupBy.contains(where: \.expression.hasKeyPaths)
  }

  fileprivate mutating func limitDepth() throws {
    // Unchanged parts aren't copied.
    if let flat = try predicate.flatMap(PredicateDepth.flattened) { predicate = flat }
    if let flat = try havingPredicate.flatMap(PredicateDepth.flattened) { havingPredicate = flat }
    for index in propertiesToFetch.indices {
      propertiesToFetch[index].expression = try PredicateDepth.limited(propertiesToFetch[index].expression)
    }
    for index in propertiesToGroupBy.indices {
      propertiesToGroupBy[index].expression = try PredicateDepth.limited(propertiesToGroupBy[index].expression)
    }
    for descriptor in sortDescriptors where descriptor.key.utf8.count > PredicateDepth.pathLimit {
      try PredicateDepth.checkPath(descriptor.expression.keys ?? [])
    }
    for path in relationshipKeyPathsForPrefetching { try PredicateDepth.checkPath(path.dottedKeys) }
  }

  fileprivate mutating func resolveKeyPaths(_ keys: (KeyPathReference) throws -> [String]) throws {
    predicate = try predicate?.resolvingKeyPaths(keys)
    havingPredicate = try havingPredicate?.resolvingKeyPaths(keys)
    sortDescriptors = try sortDescriptors.map { try $0.resolvingKeyPath(keys) }
    propertiesToFetch = try propertiesToFetch.map { try $0.resolvingKeyPaths(keys) }
    propertiesToGroupBy = try propertiesToGroupBy.map { try $0.resolvingKeyPaths(keys) }
  }
}

extension FetchSortDescriptor {
  fileprivate func resolvingKeyPath(_ keys: (KeyPathReference) throws -> [String]) throws -> FetchSortDescriptor {
    guard let keyPath else { return self }
    var descriptor = self
    descriptor.key = try keys(keyPath).joined(separator: ".")
    return descriptor
  }
}

extension ExpressionDescription {
  fileprivate func resolvingKeyPaths(_ keys: (KeyPathReference) throws -> [String]) throws -> ExpressionDescription {
    var column = self
    column.expression = try expression.resolvingKeyPaths(keys)
    return column
  }
}
