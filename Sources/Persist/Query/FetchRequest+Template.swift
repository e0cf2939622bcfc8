/// Named requests of a model.
extension FetchRequest {
  /// Creates a request from a model's description of it.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``; ``PersistenceError/Code/invalidRequest`` if it sorts by a
  ///   comparison that isn't one of ``FetchSortDescriptor/Comparison``.
  public init(_ template: FetchRequestDescription) throws {
    self.init(try FetchRequestContent(template))
  }
}

extension FetchRequestContent {
  fileprivate init(_ template: FetchRequestDescription) throws {
    let sort = try template.sort.map { sort in
      guard let comparison = FetchSortDescriptor.Comparison(rawValue: sort.selector ?? "compare:") else {
        throw PersistenceError(
          .invalidRequest, at: .property(template.entity, sort.key),
          "The template sorts '\(sort.key)' with the unknown selector '\(sort.selector ?? "")'.",
          fix: "Sort by one of \(FetchSortDescriptor.Comparison.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      return FetchSortDescriptor(sort.key, isAscending: sort.isAscending, comparison: comparison)
    }
    self.init(template.entity, sortedBy: sort, limit: template.fetchLimit)
    predicate = try template.predicate.map { try FetchPredicate($0, arguments: []) }
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    includesPropertyValues = template.includesPropertyValues
    includesPendingChanges = template.includesPendingChanges
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    returnsDistinctResults = template.returnsDistinctResults
  }

  /// Substitutes the variables of a named request.
  fileprivate mutating func substitute(_ values: [String: any FetchArgument], in name: String) throws {
    predicate = predicate?.substituting(values)
    if let missing = predicate?.variables.sorted(), !missing.isEmpty {
      throw PersistenceError(
        .invalidRequest, at: .entity(entityName),
        "The template '\(name)' needs values for \(missing.map { "$" + $0 }.joined(separator: ", ")).",
        fix: "Pass them as substitution variables.")
    }
  }
}

extension ManagedObjectModel {
  /// The model's request with this name, with its variables unsubstituted; nil if there is none.
  ///
  /// - Parameters:
  ///   - name: The name of the request in the model.
  ///   - type: The result type of the request, which needn't be the one in the model.
  /// - Throws: As ``FetchRequest/init(_:)``.
  public func fetchRequestTemplate<Result>(
    named name: String, returning type: Result.Type
  ) throws -> FetchRequest<Result>? {
    try description.fetchRequestTemplates[name].map { try FetchRequest($0) }
  }

  /// The model's request with this name, with its variables substituted; nil if there is none.
  ///
  /// ```swift
  /// let cheap = try model.fetchRequestFromTemplate(withName: "CheaperThan", substitutionVariables: ["PRICE": 5])
  /// ```
  ///
  /// - Throws: As ``FetchRequest/init(_:)``; ``PersistenceError/Code/invalidRequest`` if a variable has no value.
  public func fetchRequestFromTemplate<Result>(
    withName name: String, substitutionVariables values: [String: any FetchArgument], returning type: Result.Type
  ) throws -> FetchRequest<Result>? {
    guard var request = try fetchRequestTemplate(named: name, returning: type) else { return nil }
    try request.content.substitute(values, in: name)
    return request
  }
}
