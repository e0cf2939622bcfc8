/// The properties of a request except for the type of its results: ``FetchRequest/returning(_:)`` passes them on
/// unchanged.
///
/// ``FetchRequest`` documents them.
package struct FetchRequestContent: Sendable, Hashable {
  package var entityName: String
  package var predicate: FetchPredicate?
  package var sortDescriptors: [FetchSortDescriptor]
  package var fetchLimit: Int
  package var fetchOffset: Int
  package var fetchBatchSize = 0
  package var includesSubentities = true
  package var includesPendingChanges = true
  package var includesPropertyValues = true
  package var returnsObjectsAsFaults = true
  package var shouldRefreshRefetchedObjects = false
  package var affectedStoreIdentifiers: [String]?
  package var relationshipKeyPathsForPrefetching: [String] = []
  package var objectIDs: [ManagedObjectID]?
  package var ignoresDefaultFilters = false
  package var includesDefaultFilters = false
  package var propertiesToFetch: [ExpressionDescription] = []
  package var propertiesToGroupBy: [ExpressionDescription] = []
  package var havingPredicate: FetchPredicate?
  package var returnsDistinctResults = false

  package init(
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
