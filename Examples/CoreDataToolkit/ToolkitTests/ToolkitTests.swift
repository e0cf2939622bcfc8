import CoreData
import XCTest

@testable import CoreDataToolkit

final class FetchTests: StackTestCase {
  func testPredicates() throws {
    try fill()
    let expected: [String: Int] = [
      "cheap": 2, "literal": 2, "between": 3, "between array": 3, "in": 2, "in set": 2, "in literal": 2, "not in": 2,
      "like": 2, "matches": 2,
      "begins": 1, "nil": 0, "not nil": 3, "nsnull": 3, "bool": 3, "bool number": 3, "bool cvar": 3, "date": 3,
      "count": 1, "any": 0,
      "none": 3, "subquery": 1, "truth": 3, "long": 3, "long long": 1, "double": 3, "string": 1, "kind of": 3,
      "arithmetic": 1, "ternary-free": 3,
    ]
    for (name, predicate) in Queries.all(now: Date().addingTimeInterval(100)) {
      let count = Product.fetch(in: context) { $0.predicate = predicate }.count
      XCTAssertEqual(count, expected[name], name)
      let memory = Product.fetch(in: context).filter { predicate.evaluate(with: $0) }.count
      XCTAssertEqual(memory, expected[name], "in memory: \(name)")
    }
  }

  func testFindOrCreate() throws {
    try fill()
    let found = Shop.findOrCreate(in: context, matching: NSPredicate(format: "name == %@", "corner")) { _ in XCTFail() }
    XCTAssertEqual(found.name, "corner")
    let made = Shop.findOrCreate(in: context, matching: NSPredicate(format: "name == %@", "other")) {
      $0.isOpen = false
    }
    XCTAssertFalse(made.isOpen)
    XCTAssertTrue(made.objectID.isTemporaryID)
    XCTAssertEqual(context.insertedObjects.count, 1)
    context.rollback()
    XCTAssertEqual(Shop.count(in: context), 1)
  }

  func testKeyPathConditions() throws {
    try fill()
    let request = Product.newFetchRequest()
    request.predicate = (\Product.sku == "a" || \Product.sku << ["b", "z"]).predicate
    XCTAssertEqual(try context.fetch(request).count, 2)
    request.predicate = (!(\Product.sku == "a")).predicate && NSPredicate(format: "title != nil")
    XCTAssertEqual(try context.count(for: request), 2)
    XCTAssertEqual((\Product.shop?.name).string, "shop.name")
  }

  func testObjectIDsAndDictionaries() throws {
    try fill()
    XCTAssertEqual(try Product.fetchObjectIDs(in: context).count, 3)
    let request = NSFetchRequest<NSDictionary>(entityName: "Product")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["sku", "price"]
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Product.sku, ascending: false)]
    let rows = try context.fetch(request) as? [[String: Any]]
    XCTAssertEqual(rows?.map { $0["sku"] as? String }, ["c", "b", "a"])
    XCTAssertEqual(rows?.first?["price"] as? Decimal, 7)
    XCTAssertEqual(rows?.first?["price"] as? NSDecimalNumber, 7)
  }

  func testAggregates() throws {
    try fill()
    XCTAssertEqual(
      try Aggregate(function: "sum:", keyPath: "stock", type: .integer64AttributeType).fetch(Product.self, in: context),
      6)
    XCTAssertEqual(
      try Aggregate(function: "max:", keyPath: "price", type: .decimalAttributeType).fetch(Product.self, in: context)?
        .intValue, 7)
    XCTAssertEqual(
      try Aggregate(function: "average:", keyPath: "stock", type: .doubleAttributeType).fetch(
        Product.self, in: context), 2)
    let extra = Product(context: context)
    extra.sku = "d"
    extra.title = "Tea"
    try context.save()
    let groups = try Aggregate.grouped(Product.self, by: "title", having: nil, in: context)
    XCTAssertEqual(groups, ["Bread": 1, "Tea": 2, "milk": 1])
    let variable = NSPredicate(format: "%@ > 1", CoreData.NSExpression(forVariable: "count"))
    XCTAssertEqual(try Aggregate.grouped(Product.self, by: "title", having: variable, in: context), ["Tea": 2])
  }

  func testAsynchronousFetch() throws {
    try fill()
    let done = expectation(description: "fetch")
    try context.performAndWait {
      _ = try Product.asyncFetch(in: context, configure: { $0.predicate = NSPredicate(format: "sku != 'a'") }) {
        result in
        if case .success(let objects) = result { XCTAssertEqual(objects.count, 2) } else { XCTFail() }
        done.fulfill()
      }
    }
    wait(for: [done], timeout: 30)
  }

  func testFaults() throws {
    try fill()
    context.refreshAllObjects()
    let products = Product.fetch(in: context)
    context.refreshAllObjects()
    XCTAssertTrue(products.allSatisfy { $0.isFault })
    try products.fetchFaults()
    XCTAssertTrue(products.allSatisfy { !$0.isFault })
  }

  func testKeyValueCoding() throws {
    let shop = try fill()
    XCTAssertEqual(shop.value(forKey: "initial") as? String, "C")
    XCTAssertEqual(shop.value(forKeyPath: "products.@count") as? Int, 3)
    XCTAssertEqual(shop.value(forKeyPath: "products.@sum.stock") as? Int, 6)
    XCTAssertEqual((shop.value(forKeyPath: "products.sku") as? Set<String>), ["a", "b", "c"])
    let objects = Product.fetch(in: context) { $0.sortDescriptors = [NSSortDescriptor(key: "sku", ascending: true)] }
    XCTAssertEqual(objects[0].value(forKeyPath: "shop.initial") as? String, "C")
    XCTAssertEqual(objects[0].value(forKey: "kind") as? Int, 0)
    objects[0].setValue(2, forKey: "kind")
    XCTAssertEqual(objects[0].kind, .toy)
    objects[0].kind = .tool
    XCTAssertTrue(objects[0].hasChanges)
    XCTAssertEqual(objects[0].changedValues()["kind"] as? Int16, 1)
    XCTAssertEqual(objects[0].committedValue(forKey: "kind") as? Int, 0)
    XCTAssertTrue(objects[0].evaluate(with: "shop.initial == 'C'"))
    let set = shop.mutableSetValue(forKey: "products")
    set.remove(objects[1])
    XCTAssertNil(objects[1].shop)
    XCTAssertEqual(shop.products.count, 2)
    objects[1].setValue(nil, forKey: "title")
    XCTAssertNil(objects[1].title)
    objects[1].setNilValueForKey("stock")
    let values = objects[0].dictionaryWithValues(forKeys: ["sku", "title"])
    XCTAssertEqual(values["sku"] as? String, "a")
  }
}

final class ControllerTests: StackTestCase {
  func testSectionsByComputedProperty() throws {
    try fill()
    _ = Shop(name: "bakery", context: context)
    _ = Shop(name: "Cinema", context: context)
    try context.save()
    let request = Shop.newFetchRequest()
    request.sortDescriptors = [
      NSSortDescriptor(key: "name", ascending: true, selector: NSSelectorFromString("caseInsensitiveCompare:"))
    ]
    let observer = try FetchedResultsObserver(
      request: request, in: context, sectionNameKeyPath: "initial", cacheName: "shops")
    XCTAssertEqual(observer.sections.map(\.name), ["B", "C"])
    XCTAssertEqual(observer.sections.map { $0.objects.map(\.name) }, [["bakery"], ["Cinema", "corner"]])
    XCTAssertEqual(observer[IndexPath(item: 1, section: 1)].name, "corner")
    _ = Shop(name: "deli", context: context)
    context.processPendingChanges()
    XCTAssertEqual(observer.events, ["will", "section +2 D", "insert 2.0", "did"])
    observer.resetEvents()
    context.delete(observer[IndexPath(item: 0, section: 0)])
    context.processPendingChanges()
    XCTAssertEqual(observer.events, ["will", "section -0 B", "delete 0.0", "did"])
    try observer.setPredicate(NSPredicate(format: "name BEGINSWITH 'c'"))
    XCTAssertEqual(observer.controller.fetchedObjects?.count, 1)
  }

  func testObserver() throws {
    let shop = try fill()
    var types: [ManagedObjectObserver.ChangeType] = []
    let observer = ManagedObjectObserver(object: shop) { types.append($0) }
    shop.rating = 3
    context.processPendingChanges()
    context.refresh(shop, mergeChanges: false)
    context.delete(shop)
    context.processPendingChanges()
    XCTAssertEqual(types.first, .update)
    XCTAssertEqual(types.last, .delete)
    _ = observer
  }
}

final class BatchTests: StackTestCase {
  func testInsertUpdateDelete() throws {
    let objects = (0..<50).map { ["sku": "s\($0)", "stock": $0] as [String: Any] }
    let inserted = try context.batchInsert(entity: Product.self, resultType: .objectIDs, objects: objects)
    XCTAssertEqual(inserted.inserts?.count, 50)
    XCTAssertEqual(inserted.changes?[NSInsertedObjectsKey]?.count, 50)
    var index = 0
    let handled = try context.batchInsert(Product.self, resultType: .count) { (product: Product) in
      guard index < 5 else { return true }
      product.sku = "h\(index)"
      product.kind = .toy
      index += 1
      return false
    }
    XCTAssertEqual(handled.count, 5)
    var next = 0
    let count = try context.batchInsert(Product.self) { (dictionary: NSMutableDictionary) in
      if next == 3 { return true }
      dictionary["sku"] = "d\(next)"
      dictionary["title"] = "Dictionary"
      next += 1
      return false
    }
    XCTAssertEqual(count, 3)
    XCTAssertEqual(Product.count(in: context), 58)
    let updated = try context.batchUpdate(
      Product.self, where: NSPredicate(format: "stock > 40"), values: ["title": "Many"],
      resultType: .updatedObjectsCountResultType)
    XCTAssertEqual(updated.count, 9)
    let expression = try context.batchUpdate(
      Product.self, where: NSPredicate(format: "stock > 40"),
      values: ["stock": CoreData.NSExpression(format: "stock + 100")], resultType: .updatedObjectIDsResultType)
    XCTAssertEqual(expression.updates?.count, 9)
    let max = try Aggregate(function: "max:", keyPath: "stock", type: .integer64AttributeType).fetch(
      Product.self, in: context)
    XCTAssertEqual(max, 149)
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Product")
    request.predicate = NSPredicate(format: "stock > 100")
    let held = try XCTUnwrap(Product.fetchOne(where: NSPredicate(format: "stock == 149"), in: context))
    XCTAssertEqual(try context.executeAndMergeChanges(using: NSBatchDeleteRequest(fetchRequest: request)), 9)
    XCTAssertTrue(held.isDeleted || held.managedObjectContext == nil)
    XCTAssertEqual(Product.count(in: context), 49)
    let ids = try Product.fetchObjectIDs(in: context)
    XCTAssertEqual(try context.executeAndMergeChanges(using: NSBatchDeleteRequest(objectIDs: Array(ids.prefix(4)))), 4)
    XCTAssertEqual(try Product.batchDelete(in: context).deletes?.count, 45)
  }
}

final class ContextTests: StackTestCase {
  func testErrors() throws {
    try fill()
    let invalid = Product(context: context)
    let shop = Shop(name: "x", context: context)
    shop.rating = 9
    XCTAssertThrowsError(try context.save()) { error in
      let error = error as NSError
      XCTAssertEqual(error.domain, NSCocoaErrorDomain)
      XCTAssertEqual(error.code, NSValidationMultipleErrorsError)
      guard case .validation(let keys) = CoreDataError(error) else { return XCTFail("\(error)") }
      XCTAssertEqual(keys, ["rating", "sku"])
    }
    invalid.sku = "a"
    shop.rating = 1
    context.mergePolicy = NSErrorMergePolicy
    XCTAssertThrowsError(try context.save()) { error in
      XCTAssertEqual((error as? CocoaError)?.code, CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError))
      guard case .constraint("sku") = CoreDataError(error) else { return XCTFail("\(error)") }
    }
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    invalid.title = "Upserted"
    try context.save()
    XCTAssertEqual(Product.count(in: context), 3)
    XCTAssertEqual(try Product.fetchUnique(where: NSPredicate(format: "sku == 'a'"), in: context)?.title, "Upserted")
    try XCTUnwrap(Product.fetchOne(where: NSPredicate(format: "sku == 'a'"), in: context)).price = -1
    XCTAssertThrowsError(try context.save()) { XCTAssertEqual(($0 as NSError).code, 77) }
    context.rollback()
    let other = try XCTUnwrap(Product.fetchOne(where: NSPredicate(format: "sku == 'b'"), in: context))
    other.title = ""
    XCTAssertThrowsError(try other.validateForUpdate()) {
      XCTAssertEqual(($0 as NSError).code, NSValidationStringTooShortError)
    }
    context.rollback()
  }

  func testMergePolicy() throws {
    try fill()
    context.mergePolicy = CounterMergePolicy()
    context.automaticallyMergesChangesFromParent = false
    let mine = try XCTUnwrap(Product.fetchOne(where: NSPredicate(format: "sku == 'a'"), in: context))
    XCTAssertEqual(mine.stock, 1)
    let other = stack.container.newBackgroundContext()
    try other.performSaveAndWait { other in
      let theirs: Product = try XCTUnwrap(mine.inContext(other))
      theirs.stock = 11
    }
    mine.stock = 3
    try context.save()
    XCTAssertEqual(mine.stock, 13)
  }

  func testChildAndUndo() throws {
    let shop = try fill()
    let child = stack.childContext()
    let copy: Shop = try XCTUnwrap(shop.inContext(child))
    copy.rating = 2
    child.processPendingChanges()
    XCTAssertTrue(child.hasPersistentChanges)
    child.undo()
    XCTAssertEqual(copy.rating, 4)
    child.redo()
    XCTAssertEqual(copy.rating, 2)
    XCTAssertEqual(child.topmostParent, context)
    try child.saveUpToTheTop()
    XCTAssertEqual(shop.rating, 2)
    XCTAssertFalse(context.hasChanges)
    let fresh = stack.container.newBackgroundContext()
    fresh.performAndWait { XCTAssertEqual(Shop.fetch(in: fresh).first?.rating, 2) }
  }

  func testBackgroundSaveAndMerge() throws {
    let shop = try fill()
    let done = expectation(description: "save")
    var saved: ContextDidSaveNotification?
    stack.performAndSave(
      { context in
        let shop: Shop = try XCTUnwrap(shop.inContext(context))
        shop.rating = 1
        shop.products.forEach { context.delete($0) }
        let token = context.addContextDidSaveNotificationObserver { saved = $0 }
        try context.save()
        NotificationCenter.default.removeObserver(token)
      },
      completion: { result in
        if case .failure(let error) = result { XCTFail("\(error)") }
        done.fulfill()
      })
    wait(for: [done], timeout: 30)
    XCTAssertEqual(saved.map { Array($0.deletedObjects).count }, 4)
    XCTAssertEqual(saved.map { Array($0.updatedObjects).count }, 1)
    XCTAssertNotNil(saved?.historyToken)
    context.performAndWait {}
    context.refresh(shop, mergeChanges: true)
    XCTAssertEqual(shop.rating, 1)
    XCTAssertTrue(shop.products.isEmpty)
  }

  func testMetadataAndDerived() throws {
    let shop = try fill()
    let store = try XCTUnwrap(context.persistentStores.first)
    context.setMetaDataObject("value", with: "key", for: store)
    shop.rating = 0
    try context.save()
    XCTAssertEqual(context.metaData(for: store)["key"] as? String, "value")
    let url = try XCTUnwrap(store.url)
    XCTAssertEqual(NSPersistentStoreCoordinator.metadata(at: url)?["key"] as? String, "value")
    XCTAssertEqual(NSPersistentStoreCoordinator.metadata(at: url)?[NSStoreTypeKey] as? String, NSSQLiteStoreType)
    context.refresh(shop, mergeChanges: false)
    XCTAssertEqual(shop.productCount, 3)
    XCTAssertEqual(shop.canonicalName, "corner")
    let uri = shop.objectID.uriRepresentation()
    XCTAssertEqual(try context.object(from: uri), shop)
    XCTAssertEqual(uri.scheme, "x-coredata")
  }

  func testTransformable() throws {
    let shop = try fill()
    let tea = try XCTUnwrap(shop.products.first { $0.sku == "a" })
    tea.tags = ["hot", "green"]
    try context.save()
    context.refresh(tea, mergeChanges: false)
    XCTAssertEqual(tea.tags, ["hot", "green"])
    XCTAssertEqual((tea.notes?.firstObject as? Note)?.text, "Good stuff")
    XCTAssertNotNil(tea.modifiedAt)
  }

  @available(macOS 12.0, *)
  func testRepository() async throws {
    try context.performAndWait { _ = try fill() }
    let context = stack.container.newBackgroundContext()
    let repository = CoreDataRepository<Product>(managedObjectContext: context)
    let found = try await repository.get(predicate: NSPredicate(format: "stock > 1"), sortDescriptors: nil).get()
    XCTAssertEqual(found.count, 2)
    let count = try await repository.count(NSPredicate(value: true))
    XCTAssertEqual(count, 3)
    let stock = try XCTUnwrap(context.entity(forEntityName: "Product")?.attributesByName["stock"])
    let sum = try await repository.aggregate("sum:", attribute: stock, predicate: NSPredicate(value: true))
    XCTAssertEqual(sum, 6)
    let url = await context.perform { found[0].objectID.uriRepresentation() }
    let title = try await repository.read(url) { $0.title }
    XCTAssertNotNil(title)
    try await context.performSave { context.delete(found[0]) }
    do {
      _ = try await repository.read(url) { $0.title }
      XCTFail()
    } catch {
      XCTAssertEqual((error as NSError).code, NSManagedObjectReferentialIntegrityError)
    }
    let created = try await repository.create().get()
    XCTAssertTrue(created.isInserted)
  }
}

final class HistoryTests: StackTestCase {
  func testProcessing() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let tokens = FileTokenStore(file: file)
    let processor = PersistentHistoryProcessor(container: stack.container, author: "app", tokens: tokens)
    context.transactionAuthor = "extension"
    context.automaticallyMergesChangesFromParent = false
    let shop = try fill()
    shop.rating = 2
    try context.save()
    let other = stack.container.newBackgroundContext()
    other.performAndWait {
      let transactions = try? processor.fetchTransactions(in: other)
      XCTAssertEqual(transactions?.count, 2)
      XCTAssertEqual(transactions?.last.map(processor.log), ["Shop update rating"])
      XCTAssertEqual(transactions?.latest()?.author, "extension")
    }
    XCTAssertEqual(try processor.process(), 2)
    XCTAssertEqual(try processor.process(), 0)
    XCTAssertNotNil(tokens.load())
    XCTAssertEqual(try processor.changes(ofEntity: Product.entity(), type: .insert).count, 3)
    XCTAssertTrue(try processor.clean(before: Date.distantFuture))
    XCTAssertEqual(try processor.changes(ofEntity: Product.entity(), type: .insert).count, 0)
  }
}
