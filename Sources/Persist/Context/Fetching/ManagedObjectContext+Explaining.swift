extension ManagedObjectContext {
  /// Explains how a request would be executed, without reading rows.
  ///
  /// - Throws: The errors of ``fetch(_:)``.
  public func explain<Result>(_ request: FetchRequest<Result>) throws -> FetchExplanation {
    if Result.self == FetchedRow.self { return try DictionaryPass(request, in: self).explanation() }
    return try FetchPass(request, in: self).explanation()
  }
}

extension FetchPass {
  func explanation() throws -> FetchExplanation {
    let statements = try sources.compactMap { source in
      try query(for: source, keysOnly: false).flatMap { try source.store.explain($0) }
    }
    var missing: [FetchExplanation.MissingIndex] = []
    if statements.contains(where: \.walksThroughTable), let stored = sources.lazy.compactMap(\.stored).first {
      missing += wanted(stored.attributesToFind(in: layout.entity), .finding)
    }
    if statements.contains(where: \.sorts) {
      missing += wanted(request.sortDescriptors.prefix(1).filter { $0.textQuery == nil }.map(\.key), .sorting)
    }
    return FetchExplanation(
      statements: statements, askedInMemory: sources.lazy.compactMap(\.rest).first,
      sortedInMemory: sortsInMemory ? request.sortDescriptors : [], missingIndexes: missing)
  }

  /// Returns the attributes that no index begins with.
  private func wanted(_ attributes: [String], _ purpose: FetchExplanation.MissingIndex.Purpose)
    -> [FetchExplanation.MissingIndex]
  {
    var seen: Set<String> = []
    return attributes.filter { seen.insert($0).inserted && !layout.entity.hasIndex(beginningWith: $0) }.map {
      FetchExplanation.MissingIndex(entity: layout.entity.name, attribute: $0, purpose: purpose)
    }
  }
}

extension Entity {
  /// Whether an index of the entity or one of its superentities begins with an attribute.
  fileprivate func hasIndex(beginningWith attribute: String) -> Bool {
    var next: Entity? = self
    while let entity = next {
      if entity.attribute(named: attribute)?.isIndexed == true { return true }
      let first = entity.description.indexes.compactMap(\.elements.first)
      if first.contains(where: { $0.subject == .property(attribute) && $0.kind == .binary }) { return true }
      next = entity.superentity
    }
    return false
  }
}

extension FetchPredicate {
  /// Returns the stored attributes of an entity that an index could use to find rows: those in an equality, a range or
  /// a prefix comparison.
  fileprivate func attributesToFind(in entity: Entity) -> [String] {
    switch self {
    case .constant, .not: return []
    case .and(let parts): return parts.flatMap { $0.attributesToFind(in: entity) }
    case .or(let parts):
      // An index serves a disjunction only if every part has one.
      let attributes = parts.map { $0.attributesToFind(in: entity) }
      return attributes.contains(where: \.isEmpty) ? [] : attributes.flatMap { $0 }
    case .comparison(let comparison):
      // Normalized strings are compared byte by byte, as in an index.
      let isOfBytes = comparison.options.isEmpty || comparison.options.contains(.normalized)
      guard comparison.modifier == .direct, isOfBytes else { return [] }
      let keys: [String]
      switch comparison.operation {
      case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual:
        keys = [comparison.left, comparison.right].compactMap(\.keys).filter { $0.count == 1 }.flatMap { $0 }
      case .between, .in, .beginsWith: keys = comparison.left.keys ?? []
      case .notEqual, .contains, .endsWith, .like, .matches, .matchesText: keys = []
      }
      guard keys.count == 1, let attribute = entity.attribute(named: keys[0]), !attribute.isTransient else { return [] }
      return keys
    }
  }
}
