import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: parts of a store")
struct ScopedHubTests {
  /// A server with a hub and its replica, and the devices of users.
  private struct Setting {
    let folder: URL
    let model: ManagedObjectModel
    let hub: FolderHub
    let server: Device
    private let sources: SeededSources

    init(_ folder: URL, seed: UInt64 = 1) throws {
      self.folder = folder
      sources = SeededSources(seed)
      model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Person", attributes: [.init("name", .string)],
            relationships: [
              .init("notes", toMany: "Note", inverse: "owner"), .init("shared", toMany: "Note", inverse: "readers"),
            ]),
          EntityDescription(
            "Note",
            attributes: [.init("id", .uuid), .init("title", .string), .init("isPublic", .boolean, default: false)],
            relationships: [
              .init("owner", to: "Person", inverse: "notes", isOptional: false),
              .init("parts", toMany: "Part", inverse: "note", isOrdered: true, deleteRule: .cascade),
              .init("readers", toMany: "Person", inverse: "shared"), .init("next", to: "Note", inverse: "previous"),
              .init("previous", to: "Note", inverse: "next"),
            ]),
          EntityDescription(
            "Part", attributes: [.init("text", .string)], relationships: [.init("note", to: "Note", inverse: "parts")]),
        ]))
      hub = FolderHub(folder.appendingPathComponent("hub"))
      server = try Device(
        folder.appendingPathComponent("server.sqlite"), model, identifiedBy: ["Person": "name", "Note": "id"],
        sources: sources.sources(years: 0))
    }

    func device(_ name: String) throws -> Device {
      try Device(
        folder.appendingPathComponent("\(name).sqlite"), model, identifiedBy: ["Person": "name", "Note": "id"],
        sources: sources.sources(years: 0))
    }

    static func scope(_ user: String) throws -> SyncScope {
      let own = try FetchPredicate("owner.name == %@", user)
      return SyncScope([
        "Note": .init(
          reading: try FetchPredicate("owner.name == %@ OR isPublic == YES OR ANY readers.name == %@", user, user),
          writing: own, following: ["parts"]),
        "Part": .init(
          reading: FetchPredicate(value: false), writing: try FetchPredicate("note.owner.name == %@", user)),
        "Person": .init(reading: try FetchPredicate("name == %@", user)),
      ])
    }

    func scoped(
      _ user: String, review: @escaping @Sendable (SyncChange) async throws -> String? = { _ in nil }
    ) throws -> ScopedHub {
      try ScopedHub(hub, server: server.replica, user: user, scope: Self.scope(user), review: review)
    }

    func uuid() -> UUID { sources.uuid() }

    /// People, each with two notes of two parts.
    func seed() throws {
      let context = ManagedObjectContext(server.coordinator)
      for name in ["ann", "bob", "eve"] {
        let person = try context.create("Person")
        person["name"] = name
        for number in 0..<2 {
          let note = try context.create("Note")
          (note["id"], note["title"], note["owner"]) = (sources.uuid(), "\(name) \(number)", person)
          for text in ["x", "y"] {
            let part = try context.create("Part")
            (part["text"], part["note"]) = ("\(name) \(number) \(text)", note)
          }
        }
      }
      try context.save()
    }
  }

  private func texts(_ entity: String, _ key: String, of device: Device) throws -> [String] {
    let context = ManagedObjectContext(device.coordinator)
    return try context.fetch(FetchRequest<ManagedObject>(entity)).compactMap { $0[key] as? String }.sorted()
  }

  private func note(_ title: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(context.findAll("Note", matching: FetchPredicate("title == %@", title)).first)
  }

  private func person(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(context.findAll("Person", matching: FetchPredicate("name == %@", name)).first)
  }

  @Test("A device gets the objects of its scope with those that they need, and no others")
  func reading() async throws {
    try await withTemporaryFolder { folder in
      let setting = try Setting(folder)
      try setting.seed()
      let (ann, bob) = (try setting.device("ann"), try setting.device("bob"))
      let (annHub, bobHub) = (try setting.scoped("ann"), try setting.scoped("bob"))
      try await ann.replica.synchronize(with: annHub)
      #expect(try texts("Note", "title", of: ann) == ["ann 0", "ann 1"])
      #expect(try texts("Part", "text", of: ann).count == 4)
      #expect(try texts("Person", "name", of: ann) == ["ann"])
      // A note of bob comes into the scope, with its required owner and its parts.
      try await bob.replica.synchronize(with: bobHub)
      let context = ManagedObjectContext(bob.coordinator)
      try note("bob 0", context)["isPublic"] = true
      try context.save()
      try await bob.replica.synchronize(with: bobHub)
      try await ann.replica.synchronize(with: annHub)
      #expect(try texts("Note", "title", of: ann) == ["ann 0", "ann 1", "bob 0"])
      #expect(try texts("Person", "name", of: ann) == ["ann", "bob"])
      #expect(try texts("Part", "text", of: ann).count == 6)
      // Another device of the same user begins with everything.
      let second = try setting.device("ann 2")
      try await second.replica.synchronize(with: annHub)
      #expect(try second.contents() == ann.contents())
      // It changes, and leaves the scope again: nobody deletes it.
      try note("bob 0", context)["title"] = "bob private"
      try context.save()
      try await bob.replica.synchronize(with: bobHub)
      try await ann.replica.synchronize(with: annHub)
      #expect(try texts("Note", "title", of: ann).contains("bob private"))
      try note("bob private", context)["isPublic"] = false
      try context.save()
      try await bob.replica.synchronize(with: bobHub)
      for device in [ann, second] {
        try await device.replica.synchronize(with: annHub)
        #expect(try texts("Note", "title", of: device) == ["ann 0", "ann 1"])
        #expect(try texts("Person", "name", of: device) == ["ann"])
        #expect(try texts("Part", "text", of: device).count == 4)
        #expect(try device.outdatedRows().isEmpty)
        try await device.replica.synchronize(with: annHub)
      }
      try await bob.replica.synchronize(with: bobHub)
      #expect(try texts("Note", "title", of: bob) == ["bob 1", "bob private"])
      #expect(try texts("Note", "title", of: setting.server).count == 6)
    }
  }

  @Test("A deletion reaches the devices that have the object")
  func deletion() async throws {
    try await withTemporaryFolder { folder in
      let setting = try Setting(folder)
      try setting.seed()
      let (one, two) = (try setting.device("1"), try setting.device("2"))
      let hub = try setting.scoped("ann")
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      let context = ManagedObjectContext(one.coordinator)
      context.delete(try note("ann 0", context))
      try context.save()
      for device in [one, two, one] { try await device.replica.synchronize(with: hub) }
      for device in [one, two, setting.server] {
        #expect(try !texts("Note", "title", of: device).contains("ann 0"))
        #expect(try !texts("Part", "text", of: device).contains("ann 0 x"))
      }
    }
  }

  @Test("Changes of objects that a user may not change are refused, and undone on the device")
  func writing() async throws {
    try await withTemporaryFolder { folder in
      let setting = try Setting(folder)
      try setting.seed()
      let server = ManagedObjectContext(setting.server.coordinator)
      try note("bob 0", server)["isPublic"] = true
      try server.save()
      let (ann, other) = (try setting.device("ann"), try setting.device("other"))
      let hub = try setting.scoped("ann") { change in
        change.values["title"] == .string("forbidden") ? "The title is forbidden." : nil
      }
      for device in [ann, other] { try await device.replica.synchronize(with: hub) }
      let before = try setting.server.contents()
      let context = ManagedObjectContext(ann.coordinator)
      // Of another user, given away, of a new one, deleted, and refused by the hook.
      let foreign = try note("bob 0", context)
      foreign["title"] = "taken"
      let away = try note("ann 0", context)
      away["owner"] = try person("bob", context)
      let new = try context.create("Note")
      (new["id"], new["title"], new["owner"]) = (UUID(), "for bob", try person("bob", context))
      let forbidden = try note("ann 1", context)
      forbidden["title"] = "forbidden"
      try context.save()
      let own = try context.create("Note")
      (own["id"], own["title"], own["owner"]) = (UUID(), "own", try person("ann", context))
      try context.save()
      let report = try await ann.replica.synchronize(with: hub)
      #expect(report.refusals.count >= 4)
      #expect(report.refusals.contains { $0.reason == "The title is forbidden." })
      #expect(try texts("Note", "title", of: ann) == ["ann 0", "ann 1", "bob 0", "own"])
      let present = ManagedObjectContext(ann.coordinator)
      #expect((try note("ann 0", present)["owner"] as? ManagedObject)?["name"] as? String == "ann")
      try await other.replica.synchronize(with: hub)
      #expect(try other.contents() == ann.contents())
      #expect(try setting.server.contents().count == before.count + 1)
      #expect(try ann.outdatedRows().isEmpty)
      // A deletion.
      present.delete(try note("bob 0", present))
      try present.save()
      #expect(try await !ann.replica.synchronize(with: hub).refusals.isEmpty)
      #expect(try texts("Note", "title", of: ann) == ["ann 0", "ann 1", "bob 0", "own"])
      #expect(try texts("Part", "text", of: ann).count == 6)
      #expect(try texts("Note", "title", of: setting.server).contains("bob 0"))
      // The store still changes what it may.
      let last = ManagedObjectContext(ann.coordinator)
      try note("ann 0", last)["title"] = "allowed"
      try last.save()
      #expect(try await ann.replica.synchronize(with: hub).refusals.isEmpty)
      try await other.replica.synchronize(with: hub)
      #expect(try other.contents() == ann.contents())
      #expect(try texts("Note", "title", of: setting.server).contains("allowed"))
    }
  }

  @Test("A replica of one user can't be used by another, and devices can't compact a hub")
  func owners() async throws {
    try await withTemporaryFolder { folder in
      let setting = try Setting(folder)
      try setting.seed()
      let ann = try setting.device("ann")
      let hub = try setting.scoped("ann")
      try await ann.replica.synchronize(with: hub)
      let context = ManagedObjectContext(ann.coordinator)
      try note("ann 0", context)["title"] = "changed"
      try context.save()
      let bob = try setting.scoped("bob")
      await #expect(throws: PersistenceError.self) { try await ann.replica.synchronize(with: bob) }
      await #expect(throws: PersistenceError.self) { try await ann.replica.compact(hub, forgetting: .zero) }
      #expect(throws: PersistenceError.self) {
        try ScopedHub(setting.hub, server: setting.server.replica, user: "x", scope: SyncScope(["Nothing": .init()]))
      }
    }
  }

  @Test(
    "Devices have exactly the objects of their scopes, whatever was changed, refused, delayed and interrupted",
    .law("sync-scopes", short: 20, long: 5000))
  func law() async throws {
    await forEachSeed { seed in
      do {
        try await withTemporaryFolder { folder in try await self.run(seed, Setting(folder, seed: seed)) }
      } catch {
        Issue.record(error)
      }
    }
  }

  private func run(_ seed: UInt64, _ setting: Setting) async throws {
    var random = SeededRandom(seed: seed)
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    try setting.seed()
    let extent = RunExtent(&random)
    let users = ["ann", "bob", "ann"] + (extent == .large ? ["eve"] : [])
    let devices = try users.indices.map { try setting.device("device \($0)") }
    let chaos = ChaoticHub(seed)
    func hub(_ index: Int) throws -> InterruptedHub {
      InterruptedHub(
        try ScopedHub(
          chaos, server: setting.server.replica, user: users[index], scope: Setting.scope(users[index])), chaos)
    }
    for step in 0..<extent.steps(upTo: 40, &random) {
      let index = number(devices.count)
      if number(3) == 0 {
        do {
          try await devices[index].replica.synchronize(with: hub(index))
        } catch is ChaoticHub.Interruption {}
        #expect(try devices[index].outdatedRows().isEmpty)
        continue
      }
      if number(15) == 0 {
        do {
          _ = try await setting.server.replica.compact(chaos, forgetting: .seconds(-86_400 * 36_500))
        } catch is ChaoticHub.Interruption {}
        continue
      }
      let context = ManagedObjectContext(devices[index].coordinator)
      let notes = try context.findAll("Note", sortedBy: "title")
      let people = try context.findAll("Person", sortedBy: "name")
      let (note, person) = (notes.isEmpty ? nil : notes[number(notes.count)], people.first)
      switch number(7) {
      case 0: note?["title"] = "t\(step)"
      case 1: note?["isPublic"] = number(2) == 0
      case 2:
        guard let person else { continue }
        let new = try context.create("Note")
        (new["id"], new["title"], new["owner"]) = (setting.uuid(), "n\(step)", person)
        new["isPublic"] = number(2) == 0
        let part = try context.create("Part")
        (part["text"], part["note"]) = ("p\(step)", new)
      case 3: if let note, number(2) == 0 { context.delete(note) }
      case 4: if let last = people.last { note?["owner"] = last }
      case 5:
        guard let note, let person = people.last else { continue }
        let readers = try note.many("readers")
        if readers.contains(person) { readers.remove(person) } else { readers.insert(person) }
      default:
        note?["next"] = notes[number(notes.count)]
      }
      do {
        try context.save()
      } catch let error as PersistenceError where error.code == .validationMissingRequired {
        // The owner of a note that was given away hasn't arrived yet.
        context.rollback()
      }
    }
    await chaos.becomeReliable()
    for _ in 0..<3 { for index in devices.indices { try await devices[index].replica.synchronize(with: hub(index)) } }
    for (index, device) in devices.enumerated() {
      let context = ManagedObjectContext(setting.server.coordinator)
      let rule = try #require(Setting.scope(users[index]).rules["Note"])
      let wanted = try context.findAll("Note", matching: rule.reading)
      let found = try texts("Note", "title", of: device)
      let titles = wanted.compactMap { $0["title"] as? String }.sorted()
      #expect(found == titles, "device \(index) of \(users[index]) has \(found) instead of \(titles)")
      let parts = try wanted.flatMap { try $0.many("parts").compactMap { $0["text"] as? String } }
      #expect(try texts("Part", "text", of: device) == parts.sorted())
      #expect(try device.outdatedRows().isEmpty)
      let owners = Set(wanted.compactMap { ($0["owner"] as? ManagedObject)?["name"] as? String })
      #expect(try texts("Person", "name", of: device) == owners.union([users[index]]).sorted())
    }
    let (first, second) = (Set(try devices[0].contents()), Set(try devices[2].contents()))
    #expect(
      first == second,
      "Only the first: \(first.subtracting(second).sorted()) Only the second: \(second.subtracting(first).sorted())")
  }

  /// A user's part of a hub over an unreliable connection.
  private struct InterruptedHub: SyncHub {
    let hub: ScopedHub
    let chaos: ChaoticHub

    init(_ hub: ScopedHub, _ chaos: ChaoticHub) { (self.hub, self.chaos) = (hub, chaos) }

    func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
      await chaos.shuffled(try await hub.entries(after: numbers))
    }

    func content(of entry: SyncEntry) async throws -> Data? {
      let content = try await hub.content(of: entry)
      return await chaos.isLost() ? nil : content
    }

    func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
      let result = try await hub.put(content, as: entry)
      // The answer is lost.
      if await chaos.isLost() { throw ChaoticHub.Interruption() }
      return result
    }

    func remove(_ entries: [SyncEntry]) async throws { try await hub.remove(entries) }
    func positions() async throws -> [ReplicaPosition] { try await hub.positions() }
    func setPosition(_ position: ReplicaPosition) async throws { try await hub.setPosition(position) }
  }
}
