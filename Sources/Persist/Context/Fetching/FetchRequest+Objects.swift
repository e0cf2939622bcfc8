/// Requests that don't say what their results are give managed objects of whatever class.
extension FetchRequest where Result == ManagedObject {
  public init(
    _ entityName: String, sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0, offset: Int = 0,
    objectIDs: [ManagedObjectID]? = nil
  ) {
    self.init(entity: entityName, sort: sortDescriptors, limit: limit, offset: offset, objectIDs: objectIDs)
  }

  /// The objects of an entity and its subentities for which a predicate holds.
  ///
  /// ```swift
  /// let cheap = try context.fetch(FetchRequest("Item", where: "quantity < %@", 5))
  /// ```
  ///
  /// - Parameters:
  ///   - format: a predicate in the format language; see ``FetchPredicate``.
  ///   - arguments: what its placeholders stand for.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and what was expected there.
  public init(
    _ entityName: String, where format: String, _ arguments: (any FetchArgument)?...,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0, offset: Int = 0
  ) throws {
    self.init(entity: entityName, sort: sortDescriptors, limit: limit, offset: offset)
    predicate = try FetchPredicate(format, arguments: arguments)
  }

  /// Every object of an entity and its subentities, in order of one attribute.
  public init(_ entityName: String, sortedBy key: String, isAscending: Bool = true) {
    self.init(
      entity: entityName, sort: [FetchSortDescriptor(key, isAscending: isAscending)], limit: 0, offset: 0)
  }
}
