import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Prefetching")
struct PrefetchTests {
  /// A store that counts its statements.
  private func withCountedStore(
    _ description: ModelDescription, _ body: (PersistentStoreCoordinator, any PersistentStore) throws -> Void
  ) throws {
    let model = try ManagedObjectModel(description)
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      // A reader's own first statements aren't counted.
      _ = try store.metadata()
      try body(coordinator, store)
    }
  }

  private func statements(_ store: any PersistentStore, _ body: () throws -> Void) rethrows -> Int {
    let before = store.statementCount
    try body()
    return store.statementCount - before
  }

  @Test("One to-many level over 900 objects is two statements, and iterating it none")
  func toMany() throws {
    try withCountedStore(SampleModels.pets) { coordinator, store in
      let context = ManagedObjectContext(coordinator)
      for number in 0..<900 {
        let person = try context.make("Person", ["name": "p\(number)"])
        if number.isMultiple(of: 2) {
          for pet in 0..<3 { try context.make("Pet", ["name": "\(number)-\(pet)", "owner": person]) }
        }
      }
      try context.save()
      let fresh = ManagedObjectContext(coordinator)
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      var people: [ManagedObject] = []
      let fetched = try statements(store) { people = try fresh.fetch(request) }
      #expect(fetched == 2, "\(fetched)")
      #expect(people.count == 900)
      var (count, right) = (0, 0)
      let walked = try statements(store) {
        for person in people {
          for pet in try person.related("pets") {
            count += 1
            let start = "\(person["name"] as? String ?? "")-".dropFirst()
            if (pet["name"] as? String)?.hasPrefix(start) == true { right += 1 }
          }
        }
      }
      #expect(walked == 0 && count == 1350 && right == 1350)
    }
  }

  @Test("Paths of to-one, to-many, ordered and many-to-many relationships take one statement each")
  func paths() throws {
    try withCountedStore(SampleModels.shapes) { coordinator, store in
      let context = ManagedObjectContext(coordinator)
      let root = try context.make("Node", ["name": "root"])
      let tags = try ["x", "y", "z"].map { try context.make("Tag", ["label": $0]) }
      for number in 0..<600 {
        let node = try context.make(number.isMultiple(of: 2) ? "Leaf" : "Node", ["name": "n\(number)", "parent": root])
        node["tags"] = [tags[number % 3]]
        node["ranked"] = [tags[2], tags[0]]
        node["favourite"] = tags[1]
        if number < 10 { node["passport"] = try context.make("Passport", ["number": "\(number)"]) }
      }
      try context.save()
      let fresh = ManagedObjectContext(coordinator)
      var request = FetchRequest("Node", sortedBy: "name")
      request.relationshipKeyPathsForPrefetching = ["parent.children", "tags.nodes", "ranked", "favourite", "passport"]
      var nodes: [ManagedObject] = []
      let fetched = try statements(store) { nodes = try fresh.fetch(request) }
      // The nodes; their children, whose owner is among them; tags, nodes of tags, ranked, passports. Favorites are
      // tags that are already registered by then.
      #expect(fetched <= 7, "\(fetched)")
      var (right, children) = (0, 0)
      let walked = try statements(store) {
        for node in nodes where node["name"] as? String != "root" {
          guard node.one("parent")?["name"] as? String == "root",
            try node.related("ranked").compactMap({ $0["label"] as? String }) == ["z", "x"],
            try node.related("tags").count == 1, node.one("favourite")?["label"] as? String == "y"
          else { continue }
          _ = node.one("passport")?["number"]
          right += 1
        }
        children = try nodes.last?.related("children").count ?? 0
      }
      #expect(walked == 0 && right == 600 && children == 600)
    }
  }

  @Test("Rows of destinations are looked up by a statement for at most twice as many, and nothing else is kept")
  func destinations() throws {
    let model = try ManagedObjectModel(SampleModels.pets)
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Destinations-\(UUID().uuidString).sqlite")
      try createStore(at: url, model: model).close()
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<20 {
        try context.make("Pet", ["name": "\(number)", "owner": context.make("Person", ["name": "p\(number)"])])
      }
      try context.save()
      let census = StatementCensus(of: url)
      defer { census.end() }
      // A new connection is counted.
      let other = PersistentStoreCoordinator(model: model)
      try other.addStore(at: url)
      let fresh = ManagedObjectContext(other)
      var request = FetchRequest("Pet")
      request.relationshipKeyPathsForPrefetching = ["owner"]
      let pets = try fresh.fetch(request)
      let keys = try #require(census.statements.last).filter { $0 == "?" }.count
      #expect((20...40).contains(keys), "\(census.statements)")
      for pet in pets {
        let owner = try #require(pet.one("owner"))
        #expect(owner["name"] as? String == "p\(pet["name"] as? String ?? "")")
        #expect(owner.extras == nil)
      }
    }
  }

  @Test("Unsaved changes overlay prefetched rows")
  func pendingChanges() throws {
    try withCountedStore(SampleModels.pets) { coordinator, store in
      let context = ManagedObjectContext(coordinator)
      let (ann, bob) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Bob"]))
      let pets = try ["a", "b", "c"].map { try context.make("Pet", ["name": $0, "owner": ann]) }
      try context.save()
      context.refreshAllObjects()
      pets[0]["owner"] = bob
      context.delete(pets[1])
      try context.make("Pet", ["name": "d", "owner": bob])
      var request = FetchRequest("Person", sortedBy: "name")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      #expect(try context.fetch(request).map { try $0.names("pets") } == [["c"], ["a", "d"]])
    }
  }

  @Test("Prefetched rows aren't used once they may be outdated")
  func outdated() throws {
    try withCountedStore(SampleModels.pets) { coordinator, store in
      let context = ManagedObjectContext(coordinator)
      try context.make("Pet", ["name": "old", "owner": context.make("Person", ["name": "Ann"])])
      try context.save()
      let fresh = ManagedObjectContext(coordinator)
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      let ann = try #require(try fresh.fetch(request).first)
      do { try #require(try ann.related("pets").first)["name"] = "new" }
      try fresh.save()
      #expect(try ann.names("pets") == ["new"])
      let pet = try #require(try ann.related("pets").first)
      pet["name"] = "newer"
      try fresh.save()
      #expect(try ManagedObjectContext(coordinator).names("Pet") == ["newer"])
    }
  }

  @Test("Prefetched rows aren't used once others' changes were merged")
  func outdatedByMerge() throws {
    try withCountedStore(SampleModels.pets) { coordinator, store in
      let background = ManagedObjectContext(coordinator)
      let owner = try background.make("Person", ["name": "Ann"])
      let rex = try background.make("Pet", ["name": "old", "owner": owner])
      try background.save()
      let saves = EventRecorder(background)
      let view = ManagedObjectContext(coordinator)
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = ["pets"]
      let ann = try #require(try view.fetch(request).first)
      rex["name"] = "new"
      try background.make("Pet", ["name": "second", "owner": owner])
      try background.save()
      view.mergeChanges(from: try #require(saves.saves.last?.savedChanges))
      #expect(try ann.names("pets") == ["new", "second"])
      let pet = try #require(try ann.related("pets").first { $0["name"] as? String == "new" })
      pet["name"] = "newer"
      try view.save()
      #expect(try ManagedObjectContext(coordinator).names("Pet") == ["newer", "second"])
    }
  }

  @Test(
    "A path that isn't all relationships is an error", arguments: ["name", "pets.name", "nothing", "pets.owner.x"])
  func wrongPaths(_ path: String) throws {
    try withCountedStore(SampleModels.pets) { coordinator, _ in
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = [path]
      let error = persistError { _ = try ManagedObjectContext(coordinator).fetch(request) }
      #expect(error?.code == .unknownProperty)
    }
  }

  @Test("Batched results: first all identifiers, then one read for each batch that is accessed (FLT-13)")
  func batched() throws {
    try withCountedStore(SampleModels.people) { coordinator, store in
      let context = ManagedObjectContext(coordinator)
      for number in 0..<95 { try context.make("Person", ["name": String(format: "%02d", number)]) }
      try context.save()
      let fresh = ManagedObjectContext(coordinator)
      var request = FetchRequest("Person", sortedBy: "name")
      request.fetchBatchSize = 10
      var people = try fresh.fetchBatched(request)
      let first = try statements(store) { people = try fresh.fetchBatched(request) }
      #expect(first == 1)
      #expect(people.count == 95)
      #expect(statements(store) { _ = people.first?["name"] } == 1)
      #expect(statements(store) { _ = people[9]["name"] } == 0)
      #expect(statements(store) { _ = people[94]["name"] } == 1)
      #expect(statements(store) { _ = people[8]["name"] } == 0)
      #expect(fresh.registeredObjects.count == 15)
      var all: [String] = []
      #expect(statements(store) { all = people.map { $0["name"] as? String ?? "" } } == 9)
      #expect(all == (0..<95).map { String(format: "%02d", $0) })
      let typed: BatchedResults<ManagedObject> = people
      try #expect(typed.objectIDs == fresh.fetchObjectIDs(request))
    }
  }

  @Test("Batched iteration prefetches for each batch")
  func groups() throws {
    try withCountedStore(SampleModels.pets) { coordinator, store in
      let context = ManagedObjectContext(coordinator)
      for number in 0..<100 { try context.make("Pet", ["owner": context.make("Person", ["name": "\(number)"])]) }
      try context.save()
      for sort in [[], [FetchSortDescriptor("name")]] {
        var request = FetchRequest("Person", sortedBy: sort)
        request.relationshipKeyPathsForPrefetching = ["pets"]
        var pets = 0
        let reader = ManagedObjectContext(coordinator)
        // Rows read ahead stay valid, however long this thread has to wait for the processor.
        reader.readsUnchangingStores = true
        let count = try statements(store) {
          try reader.forEachBatch(of: request, size: 25) { people in
            for person in people { pets += try person.related("pets").count { $0.one("owner") === person } }
          }
        }
        #expect(pets == 100 && count <= 9 + sort.count, "\(count)")
      }
    }
  }
}
