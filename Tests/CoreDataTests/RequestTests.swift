import CoreData
import Foundation
import Testing

@Suite("Requests of Core Data's")
struct RequestTests {
  private let folder: StoreFolder
  private let context: NSManagedObjectContext

  init() throws {
    folder = try StoreFolder()
    context = try .opening(
      folder.store(), TestModels.staff(), options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    for number in 0..<10 {
      let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
      department.setValue("D\(number / 5)", forKey: "name")
      context.employee("E\(number)", number, in: department)
    }
    try context.save()
    context.reset()
  }

  private func request(_ format: String? = nil, _ arguments: Any...) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: true)]
    return request
  }

  @Test("A new request has Core Data's defaults, and a copy its properties")
  func defaults() throws {
    let request = NSFetchRequest<NSManagedObject>()
    #expect(request.entity == nil && request.predicate == nil && request.sortDescriptors == nil)
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.resultType == .managedObjectResultType)
    #expect(request.includesSubentities && request.includesPendingChanges && request.includesPropertyValues)
    #expect(request.returnsObjectsAsFaults && !request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects)
    #expect(request.propertiesToGroupBy == nil && request.havingPredicate == nil)
    request.entity = NSEntityDescription.entity(forEntityName: "Employee", in: context)
    request.fetchLimit = 3
    let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
    #expect(copy.fetchLimit == 3 && copy.entityName == "Employee")
    copy.fetchLimit = 4
    #expect(request.fetchLimit == 3)
  }

  @Test("Limits, offsets, batches and faults")
  func windows() throws {
    let request = request()
    request.fetchOffset = 2
    request.fetchLimit = 3
    #expect(try context.names(request) == ["E2", "E3", "E4"])
    request.fetchBatchSize = 2
    #expect(try context.names(request) == ["E2", "E3", "E4"])
    context.reset()
    #expect(try context.fetch(request).allSatisfy(\.isFault))
    request.returnsObjectsAsFaults = false
    #expect(try context.fetch(request).allSatisfy { !$0.isFault })
    request.relationshipKeyPathsForPrefetching = ["department"]
    context.reset()
    let first = try #require(context.fetch(request).first)
    #expect(first.value(forKeyPath: "department.name") as? String == "D0")
  }

  @Test("Pending changes are included, unless they are excluded")
  func pending() throws {
    context.employee("E10", 100)
    let all = request("salary >= 9")
    #expect(try context.count(for: all) == 2)
    all.includesPendingChanges = false
    #expect(try context.count(for: all) == 1)
  }

  @Test("Dictionaries have groups, conditions on groups, distinct rows and identifiers")
  func dictionaries() throws {
    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "name")])
    count.expressionResultType = .integer32AttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["department.name", count]
    request.propertiesToGroupBy = ["department.name"]
    request.havingPredicate = NSPredicate(format: "%@ > 4", NSExpression(forVariable: "count"))
    request.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: false)]
    let rows = try context.fetch(request)
    #expect(rows.map { $0["department.name"] as? String } == ["D1", "D0"])
    #expect(rows.map { $0["count"] as? Int } == [5, 5])
    let distinct = NSFetchRequest<NSDictionary>(entityName: "Employee")
    distinct.resultType = .dictionaryResultType
    distinct.propertiesToFetch = ["department.name"]
    distinct.returnsDistinctResults = true
    #expect(try context.fetch(distinct).count == 2)
    let identifier = NSExpressionDescription()
    identifier.name = "id"
    identifier.expression = NSExpression.expressionForEvaluatedObject()
    identifier.expressionResultType = .objectIDAttributeType
    let rowsWithIDs = NSFetchRequest<NSDictionary>(entityName: "Employee")
    rowsWithIDs.resultType = .dictionaryResultType
    rowsWithIDs.propertiesToFetch = ["name", identifier]
    let row = try #require(context.fetch(rowsWithIDs).first)
    let id = try #require(row["id"] as? NSManagedObjectID)
    #expect(try context.existingObject(with: id).value(forKey: "name") as? String == row["name"] as? String)
  }

  @Test("The six aggregates in one row")
  func aggregates() throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["sum:", "min:", "max:", "average:", "count:"].map { function in
      let column = NSExpressionDescription()
      column.name = String(function.dropLast())
      column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: "salary")])
      column.expressionResultType = function == "average:" ? .doubleAttributeType : .integer64AttributeType
      return column
    }
    let row = try #require(context.fetch(request).first)
    #expect(row["sum"] as? Int == 45 && row["min"] as? Int == 0 && row["max"] as? Int == 9)
    #expect(row["average"] as? Double == 4.5 && row["count"] as? Int == 10)
  }

  @Test("An asynchronous request calls its block with all results")
  func asynchronous() async throws {
    let fetch = request()
    let count = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      let request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
        continuation.resume(returning: result.finalResult?.count ?? -1)
      }
      do { try context.execute(request) } catch { continuation.resume(throwing: error) }
    }
    #expect(count == 10)
  }

  @Test("Inside of a context's block, a request executes itself")
  func execute() throws {
    #expect(throws: (any Error).self) { try request().execute() }
    #expect(try context.performAndWait { try request().execute().count } == 10)
    let untyped = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
    #expect(try context.performAndWait { try untyped.execute().count } == 10)
  }

  @Test("Batch requests have results of every type, and objects and dictionaries by handlers")
  func batches() throws {
    var number = 0
    let insert = NSBatchInsertRequest(entityName: "Employee", dictionaryHandler: { dictionary in
      dictionary["name"] = "N\(number)"
      dictionary["salary"] = 1000 + number
      number += 1
      return number > 3
    })
    insert.resultType = .objectIDs
    let inserted = try #require(context.execute(insert) as? NSBatchInsertResult)
    #expect((inserted.result as? [NSManagedObjectID])?.count == 3)
    number = 0
    let objects = NSBatchInsertRequest(entityName: "Employee", managedObjectHandler: { object in
      object.setValue("O\(number)", forKey: "name")
      object.setValue(2000, forKey: "salary")
      number += 1
      return number > 2
    })
    objects.resultType = .count
    #expect((try context.execute(objects) as? NSBatchInsertResult)?.result as? Int == 2)
    let update = NSBatchUpdateRequest(entityName: "Employee")
    update.predicate = NSPredicate(format: "salary >= 1000")
    update.propertiesToUpdate = [
      "salary": NSExpression(format: "salary + 1"), "name": NSExpression(forConstantValue: "M"),
    ]
    update.resultType = .updatedObjectIDsResultType
    let updated = try #require(context.execute(update) as? NSBatchUpdateResult)
    #expect((updated.result as? [NSManagedObjectID])?.count == 5)
    #expect(try context.count(for: request("name = 'M' AND salary > 1000")) == 5)
    let delete = NSBatchDeleteRequest(objectIDs: updated.result as? [NSManagedObjectID] ?? [])
    delete.resultType = .resultTypeCount
    #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 5)
    let status = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
    #expect((try context.execute(status) as? NSBatchDeleteResult)?.result as? Bool == true)
    #expect(try context.count(for: request()) == 0)
  }

  @Test("A value that no attribute can hold is an error of a batch update, and doesn't become nil")
  func batchUpdateOfWrongValue() throws {
    let update = NSBatchUpdateRequest(entityName: "Employee")
    update.propertiesToUpdate = ["name": NSObject()]
    #expect(throws: (any Error).self) { try context.execute(update) }
    update.propertiesToUpdate = ["name": NSNull()]
    try context.execute(update)
    #expect(try context.count(for: request("name = nil")) == 10)
  }

  @Test("History is fetched after tokens, dates and transactions, with a selection, and deleted")
  func history() throws {
    context.transactionAuthor = "me"
    context.name = "view"
    func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
      let result = try context.execute(request) as? NSPersistentHistoryResult
      return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }
    let all = try transactions(.fetchHistory(after: .distantPast))
    #expect(all.count == 1)
    let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    #expect(try transactions(.fetchHistory(after: token)).isEmpty)
    context.employee("A", 1)
    try context.save()
    let employee = try #require(context.fetch(request("name = 'A'")).first)
    employee.setValue("B", forKey: "name")
    try context.save()
    context.transactionAuthor = nil
    context.delete(employee)
    try context.save()
    let later = try transactions(.fetchHistory(after: token))
    #expect(later.map { $0.changes?.map(\.changeType) } == [[.insert], [.update], [.delete]])
    #expect(later.map(\.author) == ["me", "me", nil])
    #expect(later[1].changes?.first?.updatedProperties?.map(\.name) == ["name"])
    #expect(later[0].contextName == "view" && !later[0].processID.isEmpty)
    #expect(try transactions(.fetchHistory(after: all[0])).count == 3)
    let mine = NSPersistentHistoryChangeRequest.fetchHistory(after: later[0].token)
    mine.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
    mine.fetchRequest?.predicate = NSPredicate(format: "author == %@", "me")
    #expect(try transactions(mine).map(\.transactionNumber) == [later[1].transactionNumber])
    let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
    fetch.predicate = NSPredicate(format: "author == nil AND token > %@", token as Any)
    #expect(try transactions(.fetchHistory(withFetch: fetch)).count == 1)
    let changes = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    changes.resultType = .changesOnly
    let found = try context.execute(changes) as? NSPersistentHistoryResult
    #expect((found?.result as? [NSPersistentHistoryChange])?.count == 3)
    try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: later[2]))
    #expect(throws: (any Error).self) { try transactions(.fetchHistory(after: token)) }
  }
}
