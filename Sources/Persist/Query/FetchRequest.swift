/// Which objects a context fetches: of which entity, in which order, how many; and as what.
///
/// ```swift
/// var request = FetchRequest("Item", sortedBy: [.init("name"), .init("quantity", isAscending: false)])
/// request.predicate = try FetchPredicate("quantity > %@ AND category.name ==[c] %@", 5, "tea")
/// request.fetchLimit = 20
/// let items = try context.fetch(request)
/// ```
///
/// `Result` is what the results are: managed objects of a class, ``ManagedObjectID``, ``FetchedRow``, or `Int` for how
/// many there are. A request without it gives ``ManagedObject``s:
///
/// ```swift
/// let tea = try context.fetch(FetchRequest<Item>("Item", where: "name ==[c] 'tea'"))
/// let ids = try context.fetch(request.returning(ManagedObjectID.self))
/// ```
public struct FetchRequest<Result>: Sendable, Hashable {
  public typealias SortDescriptor = FetchSortDescriptor

  /// The name of the entity. It is looked up when the request runs.
  public var entityName: String
  /// Which objects; nil for all.
  ///
  /// It sees one state: what the context shows, with its unsaved changes, those of related objects included. Without
  /// ``includesPendingChanges``, and for ``FetchedRow``s, it is what is saved. A tree of more than 128 levels is
  /// refused.
  public var predicate: FetchPredicate?
  /// The order of the results; objects that are equal in it, or all without it, come by store and key.
  public var sortDescriptors: [FetchSortDescriptor]
  /// The greatest number of results; 0 for all. A request with a negative limit or offset is refused.
  public var fetchLimit: Int
  /// How many results are left out at the beginning.
  public var fetchOffset: Int
  /// How many rows are read at once where results are read as they are walked through; 0 for a number that suits most.
  public var fetchBatchSize = 0
  /// Whether objects of subentities are results too.
  public var includesSubentities = true
  /// Whether the context's unsaved changes count.
  ///
  /// Dictionary results never have them: they are what is saved.
  public var includesPendingChanges = true
  /// Whether the rows' values are read at once; without them each result costs a read of its own when it is first used.
  public var includesPropertyValues = true
  /// Whether results stay faults until they are first used.
  public var returnsObjectsAsFaults = true
  /// Whether unchanged objects that are alive already take the values that were read for them.
  public var shouldRefreshRefetchedObjects = false
  /// The identifiers of the stores that are asked; nil for all of the context's.
  public var affectedStoreIdentifiers: [String]?
  /// Paths of relationships whose objects are read with the results, such as `items` or `items.category`: one
  /// statement for each relationship, however many objects there are.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// Only objects with these identifiers; nil for all.
  public var objectIDs: [ManagedObjectID]?

  /// The columns of dictionary results; empty for every attribute.
  public var propertiesToFetch: [ExpressionDescription] = []
  /// What rows of dictionary results are made one for each value of; empty for no groups.
  public var propertiesToGroupBy: [ExpressionDescription] = []
  /// Which groups have a row: a predicate over the names of columns and over aggregates such as `count:(name)`.
  public var havingPredicate: FetchPredicate?
  /// Whether equal rows of dictionary results are given once.
  public var returnsDistinctResults = false

  init(
    entity entityName: String, sort: [FetchSortDescriptor], limit: Int, offset: Int, objectIDs: [ManagedObjectID]? = nil
  ) {
    self.entityName = entityName
    sortDescriptors = sort
    fetchLimit = limit
    fetchOffset = offset
    self.objectIDs = objectIDs
  }
}

extension FetchRequest {
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

  /// The same request with other results.
  ///
  /// ```swift
  /// let ids = try context.fetch(request.returning(ManagedObjectID.self))
  /// ```
  public func returning<Other>(_ type: Other.Type) -> FetchRequest<Other> {
    var request = FetchRequest<Other>(
      entity: entityName, sort: sortDescriptors, limit: fetchLimit, offset: fetchOffset, objectIDs: objectIDs)
    request.predicate = predicate
    request.fetchBatchSize = fetchBatchSize
    request.includesSubentities = includesSubentities
    request.includesPendingChanges = includesPendingChanges
    request.includesPropertyValues = includesPropertyValues
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    request.affectedStoreIdentifiers = affectedStoreIdentifiers
    request.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    request.propertiesToFetch = propertiesToFetch
    request.propertiesToGroupBy = propertiesToGroupBy
    request.havingPredicate = havingPredicate
    request.returnsDistinctResults = returnsDistinctResults
    return request
  }
}
