import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: costs")
struct SyncCostTests {
  /// A hub that counts requests.
  private actor CountingHub: SyncHub {
    private let hub: FolderHub
    private(set) var requests = 0

    init(_ hub: FolderHub) { self.hub = hub }

    func reset() { requests = 0 }

    func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
      requests += 1
      return try await hub.entries(after: numbers)
    }

    func content(of entry: SyncEntry) async throws -> Data? {
      requests += 1
      return try await hub.content(of: entry)
    }

    func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
      requests += 1
      return try await hub.put(content, as: entry)
    }

    func remove(_ entries: [SyncEntry]) async throws { requests += entries.count }

    func positions() async throws -> [ReplicaPosition] {
      requests += 1
      return try await hub.positions()
    }

    func setPosition(_ position: ReplicaPosition) async throws {
      requests += 1
      try await hub.setPosition(position)
    }
  }

  @Test("Change sets depend on the changes and not on the store's size, and have few bytes for each value")
  func size() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      var sizes: [Int: Int] = [:]
      for count in [500, 2000] {
        let device = try Device(
          folder.appendingPathComponent("\(count).sqlite"), model, identifiedBy: SyncModel.identifiers)
        let hub = FolderHub(folder.appendingPathComponent("hub \(count)"))
        let context = ManagedObjectContext(device.coordinator)
        for number in 0..<count {
          let item = try context.create("Item")
          (item["id"], item["name"]) = (UUID(), "n\(number)")
        }
        try context.save()
        try await device.replica.synchronize(with: hub)
        let before = Set(try await hub.entries(after: [:]))
        for item in try context.fetch(FetchRequest<ManagedObject>("Item")).prefix(400) { item["name"] = "changed" }
        try context.save()
        try await device.replica.synchronize(with: hub)
        let new = try await hub.entries(after: [:]).filter { !before.contains($0) }
        #expect(new.count == 1)
        for entry in new {
          let data = try #require(try await hub.content(of: entry))
          #expect(try ChangeSet(data).count == 400)
          sizes[count] = data.count
        }
        try device.close()
      }
      let (small, large) = (try #require(sizes[500]), try #require(sizes[2000]))
      #expect(abs(small - large) < 100)
      #expect(large / 400 <= 40)
    }
  }

  @Test("A synchronization without changes is one request")
  func nothing() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = CountingHub(FolderHub(folder.appendingPathComponent("hub")))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      try context.create("Item")["id"] = UUID()
      try context.save()
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for device in devices {
        await hub.reset()
        try await device.replica.synchronize(with: hub)
        #expect(await hub.requests == 1)
      }
    }
  }
}
