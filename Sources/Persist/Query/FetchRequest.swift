/// A description of the objects to fetch from a context: entity, conditions, order and number, and the result type.
///
/// ```swift
/// var request = FetchRequest("Item", sortedBy: [.init("name"), .init("quantity", isAscending: false)])
/// request.predicate = try FetchPredicate("quantity > %@ AND category.name ==[c] %@", 5, "tea")
/// request.fetchLimit = 20
/// let items = try context.fetch(request)
/// ```
///
/// `Result` is the type of the results: managed objects of a class, ``ManagedObjectID``, ``FetchedRow``, or `Int` for
/// the number of objects. Without it a request returns ``ManagedObject``s:
///
/// ```swift
/// let tea = try context.fetch(FetchRequest<Item>("Item", where: "name ==[c] 'tea'"))
/// let ids = try context.fetch(request.returning(ManagedObjectID.self))
/// ```
public struct FetchRequest<Result>: Sendable, Hashable {
  /// The type of ``sortDescriptors``, so that literals can be written as `.init("name")`.
  public typealias SortDescriptor = FetchSortDescriptor

  /// Everything but the result type.
  package var content: FetchRequestContent

  /// The name of the entity, resolved when the request runs.
  public var entityName: String {
    get { content.entityName }
    set { content.entityName = newValue }
  }
  /// The condition on the objects; nil for all.
  ///
  /// It is evaluated over one consistent state: the context's, with its unsaved changes, including those of related
  /// objects. Without ``includesPendingChanges``, and for ``FetchedRow``s, it is the saved state. A tree of more than
  /// 128 levels is rejected.
  public var predicate: FetchPredicate? {
    get { content.predicate }
    set { content.predicate = newValue }
  }
  /// The order of the results; ties, and all results without it, are ordered by store and key.
  public var sortDescriptors: [FetchSortDescriptor] {
    get { content.sortDescriptors }
    set { content.sortDescriptors = newValue }
  }
  /// The maximum number of results; 0 for no limit. A request with a negative limit or offset is rejected.
  public var fetchLimit: Int {
    get { content.fetchLimit }
    set { content.fetchLimit = newValue }
  }
  /// The number of results to skip at the beginning.
  public var fetchOffset: Int {
    get { content.fetchOffset }
    set { content.fetchOffset = newValue }
  }
  /// The number of rows read at once when results are read during iteration; 0 for a suitable default.
  public var fetchBatchSize: Int {
    get { content.fetchBatchSize }
    set { content.fetchBatchSize = newValue }
  }
  /// Whether the results include objects of subentities.
  public var includesSubentities: Bool {
    get { content.includesSubentities }
    set { content.includesSubentities = newValue }
  }
  /// Whether the context's unsaved changes are taken into account.
  ///
  /// Dictionary results always ignore them and reflect the saved state.
  public var includesPendingChanges: Bool {
    get { content.includesPendingChanges }
    set { content.includesPendingChanges = newValue }
  }
  /// Whether the rows' values are read with the results; otherwise each result costs another read on first use.
  public var includesPropertyValues: Bool {
    get { content.includesPropertyValues }
    set { content.includesPropertyValues = newValue }
  }
  /// Whether results remain faults until first use.
  public var returnsObjectsAsFaults: Bool {
    get { content.returnsObjectsAsFaults }
    set { content.returnsObjectsAsFaults = newValue }
  }
  /// Whether unchanged objects that are already registered are refreshed with the values read.
  public var shouldRefreshRefetchedObjects: Bool {
    get { content.shouldRefreshRefetchedObjects }
    set { content.shouldRefreshRefetchedObjects = newValue }
  }
  /// The identifiers of the stores to fetch from; nil for all of the context's.
  public var affectedStoreIdentifiers: [String]? {
    get { content.affectedStoreIdentifiers }
    set { content.affectedStoreIdentifiers = newValue }
  }
  /// Relationship paths whose objects are read with the results, such as `items` or `items.category`: one statement per
  /// relationship, or a few if there are thousands of objects. If these have many members, the fetch may return while
  /// another thread still reads them; members that you access before they are read are waited for, and are those of the
  /// time of the fetch.
  public var relationshipKeyPathsForPrefetching: [String] {
    get { content.relationshipKeyPathsForPrefetching }
    set { content.relationshipKeyPathsForPrefetching = newValue }
  }
  /// The identifiers that the results are restricted to; nil for no restriction.
  public var objectIDs: [ManagedObjectID]? {
    get { content.objectIDs }
    set { content.objectIDs = newValue }
  }
  /// Whether the request finds all objects, regardless of the context's ``ManagedObjectContext/defaultFilters``.
  public var ignoresDefaultFilters: Bool {
    get { content.ignoresDefaultFilters }
    set { content.ignoresDefaultFilters = newValue }
  }
  /// Whether a context has added its default filters to the predicate.
  package var includesDefaultFilters: Bool {
    get { content.includesDefaultFilters }
    set { content.includesDefaultFilters = newValue }
  }

  /// The columns of dictionary results; empty for every attribute.
  public var propertiesToFetch: [ExpressionDescription] {
    get { content.propertiesToFetch }
    set { content.propertiesToFetch = newValue }
  }
  /// The columns to group dictionary results by, with one row per distinct value; empty for no groups.
  public var propertiesToGroupBy: [ExpressionDescription] {
    get { content.propertiesToGroupBy }
    set { content.propertiesToGroupBy = newValue }
  }
  /// The condition on groups: a predicate over the names of columns and over aggregates such as `count:(name)`.
  public var havingPredicate: FetchPredicate? {
    get { content.havingPredicate }
    set { content.havingPredicate = newValue }
  }
  /// Whether duplicate rows of dictionary results are removed.
  public var returnsDistinctResults: Bool {
    get { content.returnsDistinctResults }
    set { content.returnsDistinctResults = newValue }
  }

  package init(_ content: FetchRequestContent) { self.content = content }
}

extension FetchRequest {
  /// Creates a request for the objects of an entity and its subentities.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity, resolved when the request runs.
  ///   - sortDescriptors: The order; without it, results are ordered by store and key.
  ///   - limit: The maximum number of results; 0 for no limit.
  ///   - offset: The number of results to skip at the beginning.
  ///   - objectIDs: The identifiers to restrict the results to; nil for no restriction.
  public init(
    _ entityName: String, sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0, offset: Int = 0,
    objectIDs: [ManagedObjectID]? = nil
  ) {
    self.init(
      FetchRequestContent(
        entityName, sortedBy: sortDescriptors, limit: limit, offset: offset, objectIDs: objectIDs))
  }

  /// The objects of an entity and its subentities that match a predicate.
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

  /// All objects of an entity and its subentities, sorted by one attribute.
  public init(_ entityName: String, sortedBy key: String, isAscending: Bool = true) {
    self.init(entityName, sortedBy: [FetchSortDescriptor(key, isAscending: isAscending)])
  }

  /// The same request for all objects, regardless of the context's ``ManagedObjectContext/defaultFilters``.
  public func ignoringDefaultFilters() -> FetchRequest {
    var request = self
    request.ignoresDefaultFilters = true
    return request
  }

  /// The same request with another result type.
  ///
  /// ```swift
  /// let ids = try context.fetch(request.returning(ManagedObjectID.self))
  /// ```
  public func returning<Other>(_ type: Other.Type) -> FetchRequest<Other> { FetchRequest<Other>(content) }
}
