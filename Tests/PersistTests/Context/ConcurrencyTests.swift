import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Many contexts at once")
struct ConcurrencyTests {
  @Test("Eight tasks insert, change and delete; no change is lost and the store is sound")
  func eightTasks() async throws {
    let rounds = ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] == nil ? 12 : 400
    let model = try ManagedObjectModel(SampleModels.pets)
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let seeding = ManagedObjectContext(coordinator)
      let shared = try seeding.make("Person", ["name": "0"])
      try seeding.save()
      let id = shared.objectID

      let kept = try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<8 {
          group.addTask {
            let context = ManagedObjectContext(coordinator)
            var kept = 0
            for round in 0..<rounds {
              let owner = try context.make("Person", ["name": "\(task).\(round)"])
              for pet in 0..<3 { try context.make("Pet", ["name": "\(pet)", "owner": owner]) }
              try context.save()
              if round.isMultiple(of: 3) { context.delete(owner) } else { kept += 1 }
              try context.save()
              try Self.increment(id, in: context)
              _ = try context.count(FetchRequest("Pet"))
            }
            return kept
          }
        }
        return try await group.reduce(0, +)
      }

      let reader = ManagedObjectContext(coordinator)
      #expect(try reader.existingObject(with: id)["name"] as? String == "\(8 * rounds)")
      #expect(try reader.count(FetchRequest("Person")) == kept + 1 && reader.count(FetchRequest("Pet")) == kept * 3)
      try coordinator.remove(store)
      var problems: [String] = []
      try StoreCheck.check(storeAt: url, registry: ModelRegistry(versions: [ModelVersion(name: "1", model: model)])) {
        problems.append("\($0)")
      }
      #expect(problems == [])
    }
  }

  /// Counts the shared object's name up by one; another's change in between is met by reading again.
  private static func increment(_ id: ManagedObjectID, in context: ManagedObjectContext) throws {
    let object = context.object(with: id)
    while true {
      context.refresh(object, mergingChanges: false)
      object["name"] = String((Int(object["name"] as? String ?? "") ?? 0) + 1)
      do {
        return try context.save()
      } catch let error as PersistError where error.code == .mergeConflict {
        continue
      }
    }
  }

  @Test("A context's objects may be handed over with the context, as one region")
  func handedOver() async throws {
    let model = try ManagedObjectModel(SampleModels.people)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    let ann = try context.make("Person", ["name": "Ann"])
    let name = try await Task {
      try context.save()
      return ann["name"] as? String
    }.value
    #expect(name == "Ann")
  }

  @Test("A thousand objects made, saved and let go, again and again, leave nothing behind")
  func constantMemory() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for round in 0..<5 {
        for index in 0..<1000 { try context.make("Person", ["name": "\(round) \(index)"]) }
        try context.save()
        #expect(context.registeredObjects.isEmpty)
      }
      #expect(stack.store.commits.count == 5)
    }
  }
}
