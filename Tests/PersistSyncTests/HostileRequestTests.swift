import Foundation
import Persist
import PersistSyncHTTP
import PersistTestSupport
import Testing

@testable import PersistSync

/// Requests to a server by a user who wants to do harm, and who has a device and knows the format.
@Suite("Synchronization: a server and a folder that anybody writes to")
struct HostileRequestTests {
  /// A server with the objects of two users, one of whom attacks.
  private struct Setting {
    let folder: URL
    let hub: FolderHub
    let server: Device
    let routes: SyncHubServer
    let model: ManagedObjectModel
    /// The replicas of the server, of the attacker's honest device and of the other user's.
    let replicas: [UUID]
    /// The change sets that the users have sent.
    let sets: [Data]
    private let sources: SeededSources

    init(_ folder: URL) async throws {
      self.folder = folder
      model = try ManagedObjectModel(SyncModel.description)
      hub = FolderHub(folder.appendingPathComponent("hub"))
      let sources = SeededSources(1)
      self.sources = sources
      server = try Self.device(folder, "server", sources)
      routes = Self.routes(hub, server.replica)
      let (me, other) = (try Self.device(folder, "me", sources), try Self.device(folder, "other", sources))
      for (device, user, numbers) in [(me, "me", 0..<3), (other, "other", 3..<6)] {
        let context = ManagedObjectContext(device.coordinator)
        for number in numbers {
          let item = try context.create("Item")
          (item["id"], item["name"]) = (SyntheticSetTests.Generator.id(number), "\(user) \(number)")
        }
        try context.save()
        try await device.replica.synchronize(with: Self.scoped(hub, server.replica, user))
      }
      replicas = [
        try await server.replica.identifier(), try await me.replica.identifier(), try await other.replica.identifier(),
      ]
      var sets: [Data] = []
      for entry in try await hub.entries(after: [:]) {
        if let content = try await hub.content(of: entry) { sets.append(content) }
      }
      self.sets = sets
      for device in [me, other] { try device.close() }
    }

    static func device(_ folder: URL, _ name: String, _ sources: SeededSources) throws -> Device {
      try Device(
        folder.appendingPathComponent("\(name).sqlite"), ManagedObjectModel(SyncModel.description),
        identifiedBy: SyncModel.identifiers, sources: sources.sources(years: 0))
    }

    /// The other user's device, again or for the first time.
    func device(_ name: String) throws -> Device { try Self.device(folder, name, sources) }

    static func scoped(_ hub: FolderHub, _ server: Replica, _ user: String) throws -> ScopedHub {
      let own = try FetchPredicate("name BEGINSWITH %@", user)
      return try ScopedHub(
        hub, server: server, user: user, scope: SyncScope(["Item": .init(reading: own, writing: own)]))
    }

    private static func routes(_ hub: FolderHub, _ server: Replica) -> SyncHubServer {
      SyncHubServer(maximumSize: 1 << 20) { request in
        guard let user = ["Bearer me": "me", "Bearer other": "other"][request.headers["authorization"] ?? ""] else {
          return nil
        }
        return try scoped(hub, server, user)
      }
    }

    /// The other user's objects with their attributes. A pair is a matter of both objects.
    func others() throws -> [String] {
      try server.contents().filter { $0.contains("name=other") && $0.hasPrefix("Item") }
        .map { String($0.prefix { $0 != "|" }) }
    }
  }

  // MARK: Requests

  private static let junk = [
    "", "/", "..", "changes/../../../etc/passwd", "changes/..%2f..%2fserver.sqlite/1", "changes/%00/1", "changes//1",
    "positions/../server", "positions/", "entries/x", "parts/1", "changes/\u{0}/1", "changes/é/1",
    "changes/" + String(repeating: "../", count: 1000) + "1", String(repeating: "a", count: 100_000),
  ]

  private static func path(_ setting: Setting, _ random: inout SeededRandom) -> String {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    if number(6) == 0 { return junk[number(junk.count)] }
    let part = SyncEntry(part: Data(count: 32)).replica
    let replicas = setting.replicas + [UUID(), SyncEntry.snapshot(UUID()), part]
    let replica = replicas[number(replicas.count)].uuidString
    let numbers = ["1", "2", "3", "0", "-1", "9223372036854775807", "9223372036854775808", "1e3", "+4", " 5", "٣"]
    return number(4) == 0 ? "positions/\(replica)" : "changes/\(replica)/\(numbers[number(numbers.count)])"
  }

  /// A change set that nobody else would make, or something that isn't one.
  private static func body(_ setting: Setting, _ seed: UInt64, _ random: inout SeededRandom) -> Data {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    switch number(12) {
    case 0: return Data((0..<number(300)).map { _ in UInt8(number(256)) })
    case 1: return Data(count: number(3) * 600_000)
    case 2: return setting.sets[number(setting.sets.count)]
    case 3: return Data(String(repeating: "[", count: 200_000).utf8)
    case 4: return Data("{\"replica\":\"\(setting.replicas[2])\",\"sent\":-1,\"received\":{},\"date\":1e999}".utf8)
    case 5:
      return Data(
        "{\"replica\":\"\(setting.replicas[number(3)])\",\"sent\":\(Int64.max),\"received\":[],\"date\":0}".utf8)
    default: return hostileSet(setting, seed, &random)
    }
  }

  private static func hostileSet(_ setting: Setting, _ seed: UInt64, _ random: inout SeededRandom) -> Data {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    var generator = SyntheticSetTests.Generator(seed, setting.model, SeededSources(seed))
    var facts = (0..<1 + number(30)).map { _ in generator.fact() }
    if number(8) > 0 {
      var known: Set<FactKey> = []
      facts.removeAll { !known.insert($0.key).inserted }
    }
    let object = generator.identities[number(generator.identities.count)]
    switch number(10) {
    case 0: facts.append(.init(key: .cover(setting.replicas[2]), value: Data(count: 8)))
    case 1: facts.append(.init(key: .pass(object), value: Passage(kind: .leaves).bytes))
    case 2:
      let text = ["{}", "[]", String(repeating: "[", count: 100_000), deepModel(5000), circularModel][number(5)]
      let digest = Data(SHA256.digest(Data(text.utf8)))
      facts.append(.init(key: .model(ModelTag(digest: digest)), value: Data(text.utf8)))
    case 3:
      // Nested values, beyond the limit and up to it.
      var value = StoredValue.integer(1)
      for _ in 0..<[3, 15, 16, 900][number(4)] { value = .composite(["x": value]) }
      let name = PropertyName(model: generator.tag, entity: "Box", name: "size")
      facts.append(.init(key: .value(object, name), value: generator.register(PortableValue.bytes(value))))
    case 4:
      let depth = [60, 64, 20_000][number(3)]
      let text = String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
      let name = PropertyName(model: generator.tag, entity: "Box", name: "settings")
      facts.append(
        .init(key: .value(object, name), value: generator.register(PortableValue.bytes(.string(text)))))
    default: break
    }
    let new = UUID(uuid: (1, 2, 3, 4, 5, 6, 0x40, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    let replica = (setting.replicas + [new])[number(4)]
    let entry = SyncEntry(replica: replica, number: [1, 2, 3, Int64.max][number(4)])
    var bytes = [UInt8](
      number(5) == 0
        ? repeating(ChangeSet(entry, facts).facts, entry, reversed: number(2) == 0) : ChangeSet(entry, facts).data)
    guard number(3) == 0 else { return Data(bytes) }
    // Damage with a valid checksum.
    bytes.removeLast(8)
    for _ in 0...number(3) where !bytes.isEmpty {
      let place = number(bytes.count)
      switch number(4) {
      case 0: bytes[place] = UInt8(number(256))
      case 1: bytes.removeLast(number(bytes.count))
      case 2: bytes.insert(contentsOf: [255, 255, 255, 255, 255, 255, 255, 255, 127], at: place)
      default: bytes.insert(contentsOf: bytes[place...].prefix(number(40)), at: place)
      }
    }
    return Data(bytes) + ChangeSet.checksum(bytes)
  }

  /// A set with each fact twice, or in the wrong order.
  private static func repeating(_ facts: [ChangeSet.Fact], _ entry: SyncEntry, reversed: Bool) -> Data {
    let lives = facts.compactMap { fact in fact.key.object.map { (FactKey.prefix(of: $0), fact) } }
      .filter { $0.1.key.createdOrDeleted != nil }
    let all = reversed ? Array(lives.reversed()) : lives.flatMap { [$0, $0] }
    guard let head = lives.first.flatMap({ FactHead($0.1.key) }) else { return Data() }
    var headBytes = ByteWriter()
    head.write(to: &headBytes)
    var writer = ChangeSetWriter(entry, by: [], upTo: 0, heads: [headBytes.data], count: all.count)
    for (object, fact) in all {
      writer.key(object, head: 0)
      writer.value(fact.value)
    }
    return writer.data
  }

  /// A model whose derived attribute is nested deeply.
  private static func deepModel(_ depth: Int) -> String {
    let formula = String(repeating: "uppercase:(", count: depth) + "a" + String(repeating: ")", count: depth)
    return ModelDescription(entities: [
      EntityDescription("Item", attributes: [.init("a", .string), .init("b", .string, derivation: formula)])
    ]).json
  }

  /// A model whose entities are each other's parents.
  private static var circularModel: String {
    ModelDescription(entities: [EntityDescription("A", parent: "B"), EntityDescription("B", parent: "A")]).json
  }

  private static func request(_ setting: Setting, _ seed: UInt64) -> SyncHubRequest {
    var random = SeededRandom(seed: seed)
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    var path = path(setting, &random)
    var body = body(setting, seed, &random)
    // Most sets are sent to the place that they name, so that more than that is checked.
    if let set = try? ChangeSet(body), number(4) > 0 { path = "changes/\(set.entry.replica)/\(set.entry.number)" }
    let method = ["PUT", "PUT", "PUT", "PUT", "GET", "HEAD", "POST", "DELETE", "PATCH", ""][number(10)]
    if method == "POST" {
      path = ["entries", path][number(2)]
      let lines = ["x y\n", "\(setting.replicas[0]) \(Int64.max)\n", "\(UUID()) 1\n", "\n\n", "\(UUID())  1\n"]
      if number(2) == 0 { body = Data((0..<number(2000)).map { _ in lines[number(lines.count)] }.joined().utf8) }
    }
    let user = number(10) == 0 ? "Bearer nobody" : "Bearer me"
    return SyncHubRequest(method: method, path: path, headers: ["Authorization": user], body: body)
  }

  @Test(
    "A malicious request gets a clear answer, and changes nothing that the user may not change",
    .law("sync-hostile-requests", short: 250, long: 10_000))
  func requests() async throws {
    try await withTemporaryFolder { folder in
      let setting = try await Setting(folder)
      let others = try setting.others()
      #expect(others.count == 3)
      var answers: [Int: Int] = [:]
      let count = await forEachSeed { seed in
        let request = Self.request(setting, seed)
        let before = try setting.server.contents()
        let response = await setting.routes.response(to: request)
        answers[response.status, default: 0] += 1
        #expect(
          [200, 204, 400, 403, 404, 405, 409, 413, 422, 426].contains(response.status),
          "\(seed): \(request.method) \(request.path.prefix(100)): \(response.status)")
        if response.status != 204 { #expect(try setting.server.contents() == before, "\(seed)") }
        #expect(try setting.others() == others, "\(seed): \(request.method) \(request.path.prefix(100))")
      }
      if count > 200 { for status in [204, 403, 404, 409, 422] { #expect(answers[status] != nil, "\(answers)") } }
      #expect(try setting.server.outdatedRows().isEmpty)
      // Nothing was written to other places, and the other user goes on.
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("hub/") }
      for name in names where name.hasSuffix(".persist") || name.hasSuffix(".json") {
        #expect(try /hub\/(changes\/[0-9A-F-]{36}\/\d{16,19}|(parts|positions)\/[0-9A-F-]{36})\.(persist|json)/
          .wholeMatch(in: name) != nil, "\(name)")
      }
      #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path).map { $0.prefix { $0 != "." } })
        .isSubset(of: ["hub", "server", "me", "other", ""]))
      let other = try setting.device("other")
      let report = try await other.replica.synchronize(
        with: Setting.scoped(setting.hub, setting.server.replica, "other"))
      #expect(report.refused.isEmpty && report.refusals.isEmpty)
      #expect(try other.contents().count == 3)
      try other.close()
      try setting.server.close()
    }
  }

  // MARK: A folder

  @Test("Files in a hub's folder that aren't change sets are refused or ignored, whatever they are")
  func folder() async throws {
    try await withTemporaryFolder { folder in
      let setting = try await Setting(folder)
      let hub = setting.hub
      let victim = try setting.device("victim")
      let files = FileManager.default
      let own = hub.url.appendingPathComponent("changes/\(setting.replicas[1].uuidString)")
      func name(_ number: Int) -> URL { own.appendingPathComponent("00000000000000\(number).persist") }
      let set = try #require(setting.sets.first)
      // A set under another number, a cut one, an empty file, a folder, links to nowhere, to itself, to another file.
      try set.write(to: name(22))
      try set.dropLast(9).write(to: name(23))
      try Data().write(to: name(24))
      try files.createDirectory(at: name(25), withIntermediateDirectories: true)
      try files.createSymbolicLink(atPath: name(26).path, withDestinationPath: "/nowhere")
      try files.createSymbolicLink(atPath: name(27).path, withDestinationPath: name(27).path)
      try files.createSymbolicLink(atPath: name(28).path, withDestinationPath: "/etc/passwd")
      // A pipe that nobody writes to, and one gigabyte of zeros that takes no space.
      try #require(mkfifo(name(29).path, 0o600) == 0)
      let large = name(30)
      try Data().write(to: large)
      try #require(truncate(large.path, 1 << 30) == 0)
      for name in ["x", "-1.persist", "1e3.persist", "99999999999999999999.persist", "..persist", "é.persist"] {
        try set.write(to: own.appendingPathComponent(name))
      }
      for name in ["..", "x", "changes", setting.replicas[0].uuidString.lowercased() + "x"] {
        try? files.createDirectory(
          at: hub.url.appendingPathComponent("changes/\(name)"), withIntermediateDirectories: true)
      }
      try Data("{".utf8).write(to: hub.url.appendingPathComponent("positions/x.json"))
      try Data("{}".utf8).write(to: hub.url.appendingPathComponent("positions/\(UUID()).json"))
      let report = try await victim.replica.synchronize(with: hub)
      #expect(report.received == setting.sets.count)
      #expect(Set(report.refused.map(\.entry.number)) == Set(22...30))
      for refused in report.refused { #expect(refused.error.code == .malformedFile, "\(refused.error)") }
      #expect(try victim.contents().count == 6)
      #expect(try await hub.positions().count >= 2)
      try victim.close()
      try setting.server.close()
    }
  }
}
