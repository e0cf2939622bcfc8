import CoreData
import Foundation
import PersistTestSupport
import Testing

/// Counts the changes of a controller.
private final class ChangeCounter: NSObject, NSFetchedResultsControllerDelegate, @unchecked Sendable {
  private let lock = NSLock()
  private var changes = 0

  var count: Int { lock.withLock { changes } }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    lock.withLock { changes += 1 }
  }
}

/// Everything that code hands between queues. The thread sanitizer runs it, too.
@Suite("Contexts that are handed between queues")
struct IsolationTests {
  private let folder: StoreFolder
  private let container: NSPersistentContainer
  /// A context that all tasks use.
  private let shared: NSManagedObjectContext

  init() throws {
    folder = try StoreFolder()
    let container = NSPersistentContainer(name: "Staff", managedObjectModel: TestModels.staff())
    let description = NSPersistentStoreDescription(url: folder.store())
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    try #require(failure == nil)
    self.container = container
    shared = container.newBackgroundContext()
    shared.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  }

  private func request(_ size: Int = 0) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: true)]
    request.fetchBatchSize = size
    return request
  }

  /// One step of a task. Each adds as many employees as it returns.
  private func step(_ number: Int, _ followers: [NSManagedObjectContext]) async throws -> Int {
    switch number % 6 {
    case 0:
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
        for salary in 0..<3 { context.employee("E", salary, in: department) }
        try context.save()
      }
      return 3
    case 1:
      try await shared.perform {
        for employee in try shared.fetch(request()).prefix(3) { employee.setValue(number, forKey: "salary") }
        try shared.save()
      }
      return 0
    case 2:
      try shared.performAndWait {
        for employee in try shared.fetch(request(4)) { _ = employee.value(forKeyPath: "department.name") }
      }
      return 0
    case 3:
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = shared
      try await child.perform {
        child.employee("child", number)
        try child.save()
      }
      try await shared.perform { try shared.save() }
      return 1
    case 4:
      let follower = followers[number % followers.count]
      try await follower.perform {
        follower.employee("follower", number)
        try follower.save()
      }
      return 1
    default:
      let ids = try await container.performBackgroundTask { context in
        let update = NSBatchUpdateRequest(entityName: "Employee")
        update.propertiesToUpdate = ["salary": number]
        update.predicate = NSPredicate(format: "name == 'E'")
        update.resultType = .updatedObjectIDsResultType
        _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        return (try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID] ?? []
      }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [shared] + followers)
      return 0
    }
  }

  @Test("Saves, children, batches and merges of several tasks lose nothing")
  func tasks() async throws {
    let counter = ChangeCounter()
    let followers = (0..<2).map { _ in container.newBackgroundContext() }
    for follower in followers {
      follower.automaticallyMergesChangesFromParent = true
      follower.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }
    let first = followers[0]
    let controller = try await first.perform {
      let controller = NSFetchedResultsController(
        fetchRequest: request(5), managedObjectContext: first, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = counter
      try controller.performFetch()
      return controller
    }
    let added = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<4 {
        group.addTask {
          var added = 0
          for round in 0..<12 { added += try await step(task + round, followers) }
          return added
        }
      }
      return try await group.reduce(0, +)
    }
    let stored = try await container.performBackgroundTask { try $0.count(for: request()) }
    #expect(stored == added)
    // Merges come after their saves, each on its context's queue.
    let isComplete = await first.perform {
      first.refreshAllObjects()
      try? controller.performFetch()
      return controller.fetchedObjects?.count == added
    }
    #expect(isComplete && counter.count > 0)
  }
}
