import Foundation
import Persist
import PersistSync
import PersistTestSupport
import Testing

@Suite("Synchronization: while programs save")
struct ConcurrentSavesTests {
  @Test("Saves during a synchronization are neither lost nor overwritten")
  func saves() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let count = 60
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, device) in devices.enumerated() {
          let (coordinator, replica) = (device.coordinator, device.replica)
          group.addTask {
            for step in 0..<count {
              let context = ManagedObjectContext(coordinator)
              let item = try context.create("Item")
              (item["id"], item["name"]) = (UUID(), "\(number) \(step)")
              try context.save()
              await Task.yield()
            }
          }
          group.addTask { for _ in 0..<10 { try await replica.synchronize(with: hub) } }
        }
        try await group.waitForAll()
      }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try devices[0].contents().count == 2 * count)
    }
  }

  @Test("Contexts that merge saves automatically have what was applied")
  func merging() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      let item = try context.create("Item")
      (item["id"], item["name"]) = (UUID(), "first")
      try context.save()
      for device in devices { try await device.replica.synchronize(with: hub) }
      let other = ManagedObjectContext(devices[1].coordinator)
      other.automaticallyMergesChangesFromParent = true
      let copy = try #require(other.fetch(FetchRequest<ManagedObject>("Item")).first)
      #expect(copy["name"] as? String == "first")
      item["name"] = "second"
      try context.save()
      for device in devices { try await device.replica.synchronize(with: hub) }
      other.perform { #expect(copy["name"] as? String == "second") }
    }
  }
}
