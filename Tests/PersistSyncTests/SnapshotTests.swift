import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: snapshots")
struct SnapshotTests {
  private func device(_ name: String, _ folder: URL, model: ManagedObjectModel) throws -> Device {
    try Device(folder.appendingPathComponent("\(name).sqlite"), model, identifiedBy: SyncModel.identifiers)
  }

  private func addItems(_ count: Int, to device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let box = try context.create("Box")
    box["label"] = "box of \(count)"
    for number in 0..<count {
      let item = try context.create("Item")
      (item["id"], item["name"], item["box"]) = (UUID(), "n\(number)", box)
    }
    try context.save()
  }

  @Test("A hub that has lost change sets doesn't know their replica, until it gets a snapshot")
  func otherHub() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      func device(_ name: String) throws -> Device {
        try Device(folder.appendingPathComponent("\(name).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let (a, b) = (try device("a"), try device("b"))
      let (hub, other) = (FolderHub(folder.appendingPathComponent("1")), FolderHub(folder.appendingPathComponent("2")))
      for name in ["x", "y"] {
        #expect(try await a.replica.isKnown(to: other) == (name == "x"))
        let context = ManagedObjectContext(a.coordinator)
        try context.create("Item")["name"] = name
        try context.save()
        // Unsent changes aren't missed.
        #expect(try await a.replica.isKnown(to: hub))
        try await a.replica.synchronize(with: hub)
        #expect(try await a.replica.isKnown(to: hub))
      }
      try FileManager.default.copyItem(at: hub.url, to: folder.appendingPathComponent("backup"))
      try await b.replica.synchronize(with: hub)
      _ = try await b.replica.compact(hub, forgetting: .seconds(3600))
      #expect(try await a.replica.isKnown(to: hub))
      let context = ManagedObjectContext(a.coordinator)
      try context.create("Item")["name"] = "z"
      try context.save()
      try await a.replica.synchronize(with: hub)
      let backup = FolderHub(folder.appendingPathComponent("backup"))
      let new = try device("new")
      for lost in [other, backup] {
        #expect(try await !a.replica.isKnown(to: lost))
        _ = try await a.replica.compact(lost, forgetting: .seconds(3600))
        #expect(try await a.replica.isKnown(to: lost))
        try await new.replica.synchronize(with: lost)
        #expect(try new.contents().count == 3)
        #expect(try new.contents() == a.contents())
      }
      for device in [a, b, new] { try device.close() }
    }
  }

  @Test("A new replica begins with a snapshot, and one that was away keeps its own changes")
  func snapshot() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, away) = (try device("one", folder, model: model), try device("away", folder, model: model))
      try addItems(3, to: one)
      for device in [one, away] { try await device.replica.synchronize(with: hub) }
      try addItems(2, to: away)
      for _ in 0..<5 {
        try addItems(80, to: one)
        try await one.replica.synchronize(with: hub)
      }
      let before = try await hub.entries(after: [:])
      let deleted = try await one.replica.compact(hub, forgetting: .zero)
      #expect(deleted == before.count)
      let entries = try await hub.entries(after: [:])
      #expect(entries.contains { $0.isSnapshot })
      let new = try device("new", folder, model: model)
      for device in [new, away, one, new, away] { try await device.replica.synchronize(with: hub) }
      #expect(try new.contents() == one.contents())
      #expect(try away.contents() == one.contents())
      #expect(try one.contents().contains { $0.contains("box of 2 ") })
      // Another snapshot replaces the first one.
      _ = try await new.replica.compact(hub, forgetting: .seconds(3600))
      let snapshots = Set(try await hub.entries(after: [:]).filter(\.isSnapshot).map(\.replica))
      #expect(snapshots.count == 1)
      let last = try device("last", folder, model: model)
      try await last.replica.synchronize(with: hub)
      #expect(try last.contents() == one.contents())
    }
  }

  @Test("A compaction deletes only those parts of another's snapshot that it has applied")
  func otherSnapshot() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = PartialHub(FolderHub(folder.appendingPathComponent("hub")))
      let (one, two) = (try device("one", folder, model: model), try device("two", folder, model: model))
      try addItems(3, to: one)
      _ = try await one.replica.compact(hub, forgetting: .zero)
      #expect(try await hub.entries(after: [:]).allSatisfy(\.isSnapshot))
      // The second device lists the snapshot, and can't read all of it yet.
      try addItems(2, to: two)
      await hub.hide { $0.isSnapshot }
      _ = try await two.replica.compact(hub, forgetting: .zero)
      await hub.hide { $0.number == 1 }
      _ = try await two.replica.compact(hub, forgetting: .zero)
      await hub.hide { _ in false }
      let new = try device("new", folder, model: model)
      for device in [new, two, one, new] { try await device.replica.synchronize(with: hub) }
      #expect(try new.contents().count == 7)
      #expect(try new.contents() == one.contents())
      #expect(try new.contents() == two.contents())
    }
  }

  /// A hub that lists everything, but can't read everything.
  private actor PartialHub: SyncHub {
    private let hub: FolderHub
    private var isHidden: @Sendable (SyncEntry) -> Bool = { _ in false }

    init(_ hub: FolderHub) { self.hub = hub }

    func hide(_ isHidden: @escaping @Sendable (SyncEntry) -> Bool) { self.isHidden = isHidden }

    func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] { try await hub.entries(after: numbers) }
    func content(of entry: SyncEntry) async throws -> Data? { isHidden(entry) ? nil : try await hub.content(of: entry) }
    func put(_ content: Data, as entry: SyncEntry) async throws -> Bool { try await hub.put(content, as: entry) }
    func remove(_ entries: [SyncEntry]) async throws { try await hub.remove(entries) }
    func positions() async throws -> [ReplicaPosition] { try await hub.positions() }
    func setPosition(_ position: ReplicaPosition) async throws { try await hub.setPosition(position) }
  }

  @Test("Change sets that a replica still needs aren't deleted")
  func needed() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = (try device("one", folder, model: model), try device("two", folder, model: model))
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      try addItems(3, to: one)
      try await one.replica.synchronize(with: hub)
      let before = Set(try await hub.entries(after: [:]))
      _ = try await one.replica.compact(hub, forgetting: .seconds(3600))
      let id = try await one.replica.identifier()
      let needed = before.filter { $0.replica == id }.max()
      #expect(needed != nil)
      if let needed { #expect(try await hub.content(of: needed) != nil) }
    }
  }
}
