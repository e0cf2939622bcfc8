extension ManagedObjectContext {
  /// Adds the condition of a request to every request for the same entity; see ``defaultFilters``.
  ///
  /// ```swift
  /// context.filterByDefault(Note.where(\.deletedAt == nil))      // soft deletion
  /// ```
  ///
  /// - Parameter request: The entity and the condition, which replaces an earlier one of the entity; a request without
  ///   condition removes it. The other parts of the request are ignored.
  public func filterByDefault<Result>(_ request: FetchRequest<Result>) {
    defaultFilters[request.entityName] = request.predicate
  }

  /// Returns a request with the conditions of ``defaultFilters``, which is then complete.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity`` if a filter's entity doesn't exist;
  ///   ``PersistenceError/Code/invalidRequest`` if only some of the objects that the request concerns have a filter.
  @inline(never)
  func filtered(_ request: FetchRequest<ManagedObject>) throws -> FetchRequest<ManagedObject> {
    if request.ignoresDefaultFilters || request.includesDefaultFilters { return request }
    let entity = try entity(named: request.entityName)
    var conditions: [FetchPredicate] = []
    for (name, filter) in defaultFilters.sorted(on: \.key) {
      let owner = try self.entity(named: name)
      if entity.isKind(of: owner) {
        conditions.append(try named(filter, over: owner))
      } else if request.includesSubentities, owner.isKind(of: entity) {
        throw PersistenceError(
          .invalidRequest, at: .entity(entity.name),
          "Only the subentity '\(name)' has a default filter, whose properties other objects of '\(entity.name)' lack.",
          fix: "Declare the filter for '\(entity.name)', or set ignoresDefaultFilters in the request.")
      }
    }
    var request = request
    request.includesDefaultFilters = true
    guard !conditions.isEmpty else { return request }
    request.predicate = .and([request.predicate].compactMap(\.self) + conditions)
    return request
  }
}
