import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// Several devices of one user, which a server serves at the same time.
@Suite("Synchronization: parts of a store for several devices at once")
struct ConcurrentScopeTests {
  private struct Setting {
    let folder: URL
    let hub: FolderHub
    let server: Device
    let devices: [Device]

    init(_ folder: URL) async throws {
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Person", attributes: [.init("name", .string)],
            relationships: [.init("notes", toMany: "Note", inverse: "owner", deleteRule: .cascade)]),
          EntityDescription(
            "Note", attributes: [.init("id", .uuid), .init("title", .string)],
            relationships: [.init("owner", to: "Person", inverse: "notes", isOptional: false)]),
        ]))
      func device(_ name: String) throws -> Device {
        try Device(
          folder.appendingPathComponent("\(name).sqlite"), model, identifiedBy: ["Person": "name", "Note": "id"])
      }
      self.folder = folder
      hub = FolderHub(folder.appendingPathComponent("hub"))
      server = try device("server")
      devices = [try device("one"), try device("two")]
      let context = ManagedObjectContext(server.coordinator)
      for name in ["ann", "bob"] { try context.create("Person")["name"] = name }
      try context.save()
      for device in devices { try await device.replica.synchronize(with: scoped()) }
    }

    func scoped() throws -> ScopedHub { try Self.scoped(hub, server: server.replica) }

    static func scoped(
      _ hub: FolderHub, server: Replica,
      review: @escaping @Sendable (SyncChange) async throws -> String? = { _ in nil }
    ) throws -> ScopedHub {
      let own = try FetchPredicate("owner.name == 'ann'")
      let person = try FetchPredicate("name == 'ann'")
      return try ScopedHub(
        hub, server: server, user: "ann",
        scope: SyncScope([
          "Note": .init(reading: own, writing: own), "Person": .init(reading: person, writing: person),
        ]), review: review)
    }

    static func person(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
      try #require(context.findAll("Person", matching: FetchPredicate("name == %@", name)).first)
    }

    func titles(_ device: Device) throws -> [String] {
      let context = ManagedObjectContext(device.coordinator)
      return try context.fetch(FetchRequest<ManagedObject>("Note")).map { "\($0["title"] ?? "")" }.sorted()
    }

    func close() throws { for device in devices + [server] { try device.close() } }
  }

  @Test("An object that left and came back before a device knew remains on the device that has changed it meanwhile")
  func changedWhileLeaving() async throws {
    try await withTemporaryFolder { folder in
      let setting = try await Setting(folder)
      let (one, two) = (setting.devices[0], setting.devices[1])
      let context = ManagedObjectContext(one.coordinator)
      let note = try context.create("Note")
      (note["id"], note["title"], note["owner"]) = (UUID(), "Tea", try Setting.person("ann", context))
      try context.save()
      for device in [one, two] { try await device.replica.synchronize(with: setting.scoped()) }
      let other = ManagedObjectContext(setting.server.coordinator)
      for (owner, device) in [("bob", two), ("ann", nil)] {
        let note = try #require(other.fetch(FetchRequest<ManagedObject>("Note")).first)
        note["owner"] = try Setting.person(owner, other)
        try other.save()
        try await device?.replica.synchronize(with: setting.scoped())
      }
      #expect(try setting.titles(two).isEmpty)
      note["title"] = "Green tea"
      try context.save()
      for device in [one, two] {
        let report = try await device.replica.synchronize(with: setting.scoped())
        #expect(report.refusals.isEmpty)
      }
      for device in [one, two, setting.server] { #expect(try setting.titles(device) == ["Green tea"]) }
      try setting.close()
    }
  }

  @Test("A change set that arrives twice at once has one outcome, although the hook answers differently")
  func twice() async throws {
    try await withTemporaryFolder { folder in
      let setting = try await Setting(folder)
      let device = setting.devices[0]
      let context = ManagedObjectContext(device.coordinator)
      let note = try context.create("Note")
      (note["id"], note["title"], note["owner"]) = (UUID(), "Tea", try Setting.person("ann", context))
      try context.save()
      let record = try device.replica.work.capture().record
      let (number, content, _) = try #require(device.replica.work.unsent().first)
      let entry = SyncEntry(replica: record.id, number: number)
      let gate = Gate()
      let hub = try Setting.scoped(setting.hub, server: setting.server.replica) { _ in await gate.answer() }
      async let first = hub.put(content, as: entry)
      async let second = hub.put(content, as: entry)
      let results = try await [first, second]
      #expect(results == [true, true])
      #expect(try await hub.put(content, as: entry))
      for device in setting.devices + setting.devices {
        try await device.replica.synchronize(with: setting.scoped())
      }
      let titles = try setting.titles(setting.server)
      for device in setting.devices { #expect(try setting.titles(device) == titles) }
      try setting.close()
    }
  }

  /// Lets two reviews happen at the same time, and refuses one of them.
  private actor Gate {
    private var count = 0

    func answer() async -> String? {
      count += 1
      let isFirst = count == 1
      for _ in 0..<500 where count < 2 { try? await Task.sleep(for: .milliseconds(10)) }
      return isFirst ? "no" : nil
    }
  }

  @Test("Devices that create, change and delete objects at the same time have all of them, and nothing is refused")
  func concurrent() async throws {
    try await withTemporaryFolder { folder in
      let setting = try await Setting(folder)
      let kept = try await withThrowingTaskGroup(of: [String].self) { group in
        let (hub, server) = (setting.hub, setting.server.replica)
        for (index, device) in setting.devices.enumerated() {
          let (coordinator, replica) = (device.coordinator, device.replica)
          group.addTask {
            try await Self.use(coordinator, replica, name: "\(index)") { try Setting.scoped(hub, server: server) }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }.sorted()
      }
      for device in setting.devices + setting.devices { try await device.replica.synchronize(with: setting.scoped()) }
      for device in setting.devices + [setting.server] { #expect(try setting.titles(device) == kept) }
      try setting.close()
    }
  }

  /// - Returns: The titles of the notes that remain.
  private static func use(
    _ coordinator: PersistentStoreCoordinator, _ replica: Replica, name: String, _ hub: () throws -> ScopedHub
  ) async throws -> [String] {
    var kept: [String] = []
    for number in 0..<60 {
      let context = ManagedObjectContext(coordinator)
      let note = try context.create("Note")
      let title = "\(name).\(number)"
      (note["id"], note["title"], note["owner"]) = (UUID(), title, try Setting.person("ann", context))
      if number % 3 == 2, let former = kept.popLast() {
        for note in try context.findAll("Note", matching: FetchPredicate("title == %@", former)) {
          context.delete(note)
        }
      }
      kept.append(title)
      try context.save()
      let report = try await replica.synchronize(with: hub())
      #expect(report.refusals.isEmpty && report.refused.isEmpty)
    }
    return kept
  }
}
