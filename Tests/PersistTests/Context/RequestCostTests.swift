import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Cost of a request to a server")
struct RequestCostTests {
  private final class CostlyTicket: ManagedObject {}
  private final class Unrelated: ManagedObject {}

  @Test("Contexts share what they find out about a model's classes, until another class is registered for an entity")
  func classes() throws {
    var entity = EntityDescription("Ticket", attributes: [.init("number", .int32)])
    entity.className = "CostlyTicket"
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(ModelDescription(entities: [entity])))
    let mapping = try #require(ManagedObjectContext(coordinator).sharedClasses)
    ManagedObjectClasses.register(Unrelated.self)
    #expect(ManagedObjectContext(coordinator).sharedClasses === mapping)
    ManagedObjectClasses.register(CostlyTicket.self)
    let context = ManagedObjectContext(coordinator)
    #expect(context.sharedClasses !== mapping && context.classes.first == CostlyTicket.self)
    #expect(ManagedObjectContext(coordinator, classes: ["Ticket": Unrelated.self]).sharedClasses == nil)
  }

  @Test(
    "Members of few owners and of many are prefetched in two statements", .aboutFiles("SQLite's statements"),
    arguments: [1, 2, 16, 17, 40], ["children", "tags", "ranked"])
  func prefetching(count: Int, relationship: String) throws {
    let model = try ManagedObjectModel(SampleModels.shapes)
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      let context = ManagedObjectContext(coordinator)
      let tags = try (0..<3).map { try context.make("Tag", ["label": "tag \($0)"]) }
      for number in 0..<40 {
        let node = try context.make("Node", ["name": "node \(number)"])
        for child in 0..<number % 3 { try context.make("Node", ["name": "\(number) \(child)", "parent": node]) }
        for tag in tags.prefix(number % 4) {
          try node.related("tags").insert(tag)
          try node.related("ranked").insert(tag)
        }
      }
      try context.save()
      let expected = try Dictionary(
        uniqueKeysWithValues: context.fetch(FetchRequest("Node")).map { node in
          (node.objectID, try node.related(relationship).map(\.objectID).sorted())
        })
      _ = try ManagedObjectContext(coordinator).count(for: FetchRequest("Node"))
      var request = FetchRequest("Node", limit: count)
      request.predicate = try FetchPredicate("name BEGINSWITH 'node'")
      request.relationshipKeyPathsForPrefetching = [relationship]
      let fresh = ManagedObjectContext(coordinator)
      let before = store.statementCount
      let nodes = try fresh.fetch(request)
      let found = try nodes.map { ($0.objectID, try $0.related(relationship).map(\.objectID).sorted()) }
      #expect(store.statementCount - before == 2 && nodes.count == count)
      for (id, members) in found { #expect(members == expected[id]) }
    }
  }
}

extension [ManagedObjectID] {
  fileprivate func sorted() -> [ManagedObjectID] { sorted { $0.description < $1.description } }
}
