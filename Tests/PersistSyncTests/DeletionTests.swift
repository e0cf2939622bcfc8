import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: deleted objects")
struct DeletionTests {
  @Test("What is left of a deleted object is one small entry")
  func remainder() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      let box = try context.create("Box")
      let tag = try context.create("Tag")
      tag["label"] = "t"
      for number in 0..<20 {
        let item = try context.create("Item")
        (item["id"], item["name"], item["box"]) = (UUID(), "n\(number)", box)
        try item.many("tags").insert(tag)
        try item.many("friends").insert(item)
      }
      try context.save()
      for device in devices { try await device.replica.synchronize(with: hub) }
      for item in try context.fetch(FetchRequest<ManagedObject>("Item")) { context.delete(item) }
      try context.save()
      for device in devices { try await device.replica.synchronize(with: hub) }
      for device in devices {
        let tables = try device.replica.work.open().step.tables
        func entries(_ table: Character) throws -> [AttachedEntry] {
          try tables.entries(withPrefix: Data([table.asciiValue ?? 0]))
        }
        let items = try entries("F").filter { String(decoding: $0.key, as: UTF8.self).contains("Item") }
        // Positions of items in the order of the box, and in that of the tag's relationship, remain.
        let lives = items.filter { (try? FactKey($0.key)) == nil }
        #expect(lives.count == 20)
        #expect(lives.allSatisfy { $0.key.count + $0.value.count < 100 })
        #expect(try entries("Q").isEmpty)
        #expect(try entries("B").isEmpty)
        #expect(try entries("R").count == 2)
        #expect(try device.contents().count == 2)
        #expect(try device.outdatedRows().isEmpty)
      }
    }
  }
}
