import Foundation
import Persist
import PersistSync
import PersistTestSupport
import Testing

@Suite("Synchronization: through a store")
struct StoreHubTests {
  @Test("Devices become equal through a store, which is a replica with the same objects")
  func store() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let devices = try ["server", "a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let hub = try StoreHub(devices[0].coordinator)
      for (number, device) in devices.enumerated() {
        let context = ManagedObjectContext(device.coordinator)
        let item = try context.create("Item")
        (item["id"], item["name"]) = (UUID(), "from \(number)")
        try context.save()
      }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for device in devices { #expect(try device.contents() == devices[0].contents()) }
      #expect(try devices[0].contents().count == 3)
      #expect(try await hub.positions().count == 3)
      let report = try await devices[0].replica.synchronize(with: hub)
      #expect(report.sent == 0 && report.received == 0)
      // Another content under the same number is refused, the same one accepted.
      let entry = try #require(try await hub.entries(after: [:]).first)
      let content = try #require(try await hub.content(of: entry))
      #expect(try await hub.put(content, as: entry))
      #expect(try await !hub.put(Data([1]), as: entry))
      #expect(try await devices[1].replica.compact(hub, forgetting: .zero) == 3)
      let new = try Device(folder.appendingPathComponent("c.sqlite"), model, identifiedBy: SyncModel.identifiers)
      try await new.replica.synchronize(with: hub)
      #expect(try new.contents() == devices[0].contents())
    }
  }
}

@Suite("Synchronization: folders as hubs")
struct FolderHubTests {
  @Test("A folder that can't be used is named in the error, with what to do")
  func unusable() async throws {
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data("text".utf8).write(to: file)
      let model = try ManagedObjectModel(SyncModel.description)
      let device = try Device(folder.appendingPathComponent("a.sqlite"), model, identifiedBy: [:])
      let context = ManagedObjectContext(device.coordinator)
      try context.create("Box")["label"] = "b"
      try context.save()
      let error = await #expect(throws: PersistenceError.self) {
        try await device.replica.synchronize(with: FolderHub(file))
      }
      #expect(error?.code == .fileAccess)
      #expect(error?.message.contains("hub") == true && error?.fix?.contains(file.path) == true)
      // Nothing is lost.
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      #expect(try await device.replica.synchronize(with: hub).sent == 1)
    }
  }
}
