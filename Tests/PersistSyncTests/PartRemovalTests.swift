import Foundation
import Persist
import PersistSyncHTTP
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: large values on hubs")
struct PartRemovalTests {
  private static func device(_ name: String, _ folder: URL, offset: TimeInterval = 0) throws -> Device {
    let photo = EntityDescription(
      "Photo", attributes: [.init("id", .int64), .init("owner", .string), .init("data", .binary)])
    return try Device(
      folder.appendingPathComponent("\(name).sqlite"), ManagedObjectModel(ModelDescription(entities: [photo])),
      identifiedBy: ["Photo": "id"], offset: offset)
  }

  private static func data(_ seed: UInt8) -> Data { Data(repeating: seed, count: 70_000) }

  private static func set(_ data: Data?, ofPhoto id: Int, owner: String = "", on device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let known = try context.fetch(FetchRequest<ManagedObject>("Photo", where: "id == %@", id)).first
    let photo = try known ?? context.create("Photo")
    (photo["id"], photo["owner"], photo["data"]) = (id, owner, data)
    try context.save()
  }

  private static func data(ofPhoto id: Int, on device: Device) throws -> Data? {
    let context = ManagedObjectContext(device.coordinator)
    return try context.fetch(FetchRequest<ManagedObject>("Photo", where: "id == %@", id)).first?["data"] as? Data
  }

  /// The hubs with which parts are tested.
  enum Kind: CaseIterable { case folder, store, http }

  private static func hub(_ kind: Kind, _ folder: URL) throws -> any SyncHub {
    let inner = FolderHub(folder.appendingPathComponent("hub"))
    switch kind {
    case .folder: return inner
    case .store: return try StoreHub(device("hub", folder).coordinator)
    case .http: return served("parts", SyncHubServer(inner) { _ in true }, failing: true)
    }
  }

  @Test(
    "A part that nothing names any longer is deleted from the hub after a time", arguments: Kind.allCases)
  func removal(_ kind: Kind) async throws {
    try await withTemporaryFolder { folder in
      let hub = try Self.hub(kind, folder)
      let (one, two) = (try Self.device("one", folder), try Self.device("two", folder))
      try Self.set(Self.data(1), ofPhoto: 1, on: one)
      try Self.set(Self.data(2), ofPhoto: 2, on: one)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      #expect(try await hub.parts().count == 2)
      try Self.set(Self.data(3), ofPhoto: 1, on: two)
      try await two.replica.synchronize(with: hub)
      // The first value was named until now.
      try await two.replica.compact(hub, forgetting: .seconds(3600))
      #expect(try await hub.parts().count == 3)
      try await one.replica.synchronize(with: hub)
      try await two.replica.compact(hub, forgetting: .seconds(3600))
      try await two.replica.compact(hub, forgetting: .seconds(3600))
      #expect(try await hub.parts().count == 3)
      try await two.replica.compact(hub, forgetting: .zero)
      #expect(try await hub.parts().count == 2)
      // Whoever sends the value again sends its part, too.
      try Self.set(Self.data(1), ofPhoto: 3, on: one)
      try await one.replica.synchronize(with: hub)
      let new = try Self.device("new", folder)
      try await new.replica.synchronize(with: hub)
      #expect(try new.contents() == one.contents())
      #expect(try Self.data(ofPhoto: 1, on: new) == Self.data(3))
      #expect(try Self.data(ofPhoto: 3, on: new) == Self.data(1))
    }
  }

  /// A hub during whose requests something else happens.
  private struct InterleavedHub: SyncHub {
    let hub: FolderHub
    var beforePut: @Sendable (SyncEntry) async throws -> Void = { _ in }
    var afterRemoval: @Sendable ([SyncEntry]) async throws -> Void = { _ in }

    func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] { try await hub.entries(after: numbers) }
    func content(of entry: SyncEntry) async throws -> Data? { try await hub.content(of: entry) }
    func contains(_ entry: SyncEntry) async throws -> Bool { try await hub.contains(entry) }
    func parts() async throws -> [SyncEntry] { try await hub.parts() }
    func positions() async throws -> [ReplicaPosition] { try await hub.positions() }
    func setPosition(_ position: ReplicaPosition) async throws { try await hub.setPosition(position) }

    func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
      try await beforePut(entry)
      return try await hub.put(content, as: entry)
    }

    func remove(_ entries: [SyncEntry]) async throws {
      try await hub.remove(entries)
      try await afterRemoval(entries)
    }
  }

  /// Two devices, and a part on the hub that nothing names and that the next compaction deletes.
  private static func unnamed(_ folder: URL) async throws -> (hub: FolderHub, one: Device, two: Device) {
    let hub = FolderHub(folder.appendingPathComponent("hub"))
    let (one, two) = (try device("one", folder), try device("two", folder))
    try set(data(1), ofPhoto: 1, on: one)
    try await one.replica.synchronize(with: hub)
    try set(nil, ofPhoto: 1, on: one)
    try await one.replica.synchronize(with: hub)
    try await two.replica.synchronize(with: hub)
    try await one.replica.compact(hub, forgetting: .zero)
    #expect(try await hub.parts().count == 1)
    return (hub, one, two)
  }

  @Test("A part that is deleted while somebody sends a change set that names it is sent again")
  func deletedMeanwhile() async throws {
    try await withTemporaryFolder { folder in
      let (hub, one, two) = try await Self.unnamed(folder)
      let compacting = one.replica
      // The device has asked for the part already, and doesn't send it.
      let interleaved = InterleavedHub(hub: hub, beforePut: { entry in
        if !entry.isPart { try await compacting.compact(hub, forgetting: .zero) }
      })
      try Self.set(Self.data(1), ofPhoto: 2, on: two)
      try await two.replica.synchronize(with: interleaved)
      #expect(try await hub.parts().count == 1)
      #expect(try await one.replica.synchronize(with: hub).refused.isEmpty)
      #expect(try Self.data(ofPhoto: 2, on: one) == Self.data(1))
    }
  }

  @Test("A part that a new change set names is put back, although its device has sent everything")
  func putBack() async throws {
    try await withTemporaryFolder { folder in
      let (hub, one, two) = try await Self.unnamed(folder)
      try Self.set(Self.data(1), ofPhoto: 2, on: two)
      let replica = try two.replica.work.capture().record.id
      let sets = try two.replica.work.unsent().map { (SyncEntry(replica: replica, number: $0.number), $0.data) }
      // The device has verified that the part is there just before it is deleted.
      let interleaved = InterleavedHub(hub: hub, afterRemoval: { entries in
        guard entries.contains(where: \.isPart) else { return }
        for (entry, data) in sets { _ = try await hub.put(data, as: entry) }
      })
      try await one.replica.compact(interleaved, forgetting: .zero)
      #expect(try await hub.parts().count == 1)
      #expect(try await one.replica.synchronize(with: hub).refused.isEmpty)
      #expect(try Self.data(ofPhoto: 2, on: one) == Self.data(1))
    }
  }

  @Test("A change set that can't be read keeps all parts")
  func unreadable() async throws {
    try await withTemporaryFolder { folder in
      let (hub, one, _) = try await Self.unnamed(folder)
      _ = try await hub.put(Data("of a newer program".utf8), as: SyncEntry(replica: UUID(), number: 1))
      try await one.replica.compact(hub, forgetting: .zero)
      #expect(try await hub.parts().count == 1)
    }
  }

  @Test("Large values reach users over HTTP with the objects of their scopes, and are sent once")
  func users() async throws {
    try await withTemporaryFolder { folder in
      let main = FolderHub(folder.appendingPathComponent("hub"))
      let whole = try Self.device("server", folder)
      let replica = whole.replica
      let server = SyncHubServer { request in
        let user = String((request.headers["authorization"] ?? "").dropFirst("Bearer ".count))
        let own = try FetchPredicate("owner == %@", user)
        return try ScopedHub(
          main, server: replica, user: user, scope: SyncScope(["Photo": .init(reading: own, writing: own)]))
      }
      let hub = served("large-values", server, failing: true)
      let (one, two) = (try Self.device("one", folder), try Self.device("two", folder))
      try Self.set(Self.data(1), ofPhoto: 1, owner: "me", on: one)
      // Of another user: it is refused, and its value remains on the device only until then.
      try Self.set(Self.data(2), ofPhoto: 2, owner: "other", on: one)
      #expect(try await one.replica.synchronize(with: hub).refusals.count == 1)
      #expect(try Self.data(ofPhoto: 1, on: whole) == Self.data(1))
      try await two.replica.synchronize(with: hub)
      #expect(try two.contents() == one.contents())
      #expect(try Self.data(ofPhoto: 1, on: two) == Self.data(1))
      // An object comes into the scope with its value.
      try Self.set(Self.data(3), ofPhoto: 3, owner: "other", on: whole)
      try await replica.synchronize(with: main)
      try await two.replica.synchronize(with: hub)
      #expect(try Self.data(ofPhoto: 3, on: two) == nil)
      try Self.set(Self.data(3), ofPhoto: 3, owner: "me", on: whole)
      try await replica.synchronize(with: main)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      #expect(try Self.data(ofPhoto: 3, on: two) == Self.data(3))
      #expect(try one.contents() == two.contents())
      // The server deletes what nobody has any longer; devices can't.
      #expect(try await main.parts().count == 3)
      #expect(try await hub.parts().isEmpty)
      for _ in 0..<2 { try await replica.compact(main, forgetting: .zero) }
      #expect(try await main.parts().count == 2)
      let new = try Self.device("new", folder)
      try await new.replica.synchronize(with: hub)
      #expect(try new.contents() == one.contents())
    }
  }

  @Test(
    "Requests that no device would make are refused over HTTP, and leave the objects of others as they are",
    .law("sync-hostile-requests", short: 200, long: 10_000))
  func hostile() async throws {
    try await withTemporaryFolder { folder in
      let main = FolderHub(folder.appendingPathComponent("hub"))
      let whole = try Self.device("server", folder)
      try Self.set(Self.data(1), ofPhoto: 1, owner: "other", on: whole)
      let replica = whole.replica
      try await replica.synchronize(with: main)
      let server = SyncHubServer { request in
        guard request.headers["authorization"] == "Bearer me" else { return nil }
        let own = try FetchPredicate("owner == 'me'")
        return try ScopedHub(
          main, server: replica, user: "me", scope: SyncScope(["Photo": .init(reading: own, writing: own)]))
      }
      let device = try Self.device("one", folder)
      try Self.set(Self.data(2), ofPhoto: 2, owner: "me", on: device)
      let id = try device.replica.work.capture().record.id
      let set = try #require(try device.replica.work.unsent().first)
      let (contents, entries) = (try whole.contents(), try await main.entries(after: [:]))
      await forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        func number(_ count: Int) -> Int { Int.random(in: 0..<max(count, 1), using: &random) }
        var bytes = [UInt8](set.data)
        for _ in 0...number(4) {
          let place = number(bytes.count)
          switch number(4) {
          case 0: bytes[place] = UInt8(number(256))
          case 1: bytes.removeSubrange(place..<min(bytes.count, place + number(9)))
          case 2: bytes.insert(contentsOf: (0..<number(9)).map { _ in UInt8(number(256)) }, at: place)
          default: bytes[place] ^= 1 << UInt8(number(8))
          }
        }
        // Half of them have a valid checksum.
        if number(2) == 0, bytes.count > 8 {
          let content = Array(bytes.dropLast(8))
          bytes = content + ChangeSet.checksum(content)
        }
        let method = ["PUT", "PUT", "PUT", "GET", "POST", "DELETE", "HEAD", "\0", "put"][number(9)]
        let part = SyncEntry(part: Data(SHA256.digest(Data([UInt8(number(256))])))).replica.uuidString
        let paths = [
          "changes/\(id)/\(set.number)", "changes/\(id)/\(UInt64.max)", "changes/\(part)/1", "changes/%00/..",
          "entries", "positions/\(id)", "positions", "parts", "", "changes/\(SyncEntry.snapshot(id))/1",
          "changes/\(SyncEntry.stream(id))/1", String(repeating: "a/", count: 1000),
        ]
        let path = paths[method == "PUT" && number(2) == 0 ? 0 : number(paths.count)]
        let headers = ["Authorization": number(9) == 0 ? "Bearer other" : "Bearer me"]
        let response = await server.response(
          to: SyncHubRequest(method: method, path: path, headers: headers, body: Data(bytes)))
        let accepted = [200, 204, 400, 403, 404, 405, 409, 422, 426]
        #expect(accepted.contains(response.status), "\(method) \(path) \(response.status)")
      }
      // A well-formed set may be accepted as that of the attacker's device. The objects of others are as before.
      #expect(try await main.entries(after: [:]).filter { $0.replica != id } == entries)
      #expect(try whole.outdatedRows().isEmpty)
      #expect(try contents.allSatisfy { try whole.contents().contains($0) })
    }
  }
}
