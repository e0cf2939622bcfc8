import CoreData
import Foundation

// The declarations of the framework with the types that they have on Apple's platforms: this file only has to compile.
private func requests(_ r: NSFetchRequest<NSManagedObject>, _ c: NSManagedObjectContext, _ e: NSEntityDescription)
  throws
{
  let _ = NSFetchRequest<NSManagedObject>()
  let _: [NSManagedObject] = try r.execute()
  r.entity = e
  r.predicate = nil
  r.sortDescriptors = []
  r.fetchLimit = 1
  r.affectedStores = nil
  r.resultType = [.countResultType]
  r.includesSubentities = true
  r.includesPropertyValues = true
  r.returnsObjectsAsFaults = true
  r.relationshipKeyPathsForPrefetching = ["a"]
  r.includesPendingChanges = true
  r.returnsDistinctResults = true
  r.propertiesToFetch = ["a"]
  r.fetchOffset = 1
  r.fetchBatchSize = 1
  r.shouldRefreshRefetchedObjects = true
  r.propertiesToGroupBy = ["a"]
  r.havingPredicate = nil
  let _: String? = r.entityName
  let _: NSPersistentStoreRequestType = r.requestType
  let _ = r.copy() as! NSFetchRequest<NSManagedObject>
  let a = NSAsynchronousFetchRequest(fetchRequest: r) { (result: NSAsynchronousFetchResult<NSManagedObject>) in
    let _: [NSManagedObject]? = result.finalResult
    let _: Error? = result.operationError
    let _: Progress? = result.progress
    let _: NSAsynchronousFetchRequest<NSManagedObject> = result.fetchRequest
    let _: NSManagedObjectContext = result.managedObjectContext
    result.cancel()
  }
  a.estimatedResultCount = 1
  let _: NSFetchRequest<NSManagedObject> = a.fetchRequest
  let i = NSBatchInsertRequest(entityName: "A", objects: [])
  let _ = NSBatchInsertRequest(entity: e, dictionaryHandler: { (_: NSMutableDictionary) in true })
  let _ = NSBatchInsertRequest(entity: e, managedObjectHandler: { (_: NSManagedObject) in true })
  let _ = NSBatchInsertRequest(entityName: "a", managedObjectHandler: { _ in true })
  i.resultType = .objectIDs
  i.objectsToInsert = []
  i.dictionaryHandler = nil
  i.managedObjectHandler = nil
  let _: NSEntityDescription? = i.entity
  let _: String = i.entityName
  let u = NSBatchUpdateRequest(entity: e)
  u.predicate = nil
  u.includesSubentities = true
  u.resultType = .updatedObjectIDsResultType
  u.propertiesToUpdate = ["a": 1]
  let _: String = u.entityName
  let d = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "A"))
  d.resultType = .resultTypeCount
  let _: NSFetchRequest<NSFetchRequestResult> = d.fetchRequest
  let _: Any? = (try c.execute(d) as? NSBatchDeleteResult)?.result
  let h = NSPersistentHistoryChangeRequest.fetchHistory(after: Date())
  let _ = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
  let _ = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryTransaction?)
  let _ = NSPersistentHistoryChangeRequest.deleteHistory(before: Date())
  h.resultType = .transactionsAndChanges
  h.fetchRequest = nil
  let _: NSPersistentHistoryToken? = h.token
  let result = try c.execute(h) as! NSPersistentHistoryResult
  let _: NSPersistentHistoryResultType = result.resultType
  let t = (result.result as! [NSPersistentHistoryTransaction])[0]
  let _: Date = t.timestamp
  let _: [NSPersistentHistoryChange]? = t.changes
  let _: Int64 = t.transactionNumber
  let _: [String] = [t.storeID, t.bundleID, t.processID]
  let _: [String?] = [t.contextName, t.author]
  let _: NSPersistentHistoryToken = t.token
  let _: Notification = t.objectIDNotification()
  let _: NSEntityDescription? = NSPersistentHistoryTransaction.entityDescription
  let _: NSFetchRequest<NSFetchRequestResult>? = NSPersistentHistoryTransaction.fetchRequest
  let _: NSEntityDescription? = NSPersistentHistoryTransaction.entityDescription(with: c)
  let ch = t.changes![0]
  let _: Int64 = ch.changeID
  let _: NSManagedObjectID = ch.changedObjectID
  let _: NSPersistentHistoryChangeType = ch.changeType
  let _: [AnyHashable: Any]? = ch.tombstone
  let _: NSPersistentHistoryTransaction? = ch.transaction
  let _: Set<NSPropertyDescription>? = ch.updatedProperties
  let _ = NSFetchRequestExpression.expression(
    forFetch: CoreData.NSExpression(forConstantValue: r), context: CoreData.NSExpression(forConstantValue: c),
    countOnly: false)
}

private class Delegate: NSObject, NSFetchedResultsControllerDelegate {
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange sectionInfo: NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {}
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? { nil }
}

private class Controller<T: NSManagedObject>: NSFetchedResultsController<T>, @unchecked Sendable {
  override var fetchedObjects: [T]? { super.fetchedObjects }
  override var fetchRequest: NSFetchRequest<T> { super.fetchRequest }
  override func performFetch() throws { try super.performFetch() }
}

private func controller(_ f: NSFetchedResultsController<NSManagedObject>, _ o: NSManagedObject) throws {
  let _: [NSFetchedResultsSectionInfo]? = f.sections
  let _: [String] = f.sectionIndexTitles
  let _: String? = f.sectionIndexTitle(forSectionName: "a")
  let _: Int = f.section(forSectionIndexTitle: "a", at: 0)
  let _: NSManagedObject = f.object(at: IndexPath(indexes: [0, 0]))
  let _: IndexPath? = f.indexPath(forObject: o)
  NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
  let _: String? = f.cacheName
  let _: String? = f.sectionNameKeyPath
}
