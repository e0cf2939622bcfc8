import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Core Data's calls")
struct PortedCallTests {
  @Test("Entities and new objects by name, blocks that run synchronously, and comparison of contexts")
  func calls() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      #expect(EntityDescription.entity(forEntityName: "Pet", in: context)?.name == "Pet")
      #expect(EntityDescription.entity(forEntityName: "Plant", in: context) == nil)
      let ann = EntityDescription.insertNewObject(forEntityName: "Person", into: context)
      context.performAndWait { ann["name"] = "Ann" }
      let name = try context.perform { () throws -> String? in
        try context.save()
        return ann["name"] as? String
      }
      #expect(name == "Ann" && ann.managedObjectContext == context && context != stack.context())
      try #expect(context.count(for: FetchRequest<ManagedObject>(entityName: "Person")) == 1)
      let uri = ann.objectID.uriRepresentation()
      #expect(!ann.objectID.isTemporaryID)
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == ann.objectID)
    }
  }

  @Test("An unknown name stops the program as in Core Data, and is thrown by create")
  func unknownName() async throws {
    try withStack(SampleModels.pets) { stack in
      #expect(persistError { try stack.context().create("Plant") }?.code == .unknownEntity)
    }
    await #expect(processExitsWith: .failure) {
      try withStack(SampleModels.pets) { stack in
        EntityDescription.insertNewObject(forEntityName: "Plant", into: stack.context())
      }
    }
  }

  @Test("Members by key are a view; using the wrong one of the two calls is an error that names the other")
  func mutableSets() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let rex = try context.make("Pet", ["name": "Rex"])
      try ann.mutableSetValue(forKey: "pets").insert(rex)
      #expect(rex.one("owner") === ann)
      let error = try #require(persistError { _ = try ann.mutableOrderedSetValue(forKey: "pets") })
      #expect(error.code == .typeMismatch && error.fix?.contains("mutableSetValue(forKey:)") == true)
      #expect(persistError { _ = try ann.mutableSetValue(forKey: "name") }?.code == .unknownProperty)
    }
  }

  @Test("Identifiers of a relationship by name: of members, of a destination, of none, saved or not")
  func relatedIdentifiers() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let pets = try ["Rex", "Zoe"].map { try context.make("Pet", ["name": $0, "owner": ann]) }
      let stray = try context.make("Pet", ["name": "Tom"])
      func check(_ context: ManagedObjectContext) throws {
        let (ann, pet) = (context.object(with: ann.objectID), context.object(with: pets[0].objectID))
        try #expect(Set(ann.objectIDs(forRelationshipNamed: "pets")) == Set(pets.map(\.objectID)))
        try #expect(pet.objectIDs(forRelationshipNamed: "owner") == [ann.objectID])
        try #expect(context.object(with: stray.objectID).objectIDs(forRelationshipNamed: "owner").isEmpty)
        for name in ["name", "plants"] {
          #expect(persistError { _ = try ann.objectIDs(forRelationshipNamed: name) }?.code == .unknownProperty)
        }
      }
      try check(context)
      try context.save()
      try check(context)
      try check(stack.context())
    }
  }

  @Test("A to-many accepts an array, a literal and another's members; a detached set changes no relationship")
  func assigned() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      let pets = try ["Ada", "Rex", "Zoe"].map { try context.make("Pet", ["name": $0]) }
      let own: RelationshipSet<ManagedObject> = [pets[0], pets[1], pets[0]]
      #expect(own.count == 2 && Array(own) == [pets[0], pets[1]] && own.objectIDs == pets.prefix(2).map(\.objectID))
      own.insert(pets[2], at: 0)
      own.remove(pets[0])
      #expect(Array(own) == [pets[2], pets[1]] && own.contains(pets[1]) && own.firstIndex(of: pets[1]) == 1)
      ann["pets"] = own
      try #expect(ann.names("pets") == ["Rex", "Zoe"])
      own.removeAll()
      try #expect(own.isEmpty && ann.names("pets") == ["Rex", "Zoe"])
      ben["pets"] = RelationshipSet(pets)
      try #expect(ann.names("pets") == [] && ben.names("pets") == ["Ada", "Rex", "Zoe"])
      ben["pets"] = try ben.many("pets")
      try #expect(ben.names("pets") == ["Ada", "Rex", "Zoe"])
    }
  }

  @Test("A request has a textual description")
  func description() throws {
    var request: FetchRequest<ManagedObject> = try FetchRequest(
      "Item", where: "quantity < 5", sortedBy: [.init("name"), .init("quantity", isAscending: false)], limit: 20)
    #expect("\(request)" == "Item where quantity < 5 sorted by name, quantity descending, limit 20")
    request.fetchOffset = 3
    request.includesSubentities = false
    request.includesPendingChanges = false
    #expect("\(request)".hasSuffix("limit 20, offset 3, without subentities, as saved"))
  }

  @Test("The results of batches have the types that their requests specify")
  func batchResults() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      var insert = BatchInsertRequest("Person", [["name": "Ann"], ["name": "Ben"]])
      insert.resultType = .objectIDs
      let inserted = try context.execute(insert)
      #expect((inserted.result as? [ManagedObjectID])?.count == 2 && inserted.resultType == .objectIDs)
      let update = BatchUpdateRequest("Person", set: ["salary": .value(1)], resultType: .updatedObjectsCountResultType)
      try #expect(context.execute(update).result as? Int == 2)
      let delete = BatchDeleteRequest("Person", resultType: .resultTypeStatusOnly)
      let deleted: BatchDeleteResult = try context.execute(delete)
      #expect(deleted.result as? Bool == true && deleted.count == nil && deleted.objectIDs == nil)
    }
  }

  @Test("Requests, predicates, expressions and orders are created with Core Data's labels")
  func labels() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for (name, salary) in [("Ann", 10), ("Bob", 10), ("Cid", 20)] {
        try context.make("Person", ["name": name, "salary": salary])
      }
      try context.save()
      let tens = try FetchPredicate(format: "salary == %d", 10)
      let named = try FetchPredicate(format: "%K BEGINSWITH[c] %@", "name", NSString("b"))
      var request = FetchRequest<ManagedObject>(entityName: "Person")
      request.sortDescriptors = [FetchSortDescriptor(key: "name", ascending: false)]
      request.predicate = FetchPredicate(andPredicateWithSubpredicates: [tens, FetchPredicate(value: true)])
      #expect(try context.fetch(request).map { $0["name"] as? String } == ["Bob", "Ann"])
      request.predicate = FetchPredicate(orPredicateWithSubpredicates: [
        named, FetchPredicate(notPredicateWithSubpredicate: tens),
      ])
      #expect(try context.fetch(request).map { $0["name"] as? String } == ["Cid", "Bob"])

      let path = FetchExpression(forKeyPath: "salary")
      #expect(try FetchExpression(format: "sum:(salary)") == FetchExpression(forFunction: "sum:", arguments: [path]))
      for (name, arguments) in [("total:", [path]), ("abs:", [])] {
        let error = persistError { _ = try FetchExpression(forFunction: name, arguments: arguments) }
        #expect(error?.code == .invalidPredicate, "\(name)")
      }
      #expect(FetchExpression(forConstantValue: 5) == .value(5) && FetchExpression(forVariable: "x") == .variable("x"))
      #expect(FetchExpression.expressionForEvaluatedObject() == .current)
      #expect(FetchExpression(forAggregate: [path]) == .aggregate([path]))
      var totals = FetchRequest<FetchedRow>(entityName: "Person")
      totals.propertiesToFetch = [
        ExpressionDescription("total", try FetchExpression(forFunction: "sum:", arguments: [path]))
      ]
      #expect(try context.fetch(totals).first?["total"] as? Int == 40)
    }
  }

  @Test("Foundation's objects are arguments of predicates, with the values that they contain")
  func foundationArguments() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let uuid = UUID()
    let pairs: [((any FetchArgument)?, (any FetchArgument)?)] = [
      (NSNumber(value: 1), 1), (NSNumber(value: true), true), (NSNumber(value: 1.5), 1.5), (NSString("x"), "x"),
      (NSDecimalNumber(string: "1.25"), Decimal(string: "1.25")), (date as NSDate, date), (NSNull(), nil),
      (NSData(data: Data([1])), Data([1])), (uuid as NSUUID, uuid),
      (URL(string: "a:b").map { $0 as NSURL }, URL(string: "a:b")),
    ]
    for (object, value) in pairs {
      #expect(try FetchPredicate(format: "x == %@", object) == FetchPredicate("x == %@", value), "\(object as Any)")
    }
    let list = try FetchPredicate(format: "x IN %@", NSArray(array: [NSNumber(value: 1), NSString("a")]))
    #expect(try list == FetchPredicate("x IN {1, 'a'}"))
    let ordered = try FetchPredicate(format: "x IN %@", NSOrderedSet(array: [NSNumber(value: 2)]))
    #expect(try ordered == FetchPredicate("x IN {2}"))
  }

  @Test("Batches are created with Core Data's labels; deleting no identifiers deletes nothing")
  func batchLabels() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let two = BatchInsertRequest(entityName: "Person", objects: [["name": "Ann"], ["name": "Bob"]])
      #expect(try context.execute(two).count == 2)
      var isDone = false
      let one = BatchInsertRequest(entityName: "Person") { (row: inout [String: Any?]) in
        defer { isDone = true }
        row["name"] = "Cid"
        return isDone
      }
      #expect(try context.execute(one).count == 1)
      var update = BatchUpdateRequest(entityName: "Person")
      update.predicate = try FetchPredicate(format: "name == %@", "Ann")
      update.propertiesToUpdate = ["salary": .value(7)]
      #expect(try context.execute(update).count == 1)
      #expect(try context.execute(BatchDeleteRequest(objectIDs: [])).count == 0)
      let ann = try context.named("Person", "Ann")
      #expect(ann["salary"] as? Int == 7)
      #expect(try context.execute(BatchDeleteRequest(objectIDs: [ann.objectID])).count == 1)
      let rest = BatchDeleteRequest(fetchRequest: try FetchRequest("Person", where: "name == 'Bob'"))
      #expect(try context.execute(rest).count == 1)
      #expect(try stack.reopened().context().names("Person") == ["Cid"])
    }
  }

  @Test("Several values are read and set by name")
  func severalValues() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.create("Person")
      try ann.setValuesForKeys(["name": "Ann", "salary": NSNumber(value: 5)])
      let values = try ann.dictionaryWithValues(forKeys: ["name", "salary"])
      #expect(values["name"] as? String == "Ann" && values["salary"] as? Int == 5)
      try ann.setValuesForKeys(["salary": nil])
      let cleared = try ann.dictionaryWithValues(forKeys: ["salary"])
      #expect(Array(cleared.keys) == ["salary"] && cleared.values.allSatisfy { $0 == nil })
      #expect(persistError { try ann.setValuesForKeys(["pay": 1]) }?.code == .unknownProperty)
      #expect(persistError { _ = try ann.dictionaryWithValues(forKeys: ["pay"]) }?.code == .unknownProperty)
    }
  }

  @Test("NSNull clears a relationship, however it is set; in a list it is refused")
  func nullRelationships() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let rex = try context.make("Pet", ["name": "Rex"])
      for null in [NSNull(), StoredValue.null, ManagedObject?.none as Any] as [Any] {
        rex["owner"] = ann
        try rex.setValue(null, forKey: "owner")
        try #expect(rex.one("owner") == nil && ann.many("pets").isEmpty)
        rex["owner"] = ann
        try ann.setValuesForKeys(["pets": null, "name": "Anna"])
        try #expect(rex.one("owner") == nil && ann.many("pets").isEmpty)
      }
      rex["owner"] = ann
      rex["owner"] = NSNull()
      #expect(rex.one("owner") == nil)
      ann["pets"] = [rex]
      ann["pets"] = NSNull()
      try #expect(rex.one("owner") == nil && ann.many("pets").isEmpty)
      #expect(persistError { try ann.setValue([rex, NSNull()] as [Any], forKey: "pets") }?.code == .typeMismatch)
      #expect(persistError { try rex.setValue("Ann", forKey: "owner") }?.code == .typeMismatch)
    }
  }

  @Test("A container and its description take Core Data's labels")
  func container() throws {
    let container = PersistentContainer(
      name: "Ported", managedObjectModel: try ManagedObjectModel(SampleModels.people))
    #expect(container.name == "Ported" && container.managedObjectModel.entitiesByName["Person"] != nil)
    var description = try #require(container.persistentStoreDescriptions.first)
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    description.shouldInferMappingModelAutomatically = false
    #expect((description.options.migrator as? AutomaticMigrator)?.infersMapping == false)
    description.shouldMigrateStoreAutomatically = false
    #expect(!description.shouldInferMappingModelAutomatically)
  }
}
