extension FetchExpression {
  /// The value of a key path from the evaluated object.
  public static func keyPath(_ keyPath: any AnyKeyPath & Sendable) -> FetchExpression {
    .keyPath(of: .current, KeyPathReference(keyPath))
  }

  /// The expression with its key paths replaced by names.
  ///
  /// - Parameter keys: Returns the names for a key path, starting at its root.
  public func resolvingKeyPaths(_ keys: (KeyPathReference) throws -> [String]) throws -> FetchExpression {
    try rewritten { try $0.resolvingKeyPath(keys) }
  }

  fileprivate func resolvingKeyPath(_ keys: (KeyPathReference) throws -> [String]) throws -> FetchExpression {
    guard case .keyPath(let root, let reference) = self else { return self }
    return root.appending(try keys(reference))
  }

  /// Whether the expression contains unresolved key paths.
  public var hasKeyPaths: Bool {
    switch self {
    case .constant, .current, .variable: false
    case .keyPath: true
    case .path(let root, _): root.hasKeyPaths
    case .element(let list, .index(let index)): list.hasKeyPaths || index.hasKeyPaths
    case .element(let list, _): list.hasKeyPaths
    case .aggregate(let parts), .function(_, let parts): parts.contains(where: \.hasKeyPaths)
    case .call(let target, _, let parts): target.hasKeyPaths || parts.contains(where: \.hasKeyPaths)
    case .subquery(let collection, _, let predicate): collection.hasKeyPaths || predicate.hasKeyPaths
    case .ternary(let predicate, let first, let second):
      predicate.hasKeyPaths || first.hasKeyPaths || second.hasKeyPaths
    case .fetch(let request, let context, _): request.hasKeyPaths || context.hasKeyPaths
    }
  }
}

extension FetchPredicate {
  /// The predicate with its key paths replaced by names.
  ///
  /// - Parameter keys: Returns the names for a key path, starting at its root.
  public func resolvingKeyPaths(_ keys: (KeyPathReference) throws -> [String]) throws -> FetchPredicate {
    try rewritten { try $0.resolvingKeyPath(keys) }
  }

  /// Whether the predicate contains unresolved key paths.
  public var hasKeyPaths: Bool {
    switch self {
    case .constant: false
    case .comparison(let comparison): comparison.left.hasKeyPaths || comparison.right.hasKeyPaths
    case .and(let parts), .or(let parts): parts.contains(where: \.hasKeyPaths)
    case .not(let part): part.hasKeyPaths
    }
  }
}

extension FetchExpression {
  /// The value at further keys from this one; appending to a path extends it.
  func appending(_ keys: [String]) -> FetchExpression {
    guard !keys.isEmpty else { return self }
    if case .path(let root, let before) = self { return .path(of: root, before + keys) }
    return .path(of: self, keys)
  }
}
