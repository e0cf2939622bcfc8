import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A short form of the benchmarks: the cost of their work in statements and allocations, so that a regression shows
/// without a quiet machine.
@Suite("Cost of the benchmarks' work, in statements and allocations")
struct CostTests {
  private static let count = 400
  private static let membersEach = 10

  /// A store of people, each with some pets that are deleted with them.
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Person", attributes: [AttributeDescription("age", .int64), AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("pets", toMany: "Pet", inverse: "owner", deleteRule: .cascade)]),
    EntityDescription(
      "Pet", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("owner", to: "Person", inverse: "pets")]),
  ])

  private struct Stack {
    let store: any PersistentStore
    let coordinator: PersistentStoreCoordinator

    func context() -> ManagedObjectContext { ManagedObjectContext(coordinator) }

    /// The number of statements that run in `body`.
    func statements(_ body: () throws -> Void) throws -> Int {
      let before = store.statementCount
      try body()
      return store.statementCount - before
    }

    func expectStatements(
      _ count: Int, at place: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
      let run = try statements(body)
      #expect(run == count, sourceLocation: place)
    }

    func expectStatements(
      atMost limit: Int, at place: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
      let run = try statements(body)
      #expect(run <= limit, sourceLocation: place)
    }
  }

  private func withPeople<Result>(pets: Int = 0, _ body: (Stack) throws -> Result) throws -> Result {
    let model = try ManagedObjectModel(Self.model)
    return try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      let stack = Stack(store: store, coordinator: coordinator)
      let context = stack.context()
      for number in 0..<Self.count {
        let person = try context.make("Person", ["name": "person \(number)", "age": number])
        for pet in 0..<pets { try context.make("Pet", ["name": "pet \(pet)", "owner": person]) }
      }
      try context.save()
      // The first read opens a reader, whose own statements aren't part of the work.
      _ = try stack.context().count(for: FetchRequest("Person"))
      return try body(stack)
    }
  }

  @Test(
    "A save of new, changed or deleted objects runs one statement for each, and at most four more",
    .aboutFiles("SQLite's statements"))
  func saves() throws {
    try withPeople { stack in
      let context = stack.context()
      for number in 0..<Self.count { try context.make("Person", ["name": "\(number)"]) }
      try stack.expectStatements(atMost: Self.count + 4) { try context.save() }
      let people = try context.fetch(FetchRequest("Person"))
      for person in people { person["age"] = 7 }
      try stack.expectStatements(atMost: 2 * Self.count + 4) { try context.save() }
      for person in people { context.delete(person) }
      try stack.expectStatements(atMost: 2 * Self.count + 4) { try context.save() }
      #expect(try stack.context().count(for: FetchRequest("Person")) == 0)
    }
  }

  @Test("Fetching and refetching take one statement each, with values available immediately")
  func fetches() throws {
    try withPeople { stack in
      let context = stack.context()
      var people: [ManagedObject] = []
      try stack.expectStatements(1) { people = try context.fetch(FetchRequest("Person")) }
      try stack.expectStatements(0) { for person in people { _ = person["name"] } }
      try stack.expectStatements(1) { _ = try context.fetch(FetchRequest("Person")) }
    }
  }

  @Test("Firing a fault is one statement")
  func faults() throws {
    try withPeople { stack in
      let ids = try stack.context().fetchObjectIDs(FetchRequest("Person"))
      let context = stack.context()
      try stack.expectStatements(ids.count) { for id in ids { _ = context.object(with: id)["age"] } }
    }
  }

  @Test("Members are read with their rows by one statement, however they are accessed")
  func groups() throws {
    try withPeople(pets: Self.membersEach) { stack in
      let ways: [(String, (RelationshipSet<ManagedObject>) -> Int)] = [
        ("for", { pets in
          var count = 0
          for pet in pets where pet["name"] as? String != nil { count += 1 }
          return count
        }),
        ("map", { $0.map { $0["name"] as? String }.compactMap { $0 }.count }),
        ("filter", { $0.filter { $0["name"] as? String != nil }.count }),
        ("first", { ($0.first { $0["name"] as? String == "pet 9" } == nil ? 0 : 1) * Self.membersEach }),
        ("reduce", { $0.reduce(0) { $0 + ($1["name"] as? String == nil ? 0 : 1) } }),
      ]
      for (name, visit) in ways {
        let context = stack.context()
        let person = try #require(try context.fetch(FetchRequest("Person", limit: 1)).first)
        let run = try stack.statements { try #expect(visit(person.related("pets")) == Self.membersEach, "\(name)") }
        #expect(run == 1, "\(name)")
        #expect(!context.hasChanges)
      }
    }
  }

  @Test("Prefetched members are iterated and deleted without further reads")
  func members() throws {
    try withPeople(pets: Self.membersEach) { stack in
      let context = stack.context()
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      var people: [ManagedObject] = []
      try stack.expectStatements(2) { people = try context.fetch(request) }
      var pets: [ManagedObject] = []
      let walked = try stack.statements {
        for person in people {
          for pet in try person.related("pets") {
            _ = (pet["name"], pet["owner"])
            pets.append(pet)
          }
        }
      }
      #expect(walked == 0 && pets.count == Self.count * Self.membersEach)
      pets = []
      try stack.expectStatements(0) { for person in people { context.delete(person) } }
      try stack.expectStatements(atMost: Self.count * (Self.membersEach + 1) + 4) { try context.save() }
      #expect(try stack.context().count(for: FetchRequest("Pet")) == 0)
    }
  }

  @Test("A cascade deletes the rows of each entity in groups, although its objects alternate between entities")
  func cascade() throws {
    try withPeople(pets: Self.membersEach) { stack in
      let context = stack.context()
      var request = FetchRequest<ManagedObject>("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      for person in try context.fetch(request) { context.delete(person) }
      let statements = [Self.count, Self.count * Self.membersEach].reduce(0) { sum, rows in
        sum + rows / WritePlan.deleteGroupSize + rows % WritePlan.deleteGroupSize
      }
      try stack.expectStatements(atMost: statements + 4) { try context.save() }
      #expect(try stack.context().count(for: FetchRequest("Person")) == 0)
      #expect(try stack.context().count(for: FetchRequest("Pet")) == 0)
    }
  }

  @Test("A cascade over objects that are deleted one after another reads the members of several at once")
  func cascadeWithoutPrefetching() throws {
    try withPeople(pets: Self.membersEach) { stack in
      let context = stack.context()
      let people = try context.fetch(FetchRequest("Person"))
      let reads = try stack.statements { for person in people { context.delete(person) } }
      // A tenth on an idle machine; more if it pauses the test for longer than members may be used.
      #expect(reads < Self.count / 2)
      #expect(context.deletedObjects.count == Self.count * (1 + Self.membersEach))
      try context.save()
      #expect(try stack.context().count(for: FetchRequest("Pet")) == 0)
    }
  }

  @Test("Objects that are fetched, changed and saved create no identifiers until one is requested")
  func identifiers() throws {
    try withPeople { stack in
      let context = stack.context()
      let people = try context.fetch(FetchRequest("Person"))
      for person in people { person["age"] = 7 }
      let new = try (0..<10).map { try context.make("Person", ["name": "\($0)"]) }
      try context.save()
      // Notifications name objects by identifiers, and are posted once any test of the process has observed one.
      if !ContextNotifications.areWanted { #expect((people + new).allSatisfy { $0.identifier == nil }) }
    }
  }

  @Test("Rows share chunks of memory, and a saved object retains nothing but its row")
  func chunks() throws {
    try withPeople { stack in
      let context = stack.context()
      let people = try context.fetch(FetchRequest("Person"))
      let chunks = Set(people.compactMap { $0.snapshot.map { ObjectIdentifier($0.chunk) } })
      #expect(chunks.count == 1)
      for person in people { person["name"] = "longer than the name was before" }
      try context.save()
      let written = Set(people.compactMap { $0.snapshot.map { ObjectIdentifier($0.chunk) } })
      #expect(written.count <= 2 && written.isDisjoint(with: chunks))
      #expect(people.allSatisfy { $0.pending.isEmpty && $0.toManys.isEmpty && $0.companions == nil })
    }
  }

  @Test("Objects count no references to their layout, which all contexts share; those that left theirs keep their kind")
  func sharedLayouts() throws {
    try withPeople { stack in
      let context = stack.context()
      let layout = context.layout(of: try context.entity(named: "Person"))
      let before = _getRetainCount(layout)
      let people = try context.fetch(FetchRequest("Person"))
      let new = try (0..<100).map { number in try context.make("Person", ["age": number]) }
      try context.save()
      // Caches of the context may have retained it.
      #expect(_getRetainCount(layout) < before + 10)
      for person in new { context.delete(person) }
      try context.save()
      #expect(_getRetainCount(layout) < before + 10)
      let kind = new[0].kind.takeUnretainedValue()
      #expect(_getRetainCount(kind) >= UInt(new.count))
      #expect(people.allSatisfy { $0.layout === layout } && new.allSatisfy { $0.layout === layout })
    }
  }

  @Test("An object that outlives its context and coordinator keeps its layout, and releases it in the end")
  func keptLayouts() throws {
    weak var layout: EntityLayout?
    func outliving() throws -> [ManagedObject] {
      try withPeople { stack in
        let context = stack.context()
        layout = context.layout(of: try context.entity(named: "Person"))
        let alone = ManagedObject(entity: try context.entity(named: "Person"), insertInto: nil)
        let inserted = ManagedObject(entity: try context.entity(named: "Person"), insertInto: nil)
        context.insert(inserted)
        return Array(try context.fetch(FetchRequest("Person")).prefix(3)) + [alone, inserted]
      }
    }
    var objects = try outliving()
    #expect(objects.allSatisfy { $0.managedObjectContext == nil && $0.entity.name == "Person" })
    #expect(objects.map { "\($0)".contains("Person") } == Array(repeating: true, count: 5))
    #expect(layout != nil)
    objects = []
    #expect(layout == nil)
  }

  @Test("A row read by a fault takes little more memory than its values")
  func singleRows() throws {
    try withPeople { stack in
      let context = stack.context()
      let person = try context.make("Person", ["name": String(repeating: "long ", count: 40)])
      try context.save()
      let fault = stack.context()
      let found = fault.object(with: person.objectID)
      #expect(found["name"] as? String == person["name"] as? String)
      #expect(try #require(found.snapshot).chunk.capacity < 1024)
    }
  }

  @Test("The row of an object that was saved alone takes little more memory than its values")
  func savedRows() throws {
    try withPeople { stack in
      let context = stack.context()
      let person = try context.make("Person", ["name": "new"])
      try context.save()
      #expect(try #require(person.snapshot).chunk.capacity < 1024)
      person["name"] = "changed"
      try context.save()
      #expect(try #require(person.snapshot).chunk.capacity < 1024)
    }
  }

  @Test("Members that are only iterated aren't hashed")
  func sets() throws {
    try withPeople(pets: Self.membersEach) { stack in
      let context = stack.context()
      let person = try #require(context.fetch(FetchRequest("Person", limit: 1)).first)
      let relationship = try #require(person.layout.relationships.first { $0.name == "pets" })
      #expect(try Array(person.related("pets")).count == Self.membersEach)
      #expect(!person.members(of: relationship).isHashed)
      #expect(person.memberIDs(of: relationship).count == Self.membersEach)
      #expect(person.members(of: relationship).isHashed)
    }
  }

  @Test("Iterating over prefetched members creates no identifiers")
  func prefetchedMembers() throws {
    try withPeople(pets: Self.membersEach) { stack in
      let context = stack.context()
      var request = FetchRequest<ManagedObject>("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      let people = try context.fetch(request)
      try stack.expectStatements(0) {
        for person in people {
          let pets = try Array(person.related("pets"))
          #expect(pets.count == Self.membersEach)
          for pet in pets { #expect(pet.identifier == nil && pet["name"] != nil) }
        }
      }
      let ids = try #require(people.first).related("pets").objectIDs
      try #expect(ids == Array(#require(people.first).related("pets")).map(\.objectID))
    }
  }

  @Test("Refetching registered objects reads only the values of rows that others have changed")
  func fetchingAgain() throws {
    try withPeople { stack in
      let context = stack.context()
      let people = try context.fetch(FetchRequest("Person"))
      let before = people.map { $0.snapshot?.chunk }
      let other = stack.context()
      try other.existingObject(with: people[7].objectID)["age"] = 107
      try other.save()
      #expect(try context.fetch(FetchRequest("Person")) == people)
      let isReread = zip(people, before).map { person, chunk in person.snapshot?.chunk !== chunk }
      #expect(isReread.indices.filter { isReread[$0] } == [7])
      #expect(people[7]["age"] as? Int == 107)
      // Accessed objects keep their rows.
      try other.existingObject(with: people[7].objectID)["age"] = 207
      try other.save()
      _ = try context.fetch(FetchRequest("Person"))
      #expect(people[7]["age"] as? Int == 107)
    }
  }
}
