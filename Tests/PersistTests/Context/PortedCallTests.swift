import Foundation
import Testing

@testable import Persist

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
}
