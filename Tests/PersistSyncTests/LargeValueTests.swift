import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: large values")
struct LargeValueTests {
  private static let description = ModelDescription(entities: [
    EntityDescription(
      "Photo",
      attributes: [
        .init("id", .int64), .init("title", .string), .init("text", .string),
        .init("data", .binary, allowsExternalStorage: true),
      ])
  ])

  /// A hub that counts the transfers of parts, and fails after some.
  private actor PartHub: SyncHub {
    let hub: FolderHub
    private(set) var sent: [SyncEntry] = []
    private(set) var received: [SyncEntry] = []
    private var left = Int.max

    struct Failure: Error {}

    init(_ hub: FolderHub) { self.hub = hub }

    func fail(after count: Int) { left = count }

    func reset() { (sent, received, left) = ([], [], .max) }

    private func use(_ entry: SyncEntry) throws {
      guard entry.isPart else { return }
      if left == 0 { throw Failure() }
      left -= 1
    }

    func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] { try await hub.entries(after: numbers) }
    func contains(_ entry: SyncEntry) async throws -> Bool { try await hub.contains(entry) }

    func content(of entry: SyncEntry) async throws -> Data? {
      try use(entry)
      if entry.isPart { received.append(entry) }
      return try await hub.content(of: entry)
    }

    func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
      try use(entry)
      if entry.isPart { sent.append(entry) }
      return try await hub.put(content, as: entry)
    }

    func remove(_ entries: [SyncEntry]) async throws { try await hub.remove(entries) }
    func positions() async throws -> [ReplicaPosition] { try await hub.positions() }
    func setPosition(_ position: ReplicaPosition) async throws { try await hub.setPosition(position) }
  }

  private func device(_ name: String, _ folder: URL) throws -> Device {
    try Device(
      folder.appendingPathComponent("\(name).sqlite"), ManagedObjectModel(Self.description),
      identifiedBy: ["Photo": "id"])
  }

  /// Bytes that no compression or repetition shortens.
  private func bytes(_ count: Int, _ seed: UInt64) -> Data {
    var random = SeededRandom(seed: seed)
    return Data((0..<(count + 7) / 8).flatMap { _ in withUnsafeBytes(of: random.next(), Array.init) }.prefix(count))
  }

  private func set(_ values: [String: Any?], ofPhoto id: Int, on device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let known = try context.fetch(FetchRequest<ManagedObject>("Photo", where: "id == %@", id)).first
    let photo = try known ?? context.create("Photo")
    photo["id"] = id
    for (name, value) in values { photo[name] = value }
    try context.save()
  }

  private func data(ofPhoto id: Int, on device: Device) throws -> Data? {
    let context = ManagedObjectContext(device.coordinator)
    return try context.fetch(FetchRequest<ManagedObject>("Photo", where: "id == %@", id)).first?["data"] as? Data
  }

  /// The parts of large values in a store.
  private func storedParts(_ device: Device) throws -> Int {
    try device.replica.work.open().step.tables.entries(withPrefix: Data([UInt8(ascii: "b")])).count
  }

  private static let size = LargeValue.limits.part + 100_000

  @Test("A large value is sent once, whoever has it, and other changes of its object don't send it again")
  func once() async throws {
    try await withTemporaryFolder { folder in
      let hub = PartHub(FolderHub(folder.appendingPathComponent("hub")))
      let (one, two) = (try device("one", folder), try device("two", folder))
      let data = bytes(Self.size, 1)
      try set(["data": data, "title": "first"], ofPhoto: 1, on: one)
      try set(["data": data], ofPhoto: 2, on: one)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      #expect(await hub.sent.count == 2)
      #expect(await hub.received.count == 2)
      #expect(try self.data(ofPhoto: 1, on: two) == data)
      #expect(try self.data(ofPhoto: 2, on: two) == data)
      await hub.reset()
      try set(["title": "second"], ofPhoto: 1, on: two)
      try set(["data": data], ofPhoto: 3, on: two)
      for device in [two, one] { try await device.replica.synchronize(with: hub) }
      #expect(await hub.sent.isEmpty)
      #expect(await hub.received.isEmpty)
      #expect(try self.data(ofPhoto: 3, on: one) == data)
      #expect(try one.contents() == two.contents())
      // The parts aren't change sets.
      #expect(try await hub.entries(after: [:]).allSatisfy { !$0.isPart })
    }
  }

  @Test("An interrupted transfer continues with the parts that are missing")
  func resumption() async throws {
    try await withTemporaryFolder { folder in
      let hub = PartHub(FolderHub(folder.appendingPathComponent("hub")))
      let (one, two) = (try device("one", folder), try device("two", folder))
      let data = bytes(Self.size, 2)
      try set(["data": data, "title": "first"], ofPhoto: 1, on: one)
      for device in [one, two] {
        await hub.reset()
        await hub.fail(after: 1)
        await #expect(throws: PartHub.Failure.self) { try await device.replica.synchronize(with: hub) }
        #expect(try two.contents().isEmpty)
        await hub.fail(after: .max)
        try device.close()
        try device.reopen()
        try await device.replica.synchronize(with: hub)
        let transfers = await device === one ? hub.sent : hub.received
        #expect(transfers.count == 2 && Set(transfers).count == 2)
      }
      #expect(try self.data(ofPhoto: 1, on: two) == data)
    }
  }

  @Test("A store deletes the parts that neither an object nor an unsent change set has any longer")
  func deletion() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = (try device("one", folder), try device("two", folder))
      let (text, data) = (String(repeating: "é", count: 40_000), bytes(70_000, 3))
      try set(["text": text, "data": data], ofPhoto: 1, on: one)
      try set(["data": data], ofPhoto: 2, on: one)
      _ = try one.replica.work.capture()
      #expect(try storedParts(one) == 2)
      try set(["text": "short", "data": nil], ofPhoto: 1, on: one)
      _ = try one.replica.work.capture()
      // The first change set is still to be sent.
      #expect(try storedParts(one) == 2)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      #expect(try storedParts(one) == 1)
      #expect(try self.data(ofPhoto: 2, on: two) == data)
      #expect(try one.contents() == two.contents())
      let context = ManagedObjectContext(two.coordinator)
      try context.fetch(FetchRequest<ManagedObject>("Photo")).forEach(context.delete)
      try context.save()
      for device in [two, one] { try await device.replica.synchronize(with: hub) }
      #expect(try storedParts(one) == 0)
      #expect(try storedParts(two) == 0)
    }
  }

  @Test("Large values arrive with snapshots, and on stores as hubs")
  func snapshot() async throws {
    try await withTemporaryFolder { folder in
      let (one, two, server) = (try device("one", folder), try device("two", folder), try device("server", folder))
      let hub = try StoreHub(server.coordinator)
      try set(["data": bytes(70_000, 4)], ofPhoto: 1, on: one)
      _ = try await one.replica.compact(hub, forgetting: .zero)
      for device in [two, server] { try await device.replica.synchronize(with: hub) }
      #expect(try two.contents() == one.contents())
      #expect(try server.contents() == one.contents())
      #expect(try self.data(ofPhoto: 1, on: two) == bytes(70_000, 4))
      #expect(try two.outdatedRows().isEmpty)
    }
  }

  @Test("A part with other content than its digest says is refused, and the change set waits")
  func damaged() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = (try device("one", folder), try device("two", folder))
      try set(["data": bytes(70_000, 5)], ofPhoto: 1, on: one)
      try await one.replica.synchronize(with: hub)
      let parts = folder.appendingPathComponent("hub/parts")
      let file = try #require(
        FileManager.default.contentsOfDirectory(at: parts, includingPropertiesForKeys: nil).first)
      let whole = try Data(contentsOf: file)
      try Data("else".utf8).write(to: file)
      let report = try await two.replica.synchronize(with: hub)
      #expect(report.refused.map(\.error.code) == [.malformedFile])
      #expect(try two.contents().isEmpty)
      try whole.write(to: file)
      try await two.replica.synchronize(with: hub)
      #expect(try two.contents() == one.contents())
    }
  }
}
