import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Batch operations")
struct BatchTests {
  private func withCars(
    _ model: ModelDescription = CarModel.description(), _ body: (TestStack, ManagedObjectContext) throws -> Void
  ) throws {
    try withStack(model) { stack in
      try CarModel.seed(stack.context())
      try body(stack, stack.context())
    }
  }

  private func plates(_ context: ManagedObjectContext, _ format: String = "TRUEPREDICATE") throws -> [String] {
    try context.fetch(FetchRequest("Car", where: format, sortedBy: [.init("numberPlate")])).compactMap {
      $0["numberPlate"] as? String
    }
  }

  // MARK: Insert

  @Test("Rows from dictionaries: status, count or identifiers; defaults for missing values; new keys follow the last")
  func insertDictionaries() throws {
    try withCars { stack, context in
      var request = BatchInsertRequest(
        "Car", [["numberPlate": "a", "maker": "Seat"], ["numberPlate": "b", "mileage": 9]])
      request.resultType = .objectIDs
      let ids = try #require(try context.execute(request).objectIDs)
      #expect(ids.map(\.primaryKey) == [7, 8])
      let fresh = stack.context()
      #expect(try plates(fresh, "numberPlate IN {'a', 'b'}") == ["a", "b"])
      #expect(try plates(fresh, "mileage == 7 AND maker == 'Seat'") == ["a"])
      var status = BatchInsertRequest("SportCar", [["numberPlate": "c"]])
      status.resultType = .statusOnly
      let done = try context.execute(status)
      #expect(done.count == nil && done.objectIDs == nil)
      // The key counter was updated: the next saved object gets the following key.
      let next = try fresh.make("Car", ["numberPlate": "d"])
      try fresh.save()
      #expect(next.objectID.primaryKey == 10)
      #expect(try fresh.count(for: FetchRequest("Car")) == 10)
    }
  }

  @Test("Identifiers are in the order of insertion, those of several entities by entity and key")
  func identifierOrder() throws {
    try withStack(CarModel.description()) { stack in
      let context = stack.context()
      let plates = (0..<300).map { "p\($0 * 7 % 300)" }
      var request = BatchInsertRequest("Car", plates.map { ["numberPlate": $0] })
      request.resultType = .objectIDs
      let ids = try #require(try context.execute(request).objectIDs)
      #expect(ids.map { context.object(with: $0)["numberPlate"] as? String } == plates)
      try context.execute(BatchInsertRequest("SportCar", (0..<50).map { ["numberPlate": "s\($0)"] }))
      let update = BatchUpdateRequest("Car", set: ["mileage": .value(1)], resultType: .updatedObjectIDsResultType)
      let updated = try #require(try context.execute(update).objectIDs)
      let deleted = try #require(
        try context.execute(BatchDeleteRequest("Car", resultType: .resultTypeObjectIDs)).objectIDs)
      let keys: [Int64?] = (1...350).map { $0 }
      for found in [updated, deleted] {
        #expect(found.prefix(300) == ids[...] && found.map(\.primaryKey) == keys)
        #expect(found.suffix(50).allSatisfy { $0.entityName == "SportCar" })
      }
    }
  }

  @Test("Rows filled by a closure, one per call, for a subentity whose rows also count for its parents (BAT-05)")
  func insertHandler() throws {
    try withCars { stack, context in
      var number = 0
      let result = try context.execute(
        BatchInsertRequest("SportCar") { row in
          guard number < 5 else { return false }
          row["numberPlate"] = .string("s\(number)")
          number += 1
          return true
        })
      #expect(result.count == 5 && number == 5)
      #expect(try plates(stack.context(), "numberPlate BEGINSWITH 's'").count == 5)
      var calls = 0
      let dictionaries = BatchInsertRequest("Car") { (values: inout [String: Any?]) in
        calls += 1
        values["numberPlate"] = "h\(calls)"
        return calls > 3
      }
      #expect(try context.execute(dictionaries).count == 3)
    }
  }

  @Test("A missing required value, unknown key or value of another type is an error; nothing is inserted (BAT-04)")
  func insertErrors() throws {
    try withCars { stack, context in
      for (rows, code) in [
        ([["numberPlate": "x"], ["maker": "y"]], PersistenceError.Code.validationMissingRequired),
        ([["numberPlate": "x"], ["colour": "red"]], .unknownProperty),
        ([["numberPlate": "x"], ["numberPlate": "y", "mileage": "far"]], .typeMismatch),
        ([["numberPlate": "x"], ["numberPlate": "x"]], .constraintConflict),
        ([["numberPlate": "1"]], .constraintConflict),
      ] as [([[String: Any?]], PersistenceError.Code)] {
        #expect(persistError { try context.execute(BatchInsertRequest("Car", rows)) }?.code == code)
      }
      try #expect(stack.context().count(for: FetchRequest("Car")) == 6)
      #expect(persistError { try context.execute(BatchInsertRequest("Nothing", [[:]])) }?.code == .unknownEntity)
    }
  }

  @Test(
    "Large values are written to files of their own, and none remains if the batch fails",
    .aboutFilesOfLargeValues)
  func insertFiles() throws {
    try withCars { stack, context in
      let photo = Data(repeating: 3, count: 300_000)
      try context.execute(BatchInsertRequest("Car", [["numberPlate": "p", "photo": photo]]))
      let folder = try #require((try? SQLiteStore.open(stack.url, model: stack.model))?.externalFolder?.url)
      func files() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder.path).count }
      #expect(try files() == 1)
      let fresh = stack.context()
      let car = try #require(try fresh.fetch(FetchRequest("Car", where: "numberPlate == 'p'")).first)
      #expect(car["photo"] as? Data == photo)
      #expect(
        persistError {
          try context.execute(BatchInsertRequest("Car", [["numberPlate": "q", "photo": photo], ["photo": photo]]))
        }?.code == .validationMissingRequired)
      #expect(try files() == 1)
      try context.execute(BatchDeleteRequest("Car", where: FetchPredicate("numberPlate == 'p'")))
      #expect(try files() == 0)
    }
  }

  @Test("Rows with unique values that are already in use follow the context's merge policy")
  func upsert() throws {
    let rows: [[String: Any?]] = [["numberPlate": "1", "maker": "Seat"], ["numberPlate": "n"], ["numberPlate": "n"]]
    for (policy, maker, mileage, count) in [
      (MergePolicy.mergeByPropertyStoreTrump, "FIAT", 50, 1), (.rollback, "FIAT", 50, 1),
      (.mergeByPropertyObjectTrump, "Seat", 50, 3), (.overwrite, "Seat", 7, 3),
    ] {
      try withCars { stack, context in
        try context.execute(BatchUpdateRequest("Car", set: ["mileage": .value(50)]))
        context.mergePolicy = policy
        var request = BatchInsertRequest("Car", rows)
        request.resultType = .objectIDs
        let result = try context.execute(request)
        #expect(result.count == count && result.changes.insertedObjectIDs.count == 1)
        let fresh = stack.context()
        let car = try #require(try fresh.fetch(FetchRequest("Car", where: "numberPlate == '1'")).first)
        #expect(car["maker"] as? String == maker && car["mileage"] as? Int == mileage)
        let new = try fresh.fetch(FetchRequest("Car", where: "numberPlate == 'n'")).map(\.objectID.primaryKey)
        let next = try fresh.make("Car", ["numberPlate": "next"])
        try fresh.save()
        #expect(new.count == 1)
        // A key that a resolved row didn't need isn't lost in a file.
        if TestEngine.current == .sqlite { #expect(new == [7] && next.objectID.primaryKey == 8) }
      }
    }
  }

  @Test("A row of another entity that has the unique values is reported as an object of its own entity")
  func upsertOfOtherEntity() throws {
    let model = try ManagedObjectModel(CarModel.description())
    try withTemporaryStore { url in
      let stack = try TestStack(model, at: url, options: StoreOptions(historyKeeps: .oldValues))
      try CarModel.seed(stack.context())
      let context = stack.context()
      let (sports, plain) = try (
        context.named("Car", "5", by: "numberPlate").objectID, context.named("Car", "1", by: "numberPlate").objectID
      )
      #expect(sports.entityName == "SportCar")
      for policy in [MergePolicy.mergeByPropertyObjectTrump, .overwrite] {
        context.mergePolicy = policy
        var request = BatchInsertRequest("Car", [["numberPlate": "5", "maker": "Seat"]])
        request.resultType = .objectIDs
        try #expect(context.execute(request).changes.updatedObjectIDs == [sports])
        let change = try #require(stack.coordinator.transactions().last?.changes?.first)
        #expect(change.changedObjectID == sports && change.changeType == .update)
        #expect(change.updatedProperties?.contains("maker") == true)
        let reverting = stack.context()
        try reverting.revert(#require(stack.coordinator.transactions().last))
        try reverting.save()
        #expect(try stack.context().existingObject(with: sports)["maker"] as? String == "Kia")
      }
      var request = BatchInsertRequest("SportCar", [["numberPlate": "1", "isLimited": true, "maker": "Seat"]])
      request.resultType = .objectIDs
      try #expect(context.execute(request).changes.updatedObjectIDs == [plain])
      let change = try #require(stack.coordinator.transactions().last?.changes?.first)
      #expect(change.changedObjectID == plain && change.updatedProperties?.contains("isLimited") == false)
      #expect(change.updatedProperties?.contains("maker") == true)
    }
  }

  @Test(
    "Files of large values that rows with unique values replace, or that no row names, don't remain",
    .aboutFilesOfLargeValues)
  func upsertFiles() throws {
    func photo(_ number: UInt8) -> Data { Data(repeating: number, count: 300_000) }
    for (policy, kept) in [
      (MergePolicy.mergeByPropertyStoreTrump, 1), (.mergeByPropertyObjectTrump, 3), (.overwrite, 3),
    ] as [(MergePolicy, UInt8)] {
      try withCars { stack, context in
        context.mergePolicy = policy
        let folder = ExternalDataFolder(storeAt: stack.url)
        func stored() throws -> Data? {
          let context = stack.context()
          return try context.named("Car", "n", by: "numberPlate")["photo"] as? Data
        }
        try context.execute(BatchInsertRequest("Car", [["numberPlate": "n", "photo": photo(1)]]))
        try context.execute(
          BatchInsertRequest(
            "Car", [["numberPlate": "n", "photo": photo(2)], ["numberPlate": "n", "photo": photo(3), "maker": "Seat"]]))
        #expect(try stored() == photo(kept) && folder.names().count == 1)
        // A row without a photo leaves the photo, unless the policy overwrites it.
        try context.execute(BatchInsertRequest("Car", [["numberPlate": "n", "maker": "FIAT"]]))
        let isOverwritten = policy.mergeType == .overwrite
        #expect(try stored() == (isOverwritten ? nil : photo(kept)) && folder.names().count == (isOverwritten ? 0 : 1))
        let small = Data([7])
        try context.execute(BatchInsertRequest("Car", [["numberPlate": "n", "photo": small]]))
        let isKept = policy.mergeType == .mergeByPropertyStoreTrump
        #expect(try stored() == (isKept ? photo(kept) : small) && folder.names().count == (isKept ? 1 : 0))
        try StoreCheck.check(storeAt: stack.url) { Issue.record(Comment(rawValue: $0.detail)) }
      }
    }
  }

  @Test("Repeated batches of rows with unique values don't keep statements", .aboutFiles("prepared statements"))
  func upsertStatements() throws {
    try withCars { stack, _ in
      let (store, context) = try open(stack)
      context.mergePolicy = .mergeByPropertyObjectTrump
      func insert() throws { try context.execute(BatchInsertRequest("Car", [["numberPlate": "1", "maker": "Seat"]])) }
      for _ in 0..<3 { try insert() }
      let before = try store.pool.withWriter { $0.statementCount }
      for _ in 0..<20 { try insert() }
      try #expect(store.pool.withWriter { $0.statementCount } == before)
    }
  }

  @Test("Saves that change ever different properties keep few statements", .aboutFiles("prepared statements"))
  func updateStatements() throws {
    let names = (0..<10).map { "a\($0)" }
    let model = ModelDescription(entities: [
      EntityDescription("Item", attributes: names.map { AttributeDescription($0, .int64) })
    ])
    try withStack(model) { stack in
      let (store, context) = try open(stack)
      let item = try context.make("Item")
      try context.save()
      for number in 1..<1024 {
        for (bit, name) in names.enumerated() where number >> bit & 1 == 1 { item[name] = number }
        try context.save()
      }
      try #expect(store.pool.withWriter { $0.statementCount } < 500)
      // Those that are finalized are prepared again.
      for name in names { item[name] = 0 }
      try context.save()
      try #expect(stack.context().count(for: FetchRequest("Item", where: "a0 == 0 AND a7 == 0")) == 1)
    }
  }

  private func open(_ stack: TestStack) throws -> (store: SQLiteStore, context: ManagedObjectContext) {
    let store = try SQLiteStore.open(stack.url, model: stack.model)
    let coordinator = PersistentStoreCoordinator(model: stack.model)
    try coordinator.add(store)
    return (store, ManagedObjectContext(coordinator))
  }

  // MARK: Update

  @Test("All rows that match a predicate are updated; status, count or identifiers")
  func update() throws {
    try withCars { stack, context in
      let request = BatchUpdateRequest(
        "Car", where: try FetchPredicate("maker == 'FIAT'"), set: ["maker": .value("FCA")])
      var counted = request
      counted.resultType = .updatedObjectIDsResultType
      let result = try context.execute(counted)
      #expect(result.count == 3 && result.changes.updatedObjectIDs.count == 3)
      let fresh = stack.context()
      #expect(try plates(fresh, "maker == 'FIAT'").isEmpty && plates(fresh, "maker == 'FCA'") == ["1", "2", "3"])
      #expect(try context.execute(request).count == 0)
    }
  }

  @Test("A loaded object keeps the values it read until it is refreshed; saving it conflicts with the new version")
  func updateVersions() throws {
    try withCars { _, context in
      let car = try #require(try context.fetch(FetchRequest("Car", where: "numberPlate == '1'")).first)
      #expect(car["maker"] as? String == "FIAT")
      try context.execute(BatchUpdateRequest("Car", set: ["maker": .value("FCA")]))
      #expect(car["maker"] as? String == "FIAT")
      car["mileage"] = 99
      #expect(persistError { try context.save() }?.code == .mergeConflict)
      context.refresh(car, mergeChanges: false)
      #expect(car["maker"] as? String == "FCA")
    }
  }

  @Test("Expressions over the old row, constants of every kind, and predicates that only memory can evaluate")
  func updateExpressions() throws {
    try withCars { stack, context in
      let owner = try context.named("Person", "Theodora")
      try context.execute(
        BatchUpdateRequest(
          "Car", where: try FetchPredicate("numberPlate MATCHES[l] '[56]' AND price * 2 > 1"),
          set: [
            "mileage": try FetchExpression("mileage * 2 + 1"), "maker": try FetchExpression("uppercase:(maker)"),
            "price": .value(Decimal(string: "12345678901234567890.5")), "owner": .value(owner.objectID),
            "photo": .value(Data([1, 2])),
          ]))
      let fresh = stack.context()
      let cars = try fresh.fetch(FetchRequest("Car", where: "numberPlate > '4'"))
      #expect(cars.count == 2)
      for car in cars {
        #expect(car["mileage"] as? Int == 15 && car["maker"] as? String == "KIA")
        #expect(car["price"] as? Decimal == Decimal(string: "12345678901234567890.5"))
        #expect(car.one("owner")?["name"] as? String == "Theodora" && car["photo"] as? Data == Data([1, 2]))
      }
    }
  }

  @Test("Properties that can't be set are refused, and nothing is changed")
  func updateErrors() throws {
    try withCars { stack, context in
      func code(_ entity: String, _ changes: [String: FetchExpression]) -> PersistenceError.Code? {
        persistError { try context.execute(BatchUpdateRequest(entity, set: changes)) }?.code
      }
      #expect(code("Car", ["nothing": .value(1)]) == .unknownProperty)
      #expect(code("Car", ["maker": .key("nothing")]) == .unknownProperty)
      #expect(code("Car", ["numberPlate": .value(nil)]) == .validationMissingRequired)
      #expect(code("Car", ["mileage": .value("far")]) == .typeMismatch)
      #expect(code("Car", ["drivers": .value(nil)]) == .invalidRequest)
      #expect(code("Person", ["passport": .value(nil)]) == .invalidRequest)
      #expect(code("Car", ["numberPlate": .value("same")]) == .constraintConflict)
      try #expect(plates(stack.context()) == ["1", "2", "3", "4", "5", "6"])
    }
  }

  @Test("A Boolean set from a number is true or false, for objects and for predicates alike")
  func updateBooleans() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Item", attributes: [AttributeDescription("quantity", .int32), AttributeDescription("flag", .boolean)])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      for quantity in [5, -1, 1, 0, nil] { try context.make("Item", ["quantity": quantity]) }
      try context.save()
      try context.execute(BatchUpdateRequest("Item", set: ["flag": .key("quantity")]))
      let fresh = stack.context()
      #expect(try fresh.fetch(FetchRequest("Item")).map { $0["flag"] as? Bool } == [true, true, true, false, nil])
      for (format, count) in [("flag == YES", 3), ("flag == NO", 1), ("flag == nil", 1)] {
        #expect(try fresh.count(for: FetchRequest("Item", where: format)) == count, "\(format)")
      }
    }
  }

  @Test(
    "An expression without a value for a row can't be set for a required attribute, and nothing is changed",
    arguments: [("numberPlate", "owner.name"), ("numberPlate", "uppercase:(owner.name)"), ("weight", "price / 0")])
  func updateRequired(name: String, format: String) throws {
    var model = CarModel.description()
    model.entities[0].attributes.append(
      AttributeDescription("weight", .decimal, isOptional: false, default: .decimal(1)))
    try withCars(model) { stack, context in
      let update = BatchUpdateRequest(
        "Car", where: try FetchPredicate("numberPlate IN {'1', '6'}"),
        set: [name: try FetchExpression(format), "maker": .value("none")])
      let error = persistError { try context.execute(update) }
      #expect(error?.code == .validationMissingRequired && error?.place.property == name)
      try #expect(plates(stack.context()) == ["1", "2", "3", "4", "5", "6"])
      try #expect(plates(stack.context(), "maker == 'none'").isEmpty)
      // Rows that have a value aren't affected by others that have none.
      let possible = BatchUpdateRequest(
        "Car", where: try FetchPredicate("numberPlate == '1'"), set: ["numberPlate": .key("owner.name")])
      #expect(try context.execute(possible).count == 1)
      try #expect(plates(stack.context(), "maker == 'FIAT'") == ["2", "3", "Theodora"])
    }
  }

  @Test(
    "A row that had no value for a required attribute may remain so, and the other rows are updated",
    arguments: [("views", AttributeType.int32, StoredValue.integer(1)), ("weight", .decimal, .decimal(1))])
  func updateFormerlyMissing(name: String, type: AttributeType, value: StoredValue) throws {
    var model = CarModel.description()
    model.entities[0].attributes.append(AttributeDescription(name, type, isOptional: false, default: value))
    try withCars(model) { stack, context in
      try MadeStore.run("UPDATE ZCAR SET Z\(name.uppercased()) = NULL WHERE Z_PK = 2", at: stack.url)
      let update = BatchUpdateRequest("Car", set: [name: try FetchExpression("\(name) + 1")])
      #expect(try context.execute(update).count == 6)
      // Only this would remove values.
      let removal = BatchUpdateRequest("Car", set: [name: try FetchExpression("\(name) / 0")])
      let error = persistError { try context.execute(removal) }
      #expect(error?.code == .validationMissingRequired && error?.place.property == name)
      for (format, count) in [("\(name) == 2", 5), ("\(name) == nil", 1)] {
        #expect(try stack.context().count(for: FetchRequest("Car", where: format)) == count, "\(format)")
      }
    }
  }

  // MARK: Delete

  @Test("All rows that a request matches are deleted; identifiers if they are requested")
  func delete() throws {
    try withCars { stack, context in
      let request = try FetchRequest("Car", where: "maker == 'FIAT'")
      let result = try context.execute(BatchDeleteRequest(request, resultType: .resultTypeObjectIDs))
      #expect(result.count == 3 && result.objectIDs?.count == 3 && result.changes.deletedObjectIDs.count == 3)
      #expect(try plates(stack.context()) == ["4", "5", "6"])
      var last = FetchRequest("Car", sortedBy: "numberPlate", isAscending: false)
      last.fetchLimit = 1
      last.fetchOffset = 1
      #expect(try context.execute(BatchDeleteRequest(last)).count == 1)
      #expect(try plates(stack.context()) == ["4", "6"])
      let id = try #require(try context.fetchObjectIDs(FetchRequest("SportCar")).first)
      #expect(try context.execute(BatchDeleteRequest("Car", objectIDs: [id])).count == 1)
      #expect(try plates(stack.context()) == ["4"])
    }
  }

  @Test("Deleted rows leave their relationships: columns cleared, pairs deleted, the other side's version increased")
  func nullify() throws {
    try withCars { stack, context in
      #expect(try context.execute(BatchDeleteRequest("Person")).count == 1)
      let fresh = stack.context()
      let cars = try fresh.fetch(FetchRequest("Car"))
      let areFree = cars.allSatisfy { $0.one("owner") == nil }
      #expect(areFree)
      try stack.store.close()
      let store = try RawStore(stack.url, mode: .readOnly)
      defer { store.close() }
      for table in try store.catalog().tableMap(of: stack.model).joinTables {
        let pairs = try store.rows("SELECT COUNT(*) FROM \(name: table.name)")[0].integer(0)
        #expect(pairs == 0)
      }
      let versions = try store.rows("SELECT Z_OPT FROM ZCAR ORDER BY Z_PK").map { $0.integer(0) }
      #expect(versions == [2, 2, 1, 1, 1, 1])
    }
  }

  @Test("A cascade deletes more rows, which are reported but not counted")
  func cascade() throws {
    try withCars(CarModel.description(cars: .cascade)) { stack, context in
      let result = try context.execute(BatchDeleteRequest("Person", resultType: .resultTypeObjectIDs))
      #expect(result.count == 1 && result.changes.deletedObjectIDs.count == 3)
      #expect(try plates(stack.context()) == ["3", "4", "5", "6"])
    }
  }

  @Test("A denied deletion fails until the denying rows are deleted; so does deleting rows that others require")
  func deny() throws {
    try withCars(CarModel.description(cars: .deny)) { stack, context in
      #expect(persistError { try context.execute(BatchDeleteRequest("Person")) }?.code == .validationDeleteDenied)
      #expect(try stack.context().count(for: FetchRequest("Person")) == 1)
      try context.execute(BatchDeleteRequest("Car"))
      #expect(try context.execute(BatchDeleteRequest("Person")).count == 1)
    }
    try withStack(CarModel.description(ownerIsOptional: false)) { stack in
      let context = stack.context()
      try context.make("Car", ["numberPlate": "1", "owner": context.make("Person")])
      try context.save()
      #expect(persistError { try context.execute(BatchDeleteRequest("Person")) }?.code == .validationMissingRequired)
    }
  }

  @Test("Without relationships, a delete and an update take one statement each, however many rows there are")
  func statements() throws {
    let model = try ManagedObjectModel(SampleModels.people)
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      let context = ManagedObjectContext(coordinator)
      try context.execute(BatchInsertRequest("Person", (0..<1000).map { ["name": "p", "salary": $0] }))
      let inserted = store.statementCount
      try context.execute(BatchUpdateRequest("Person", set: ["salary": try FetchExpression("salary + 1")]))
      try context.execute(BatchDeleteRequest("Person", where: FetchPredicate("salary > 10")))
      // Each is one statement between the beginning and the end of a transaction. The update of a number narrower than
      // its column first looks for a value that would be out of range.
      #expect(store.statementCount - inserted <= 7)
      #expect(try context.count(for: FetchRequest("Person")) == 10)
    }
  }

  // MARK: Stores

  @Test("A batch applies to one store, or to all that contain the entity (BAT-08)")
  func stores() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    let stores = try (0..<2).map { _ in try coordinator.addInMemoryStore() }
    let context = ManagedObjectContext(coordinator)
    for store in stores {
      var insert = BatchInsertRequest("Person", [["name": "a", "salary": 1]])
      insert.affectedStoreIdentifier = store.identifier
      #expect(try context.execute(insert).count == 1)
    }
    var update = BatchUpdateRequest("Person", set: ["name": .value("b")])
    update.affectedStoreIdentifiers = [stores[1].identifier]
    #expect(try context.execute(update).count == 1)
    #expect(try context.count(for: FetchRequest("Person", where: "name == 'b'")) == 1)
    var rows = FetchRequest("Person")
    rows.affectedStoreIdentifiers = [stores[0].identifier]
    #expect(try context.execute(BatchDeleteRequest(rows)).count == 1)
    #expect(try context.count(for: FetchRequest("Person")) == 1)
    #expect(try context.execute(BatchDeleteRequest("Person")).count == 1)
    #expect(try context.count(for: FetchRequest("Person")) == 0)
  }
}
