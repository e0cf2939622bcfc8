import CoreData
import Foundation
import Testing

@Suite("Contexts of Core Data's")
struct ContextTests {
  private let folder: StoreFolder
  private let context: NSManagedObjectContext

  init() throws {
    folder = try StoreFolder()
    context = try .opening(
      folder.store(), TestModels.staff(), options: [NSPersistentHistoryTrackingKey: true as NSNumber])
  }

  private var employees: NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }

  @Test("A child's changes reach the store through its parent")
  func children() throws {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    #expect(child.persistentStoreCoordinator === context.persistentStoreCoordinator)
    try child.performAndWait {
      child.employee("Alice", 1)
      try child.save()
    }
    #expect(context.insertedObjects.count == 1)
    try context.save()
    let other = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    #expect(try other.names(employees) == ["Alice"])
  }

  @Test("Saves post notifications with the objects and the context")
  func notifications() throws {
    // Unsafe: the notifications are posted by the saves below, on this thread.
    nonisolated(unsafe) var received: [(name: Notification.Name, inserted: Int, isOwn: Bool)] = []
    let context = context
    let names: [Notification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
    ]
    let observers = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
        let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
        received.append((name, inserted?.count ?? 0, notification.object as? NSManagedObjectContext === context))
      }
    }
    defer { observers.forEach(NotificationCenter.default.removeObserver) }
    context.employee("Alice", 1)
    context.processPendingChanges()
    try context.save()
    #expect(received.map(\.name).contains(.NSManagedObjectContextWillSave))
    #expect(received.first?.name == .NSManagedObjectContextObjectsDidChange)
    #expect(received.last?.name == .NSManagedObjectContextDidSave)
    #expect(received.last?.inserted == 1)
    #expect(received.allSatisfy { $0.isOwn })
  }

  @Test("Requests return objects, identifiers, dictionaries and counts")
  func results() throws {
    for (name, salary) in [("Alice", 10), ("Bob", 20), ("Carol", 30)] { context.employee(name, salary) }
    try context.save()
    let request = employees
    request.predicate = NSPredicate(format: "salary >= %d AND name IN %@", 20, ["Bob", "Carol"])
    #expect(try context.names(request) == ["Bob", "Carol"])
    #expect(try context.count(for: request) == 2)
    let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
    identifiers.resultType = .managedObjectIDResultType
    #expect(try context.fetch(identifiers).count == 3)
    let sum = NSExpressionDescription()
    sum.name = "total"
    sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "salary")])
    sum.expressionResultType = .integer64AttributeType
    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Employee")
    dictionaries.resultType = .dictionaryResultType
    dictionaries.propertiesToFetch = [sum]
    #expect(try context.fetch(dictionaries).first?["total"] as? Int == 60)
    let counts = NSFetchRequest<NSNumber>(entityName: "Employee")
    counts.resultType = .countResultType
    #expect(try context.fetch(counts) == [3])
    let untyped: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Employee")
    #expect(try context.fetch(untyped) as? [NSManagedObject] != nil)
  }

  @Test("Batch requests change rows, and history tells of them")
  func batches() throws {
    let insert = NSBatchInsertRequest(
      entityName: "Employee", objects: [["name": "Alice", "salary": 1], ["name": "Bob", "salary": 2]])
    insert.resultType = .count
    #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 2)
    let update = NSBatchUpdateRequest(entityName: "Employee")
    update.predicate = NSPredicate(format: "name = 'Bob'")
    update.propertiesToUpdate = ["salary": 5]
    update.resultType = .updatedObjectsCountResultType
    #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
    let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Employee"))
    delete.resultType = .resultTypeObjectIDs
    #expect(((try context.execute(delete) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])?.count == 2)
    let history = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
    let result = try context.execute(history) as? NSPersistentHistoryResult
    let transactions = result?.result as? [NSPersistentHistoryTransaction]
    #expect(transactions?.count == 3)
    #expect(transactions?.last?.changes?.first?.changeType == .delete)
    #expect(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil) != nil)
  }

  @Test("A controller tells its delegate what moved where")
  func controller() throws {
    context.employee("Alice", 10)
    try context.save()
    let controller = NSFetchedResultsController(
      fetchRequest: employees, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    let delegate = Recorder()
    controller.delegate = delegate
    try controller.performFetch()
    context.employee("Bob", 20)
    context.processPendingChanges()
    #expect(delegate.events == ["will", "insert [0, 1]", "did"])
    #expect(controller.fetchedObjects?.count == 2)
    #expect(controller.sections?.first?.numberOfObjects == 2)
    #expect(controller.object(at: [0, 1]).value(forKey: "name") as? String == "Bob")
  }

  private final class Recorder: NSFetchedResultsControllerDelegate {
    var events: [String] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      events.append("will")
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      events.append("did")
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      events.append("\(type) \(newIndexPath ?? indexPath ?? [])")
    }
  }

  @Test("Undo and redo take changes back and bring them again")
  func undo() throws {
    context.undoManager = UndoManager()
    let alice = context.employee("Alice", 10)
    context.processPendingChanges()
    context.undoManager?.undo()
    #expect(context.insertedObjects.isEmpty)
    context.redo()
    #expect(context.insertedObjects == [alice])
  }

  @Test("A conflict is an error with the merge policy of errors, and resolved with others")
  func conflicts() throws {
    let alice = context.employee("Alice", 10)
    try context.save()
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    let same = try other.existingObject(with: alice.objectID)
    same.setValue(30, forKey: "salary")
    alice.setValue(20, forKey: "salary")
    try context.save()
    #expect { try other.save() } throws: { error in
      let error = error as NSError
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      return error.code == NSManagedObjectMergeError && conflicts?.first?.sourceObject === same
    }
    other.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try other.save()
    context.refresh(alice, mergeChanges: false)
    #expect(alice.value(forKey: "salary") as? Int == 30)
  }

  @Test("Live sets by key change the relationship")
  func liveSets() throws {
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    let alice = context.employee("Alice", 10)
    let members = department.mutableSetValue(forKey: "employees")
    members.add(alice)
    #expect(alice.value(forKey: "department") as? NSManagedObject === department)
    #expect((department.value(forKey: "employees") as? NSSet)?.count == 1)
    members.remove(alice)
    #expect(alice.value(forKey: "department") == nil)
    #expect(members.count == 0)
  }

  @Test("An object without a context keeps its values")
  func withoutContext() throws {
    let entity = try #require(NSEntityDescription.entity(forEntityName: "Employee", in: context))
    let object = NSManagedObject(entity: entity, insertInto: nil)
    object.setValue("Alice", forKey: "name")
    #expect(object.value(forKey: "name") as? String == "Alice")
    #expect(object.managedObjectContext == nil)
    context.insert(object)
    #expect(object.managedObjectContext === context)
    try context.save()
    #expect(object.changedValues().isEmpty)
    #expect(object.committedValues(forKeys: ["name"])["name"] as? String == "Alice")
  }
}

@Suite("Contexts on several threads")
struct ContextThreadTests {
  @Test("Blocks of a context run one at a time, and those of others in between")
  func threads() async throws {
    let folder = try StoreFolder()
    let context = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    await withTaskGroup { group in
      for number in 0..<100 {
        group.addTask {
          if number.isMultiple(of: 2) {
            context.performAndWait {
              context.employee("a\(number)", number)
              // A nested call of another context, and of the same one again.
              _ = other.performAndWait { context.performAndWait { context.employee("b\(number)", number) } }
            }
          } else {
            _ = await context.perform { context.employee("c\(number)", number) }
          }
        }
      }
    }
    try context.performAndWait { try context.save() }
    let all = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    #expect(try context.performAndWait { try context.fetch(all).count } == 150)
  }
}
