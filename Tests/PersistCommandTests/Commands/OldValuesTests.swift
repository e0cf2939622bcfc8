import Foundation
import Persist
import PersistTestSupport
import Testing

@Suite("persist history: old values")
struct OldValuesTests {
  @Test("Text and JSON show the values and members before updates and deletions, if the store keeps them")
  func oldValues() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try FollowedStore.model())
      let store = try coordinator.addStore(at: url, options: StoreOptions(historyKeeps: .oldValues))
      let context = ManagedObjectContext(coordinator)
      let box = ManagedObject(entity: "Box", context: context)
      let item = ManagedObject(entity: "Item", context: context)
      item["name"] = "Tea"
      try context.save()
      item["name"] = "Coffee"
      item["box"] = box
      try context.save()
      context.delete(item)
      try context.save()
      try coordinator.remove(store)
      let location = url.isFileURL ? url.path : url.absoluteString
      let outcome = try Command.run("history", location)
      #expect(outcome.output.contains("update Item 1: box, name; before: box no value, name 'Tea'"), "\(outcome.output)")
      let lines = try Command.run("history", location, "--json").jsonLines()
      try #require(lines.count == 3)
      let updates = try #require(lines[1]["changes"] as? [[String: Any]])
      let values = try #require(updates.first { $0["entity"] as? String == "Item" }?["oldValues"] as? [String: Any])
      #expect(values["name"] as? String == "Tea")
      #expect(values["box"] is NSNull)
      let deletes = try #require(lines[2]["changes"] as? [[String: Any]])
      let deleted = try #require(deletes.first { $0["type"] as? String == "delete" }?["oldValues"] as? [String: Any])
      #expect(deleted["name"] as? String == "Coffee")
      let owner = try #require(deleted["box"] as? [String: Any])
      #expect(owner["entity"] as? String == "Box")
      #expect(owner["pk"] as? Int == 1)
      #expect((lines[0]["changes"] as? [[String: Any]])?.allSatisfy { $0["oldValues"] == nil } == true)
    }
  }
}
