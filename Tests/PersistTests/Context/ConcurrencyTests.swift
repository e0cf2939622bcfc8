import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Many contexts at once")
struct ConcurrencyTests {
  /// With `PERSIST_LONG_TESTS` set, it runs for ten seconds, as under the thread sanitizer.
  @Test(
    "Eight tasks insert, change, delete and merge; no update is lost and the store is sound",
    .law("contexts-at-once", short: 1, long: 1))
  func eightTasks() async { await forEachSeed { _ in try await runEightTasks() } }

  private func runEightTasks() async throws {
    let model = try ManagedObjectModel(SampleModels.pets)
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: url)
      let seeding = ManagedObjectContext(coordinator)
      let counters = try (0..<3).map { try seeding.make("Person", ["name": "0", "nickname": "counter \($0)"]) }
      try seeding.save()

      let post = ChangePost(receivers: 8)
      let totals = try await withThrowingTaskGroup(of: ConcurrentWork.Totals.self) { group in
        let ids = counters.map(\.objectID)
        for number in 0..<8 {
          group.addTask {
            var work = ConcurrentWork(number, in: ManagedObjectContext(coordinator), counters: ids, post: post)
            try work.run(for: TestLength.isLong ? .seconds(10) : .milliseconds(200))
            return work.totals
          }
        }
        return try await group.reduce(into: ConcurrentWork.Totals()) { $0 += $1 }
      }

      #expect(totals.rounds >= 8 && totals.merged > 0)
      let reader = ManagedObjectContext(coordinator)
      let counted = try counters.map { Int(try reader.existingObject(with: $0.objectID)["name"] as? String ?? "") }
      #expect(counted.compactMap { $0 }.reduce(0, +) == totals.increments)
      #expect(try reader.count(for: FetchRequest("Person")) == totals.owners + counters.count)
      #expect(try reader.count(for: FetchRequest("Pet")) == totals.pets)
      #expect(try reader.count(for: FetchRequest("Pet", where: "owner == nil")) == 0)
      try coordinator.remove(store)
      var problems: [String] = []
      try checkStore(at: url, registry: ModelRegistry(versions: [ModelVersion(name: "1", model: model)])) {
        problems.append("\($0)")
      }
      #expect(problems == [])
    }
  }

  @Test("A context's objects may be transferred with the context, as one region")
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

  @Test("A thousand objects created, saved and released, again and again, leave nothing behind")
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
