import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistSync

@Suite("Synchronization: growth")
struct SyncGrowthTests {
  /// The statements that a store runs.
  private func statements(of device: Device, _ body: () async throws -> Void) async throws -> Int {
    let name = try #require(device.coordinator.persistentStores.first?.identifier)
    let store = try #require(device.coordinator.storesWithHistory([name]).first?.store as? SQLiteStore)
    let before = store.pool.counts.executed
    try await body()
    return store.pool.counts.executed - before
  }

  /// The statements of sending and of receiving some changed values, in stores of some size.
  private func cost(changing count: Int, of size: Int) async throws -> (send: Int, receive: Int, idle: Int) {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      for number in 0..<size {
        let item = try context.create("Item")
        (item["id"], item["name"]) = (UUID(), "n\(number)")
      }
      try context.save()
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for item in try context.fetch(FetchRequest<ManagedObject>("Item")).prefix(count) { item["name"] = "changed" }
      try context.save()
      let send = try await statements(of: devices[0]) { try await devices[0].replica.synchronize(with: hub) }
      let receive = try await statements(of: devices[1]) { try await devices[1].replica.synchronize(with: hub) }
      for device in devices { try await device.replica.synchronize(with: hub) }
      let idle = try await statements(of: devices[1]) { try await devices[1].replica.synchronize(with: hub) }
      #expect(try devices[0].contents() == devices[1].contents())
      return (send, receive, idle)
    }
  }

  @Test("Statements grow with the changes and not with the store")
  func statements() async throws {
    let (small, large) = (try await cost(changing: 50, of: 100), try await cost(changing: 50, of: 800))
    let more = try await cost(changing: 200, of: 800)
    #expect(abs(small.send - large.send) <= 20 && abs(small.receive - large.receive) <= 20, "\(small) \(large)")
    #expect(small.idle == large.idle && small.idle <= 40, "\(small) \(large)")
    // Entries are read and written in groups, so that little more than the row's own statements is left.
    #expect(Double(more.send - large.send) / 150 <= 0.5, "\(large) \(more)")
    #expect(Double(more.receive - large.receive) / 150 <= 1.5, "\(large) \(more)")
  }
}
