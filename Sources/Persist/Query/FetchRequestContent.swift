/// What a request asks for, regardless of the type of its results: ``FetchRequest/returning(_:)`` passes it on unchanged.
///
/// The properties are those of ``FetchRequest``.
struct FetchRequestContent: Sendable, Hashable {
  var entityName: String
  var predicate: FetchPredicate?
  var sortDescriptors: [FetchSortDescriptor]
  var fetchLimit: Int
  var fetchOffset: Int
  var fetchBatchSize = 0
  var includesSubentities = true
  var includesPendingChanges = true
  var includesPropertyValues = true
  var returnsObjectsAsFaults = true
  var shouldRefreshRefetchedObjects = false
  var affectedStoreIdentifiers: [String]?
  var relationshipKeyPathsForPrefetching: [String] = []
  var objectIDs: [ManagedObjectID]?
  var ignoresDefaultFilters = false
  var includesDefaultFilters = false
  var propertiesToFetch: [ExpressionDescription] = []
  var propertiesToGroupBy: [ExpressionDescription] = []
  var havingPredicate: FetchPredicate?
  var returnsDistinctResults = false

  init(
    _ entityName: String, sortedBy sortDescriptors: [FetchSortDescriptor], limit: Int = 0, offset: Int = 0,
    objectIDs: [ManagedObjectID]? = nil
  ) {
    self.entityName = entityName
    self.sortDescriptors = sortDescriptors
    fetchLimit = limit
    fetchOffset = offset
    self.objectIDs = objectIDs
  }
}
