import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Requests")
struct RequestTests {
  @Test("A new request fetches all objects of an entity, subentities and unsaved changes included, as faults (FET-01)")
  func defaults() {
    let request = FetchRequest("Item")
    #expect(request.entityName == "Item" && request.predicate == nil && request.sortDescriptors.isEmpty)
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.includesSubentities && request.includesPendingChanges && request.includesPropertyValues)
    #expect(request.returnsObjectsAsFaults && !request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects)
    #expect(request.propertiesToFetch.isEmpty && request.propertiesToGroupBy.isEmpty && request.havingPredicate == nil)
    #expect(request.relationshipKeyPathsForPrefetching.isEmpty && request.affectedStoreIdentifiers == nil)
  }

  @Test("A copy has all settings and changes independently; a changed result type keeps the request (FET-01)")
  func copies() {
    var request = FetchRequest("Item", limit: 5, offset: 2)
    request.fetchBatchSize = 7
    request.includesSubentities = false
    request.includesPendingChanges = false
    request.includesPropertyValues = false
    request.returnsObjectsAsFaults = false
    request.shouldRefreshRefetchedObjects = true
    request.affectedStoreIdentifiers = ["a"]
    request.relationshipKeyPathsForPrefetching = ["items"]
    request.propertiesToFetch = ["name"]
    request.propertiesToGroupBy = ["name"]
    request.havingPredicate = .constant(true)
    request.returnsDistinctResults = true
    var copy = request
    copy.fetchLimit = 9
    #expect(request.fetchLimit == 5 && copy.fetchOffset == 2 && copy.entityName == "Item")
    #expect(request.returning(Int.self).returning(ManagedObject.self) == request)
  }

  @Test("The type of a request determines its results")
  func resultTypes() throws {
    try withDirtyPeople { context in
      let ids = try context.fetch(FetchRequest<ManagedObjectID>("Person", where: "salary > 20"))
      #expect(ids.count == 3)
      let count = try context.fetch(FetchRequest<Int>("Person", where: "salary > 20"))
      #expect(count == [3])
      let objects: [ManagedObject] = try context.fetch(FetchRequest("Person", sortedBy: "name"))
      #expect(names(objects) == ["alpha", "charlie", "delta", "echo"])
    }
  }

  @Test("Objects of another class than requested are an error that names both")
  func otherClass() throws {
    try withDirtyPeople { context in
      let error = try #require(persistError { _ = try context.fetch(FetchRequest<Stranger>("Person")) })
      #expect(error.code == .typeMismatch && error.message.contains("Stranger"))
    }
  }

  @Test(
    "An object of another class is an error wherever it is among the results, unless the request leaves it out",
    arguments: [0, 2_500, 4_999])
  func otherClassAmongResults(place: Int) async throws {
    let people = ModelDescription(entities: [
      EntityDescription("Person", attributes: [AttributeDescription("kind", .string)]),
      EntityDescription("Guest", parent: "Person"),
    ])
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(people))
    try coordinator.addInMemoryStore()
    func context() -> ManagedObjectContext {
      ManagedObjectContext(coordinator, classes: ["Person": Human.self, "Guest": Stranger.self])
    }
    let writer = context()
    for number in 0..<5_000 { try writer.make(number == place ? "Guest" : "Person", ["kind": "own"]) }
    writer.graph.inserted.objects.first { $0.entity.name == "Guest" }?["kind"] = "guest"
    try writer.save()

    let all = FetchRequest<Human>("Person")
    func isMismatch(_ request: FetchRequest<Human>, in context: ManagedObjectContext) async throws -> Bool {
      guard persistError({ _ = try context.fetch(request) })?.code == .typeMismatch else { return false }
      do {
        _ = try await context.fetch(request, progress: nil)
        return false
      } catch let error as PersistenceError {
        return error.code == .typeMismatch
      }
    }
    #expect(try await isMismatch(all, in: context()))
    // Registered, and then changed.
    let other = context()
    let objects = try other.fetch(all.returning(ManagedObject.self))
    #expect(objects.count == 5_000)
    #expect(try await isMismatch(all, in: other))
    let guest = try #require(objects.first { $0.entity.name == "Guest" })
    guest["kind"] = "own"
    var own = all
    own.predicate = try FetchPredicate("kind == 'own'")
    #expect(try await isMismatch(own, in: other))
    other.rollback()
    // Left out in SQL, and in memory.
    for format in ["kind == 'own'", "kind >[l] 'h'"] {
      own.predicate = try FetchPredicate(format)
      #expect(try context().fetch(own).count == 4_999)
      #expect(try other.fetch(own).count == 4_999)
      try other.make("Guest", ["kind": "own"])
      #expect(try await isMismatch(own, in: other))
      other.rollback()
    }
  }

  @Test("An entity's name is resolved when the request runs (FET-02)")
  func unknownEntity() throws {
    try withDirtyPeople { context in
      let request = FetchRequest("Nobody")
      #expect(persistError { _ = try context.fetch(request) }?.code == .unknownEntity)
      #expect(persistError { _ = try context.count(for: request) }?.code == .unknownEntity)
      #expect(persistError { _ = try context.fetch(request.returning(FetchedRow.self)) }?.code == .unknownEntity)
    }
  }

  @Test("A request over two stores reads both, or the one it is limited to, unsaved objects included (FET-17)")
  func affectedStores() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    let first = try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    try context.make("Person", ["name": "one"])
    try context.save()
    let second = try coordinator.addInMemoryStore()
    var request = FetchRequest("Person")
    request.affectedStoreIdentifiers = [first.identifier]
    #expect(try context.count(for: request) == 1)
    try context.make("Person", ["name": "two"])
    #expect(try context.count(for: request) == 2 && names(context.fetch(request)) == ["one", "two"])
    request.affectedStoreIdentifiers = [second.identifier]
    #expect(try context.count(for: request) == 0 && context.fetchObjectIDs(request).isEmpty)
  }

  @Test("Refetched objects are updated with the rows if requested; changed ones keep their changes (FLT-08)")
  func refresh() throws {
    try withStack(SampleModels.people) { stack in
      let (a, b) = (stack.context(), stack.context())
      let objects = try ["x", "y"].map { try a.make("Person", ["name": $0]) }
      try a.save()
      let seen = try b.fetch(FetchRequest("Person", sortedBy: "name"))
      #expect(names(seen) == ["x", "y"])
      seen[1]["name"] = "mine"
      for object in objects { object["salary"] = 7 }
      try a.save()
      var request = FetchRequest("Person")
      _ = try b.fetch(request)
      #expect(seen[0]["salary"] == nil)
      request.shouldRefreshRefetchedObjects = true
      _ = try b.fetch(request)
      #expect(seen[0]["salary"] as? Int == 7)
      #expect(seen[1]["name"] as? String == "mine")
    }
  }
}

private final class Stranger: ManagedObject {}

private final class Human: ManagedObject {}
