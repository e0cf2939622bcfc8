/// Requests without an explicit result type return managed objects of any class.
extension FetchRequest where Result == ManagedObject {
  /// Creates a request for the objects of an entity and its subentities.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity, resolved when the request runs.
  ///   - sortDescriptors: The order; without it, objects are ordered by store and key.
  ///   - limit: The maximum number of objects; 0 for no limit.
  ///   - offset: The number of objects to skip at the beginning.
  ///   - objectIDs: The identifiers to restrict the results to; nil for no restriction.
  public init(
    _ entityName: String, sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0, offset: Int = 0,
    objectIDs: [ManagedObjectID]? = nil
  ) {
    self.init(
      FetchRequestContent(
        entityName, sortedBy: sortDescriptors, limit: limit, offset: offset, objectIDs: objectIDs))
  }

  /// Creates a request for the objects of an entity and its subentities that match a predicate.
  ///
  /// ```swift
  /// let cheap = try context.fetch(FetchRequest("Item", where: "quantity < %@", 5))
  /// ```
  ///
  /// - Parameters:
  ///   - entityName: The name of an entity of the model.
  ///   - format: A predicate in the format language; see ``FetchPredicate``.
  ///   - arguments: The values of its placeholders.
  ///   - sortDescriptors: The order of the results.
  ///   - limit: The maximum number of results; 0 for all.
  ///   - offset: The number of results to skip.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and the expected syntax.
  public init(
    _ entityName: String, where format: String, _ arguments: (any FetchArgument)?...,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0, offset: Int = 0
  ) throws {
    self.init(FetchRequestContent(entityName, sortedBy: sortDescriptors, limit: limit, offset: offset))
    predicate = try FetchPredicate(format, arguments: arguments)
  }

  /// Creates a request for every object of an entity and its subentities, sorted by one attribute.
  public init(_ entityName: String, sortedBy key: String, isAscending: Bool = true) {
    self.init(entityName, sortedBy: [FetchSortDescriptor(key, isAscending: isAscending)])
  }
}
