import Foundation
import Persist
import PersistSync
import PersistTestSupport
import Testing

/// Devices that begin from a file with data, such as one that is part of an application.
@Suite("Synchronization: seed files")
struct SeedTests {
  /// Changes the boxes of a store, which have their labels as keys, and saves them.
  private func edit(
    _ device: Device, _ body: (ManagedObjectContext, [String: ManagedObject]) throws -> Void
  ) throws {
    let context = ManagedObjectContext(device.coordinator)
    let all = try context.fetch(FetchRequest<ManagedObject>("Box"))
    try body(context, Dictionary(uniqueKeysWithValues: all.map { ($0["label"] as? String ?? "", $0) }))
    try context.save()
  }

  private func labels(_ device: Device) throws -> [String] {
    var labels: [String] = []
    try edit(device) { labels = $1.keys.sorted() }
    return labels
  }

  @Test(
    "A device that begins from an old seed file brings back nothing that was deleted, and keeps its own changes",
    arguments: [false, true])
  func oldSeed(isSynchronized: Bool) async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let seed = try Device(folder.appendingPathComponent("seed.sqlite"), model, identifiedBy: SyncModel.identifiers)
      try edit(seed) { context, _ in
        for number in 0..<10 { try context.create("Box")["label"] = "b\(number)" }
      }
      if isSynchronized { try await seed.replica.synchronize(with: hub) }
      try seed.close()
      func begin(_ name: String) throws -> Device {
        let url = folder.appendingPathComponent("\(name).sqlite")
        try seed.copyFiles(to: url)
        return try Device(url, model, identifiedBy: SyncModel.identifiers)
      }
      let (one, two) = (try begin("one"), try begin("two"))
      for device in [one, two, one] { try await device.replica.synchronize(with: hub) }
      for device in [one, two] { #expect(try labels(device) == (0..<10).map { "b\($0)" }) }
      try edit(one) { context, boxes in
        for number in 0..<5 { context.delete(try #require(boxes["b\(number)"])) }
      }
      for device in [one, two, one] { try await device.replica.synchronize(with: hub) }
      // Everybody is forgotten, and nothing is left of the change sets with the deletions.
      for _ in 0..<2 { try await one.replica.compact(hub, forgetting: .seconds(-86_400)) }
      let entries = try await hub.entries(after: [:])
      #expect(entries.allSatisfy { $0.isSnapshot })

      let late = try begin("late")
      try edit(late) { context, boxes in
        // The others have deleted the first one.
        try #require(boxes["b1"])["label"] = "changed 1"
        try #require(boxes["b7"])["label"] = "changed 7"
        context.delete(try #require(boxes["b8"]))
        try context.create("Box")["label"] = "new"
      }
      for device in [late, one, two, late, one, two] { try await device.replica.synchronize(with: hub) }
      for device in [one, two, late] { #expect(try labels(device) == ["b5", "b6", "b9", "changed 7", "new"]) }
      #expect(try one.contents() == two.contents() && two.contents() == late.contents())
    }
  }
}
