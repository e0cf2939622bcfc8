import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: versions that split and merge entities")
struct DividedLawTests {
  @Test(
    "Objects of split and merged entities are those that follow from all changes, whoever migrates when",
    .law("sync-divided-entities", short: 30, long: 10_000))
  func divided() async throws {
    await forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let steps = (0..<RunExtent(&random).steps(upTo: 40, &random)).map { _ in random.next() }
      let faults = await DividedRun.faults(seed, steps)
      guard !faults.isEmpty else { return }
      var (fewer, size) = (steps, steps.count / 2)
      while size > 0 {
        var start = 0
        while start < fewer.count {
          let rest = Array(fewer[..<start] + fewer[min(start + size, fewer.count)...])
          if await DividedRun.faults(seed, rest).isEmpty { start += size } else { fewer = rest }
        }
        size /= 2
      }
      let rest = await DividedRun.faults(seed, fewer)
      Issue.record("\(faults.prefix(2)) Reduced: \(rest)")
    }
  }
}

/// Replicas of versions between which an entity is split, and then merged.
private struct DividedRun {
  private let folder: URL
  private var devices: [Device] = []
  private var versions: [Int] = []
  private let hub: ChaoticHub
  private let last: Int
  private let sources: SeededSources
  private let registry: ModelRegistry
  private let mappings: [MappingModel]
  private var log: [String] = []

  /// The entities of each version.
  private static let names = [["Person"], ["Employee", "Customer"], ["Contact"]]

  private init(_ seed: UInt64, _ folder: URL) throws {
    self.folder = folder
    hub = ChaoticHub(seed)
    sources = SeededSources(seed)
    var random = SeededRandom(seed: seed ^ 7)
    last = 1 + Int.random(in: 0...1, using: &random)
    let models = try Self.names.enumerated().map { version, names in
      let extra = version == 0 ? [] : [AttributeDescription("note", .string)]
      let entities = names.map {
        EntityDescription($0, attributes: [.init("id", .int64), .init("name", .string), .init("kind", .int32)] + extra)
      }
      return try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: ["\(version)"]))
    }
    registry = ModelRegistry(
      versions: models.enumerated().map { ModelVersion(name: "\($0.offset)", model: $0.element) })
    func copies(_ names: [String]) throws -> [PropertyMapping] {
      try names.map { try PropertyMapping($0, "$source.\($0)") }
    }
    var split = try Self.names[1].map {
      EntityMapping("PersonTo\($0)", from: "Person", to: $0, attributes: try copies(["id", "name", "kind"]))
    }
    split[0].sourceExpression = .sourceObjects(of: "Person", where: "kind == 1")
    split[1].sourceExpression = .sourceObjects(of: "Person", where: "kind != 1")
    let merge = try Self.names[1].map {
      EntityMapping(from: $0, to: "Contact", attributes: try copies(["id", "name", "kind", "note"]))
    }
    mappings = [
      MappingModel("split", from: "0", to: "1", entityMappings: split),
      MappingModel("merge", from: "1", to: "2", entityMappings: merge),
    ]
    for _ in 0..<RunExtent(&random).parts(upTo: 4, &random) {
      try addDevice(Int.random(in: 0...last, using: &random), [0, -10, 10][Int.random(in: 0..<3, using: &random)])
    }
  }

  private mutating func addDevice(_ version: Int, _ years: Int) throws {
    devices.append(try device("\(devices.count)", version, sources.sources(years: years)))
    versions.append(version)
  }

  private func device(_ name: String, _ version: Int, _ sources: SyncSources) throws -> Device {
    let identifiers = Dictionary(uniqueKeysWithValues: Self.names[version].map { ($0, "id") })
    return try Device(
      folder.appendingPathComponent("\(name).sqlite"), registry.versions[version].model, identifiedBy: identifiers,
      registry: ModelRegistry(versions: Array(registry.versions[...version])),
      mappingModels: Array(mappings[..<version]), sources: sources)
  }

  static func faults(_ seed: UInt64, _ steps: [UInt64]) async -> [String] {
    do {
      return try await withTemporaryFolder { folder in
        var run = try DividedRun(seed, folder)
        defer { for device in run.devices { try? device.close() } }
        let faults = try await run.run(steps)
        return faults.isEmpty ? [] : faults + run.log.suffix(30)
      }
    } catch {
      return ["\(error)"]
    }
  }

  private mutating func run(_ steps: [UInt64]) async throws -> [String] {
    for seed in steps {
      var random = SeededRandom(seed: seed)
      let index = Int.random(in: 0..<devices.count, using: &random)
      await hub.restart(random.next())
      sources.advance()
      switch Int.random(in: 0..<16, using: &random) {
      case 0...7: try edit(index, &random)
      case 8...13: try await synchronize(index)
      default: try update(index, to: Int.random(in: versions[index]...last, using: &random))
      }
    }
    await hub.becomeReliable()
    var faults: [String] = []
    if try await !synchronizeAll() { faults.append("The devices still exchange changes.") }
    for index in devices.indices { try update(index, to: last) }
    if try await !synchronizeAll() { faults.append("The newest devices still exchange changes.") }
    let wanted = try await wanted()
    for (index, device) in devices.enumerated() {
      let contents = try device.contents()
      if contents != wanted { faults.append("\(index) has \(contents), wanted \(wanted)") }
      faults += try device.outdatedRows()
    }
    return faults
  }

  /// - Returns: Whether something was sent or received.
  @discardableResult
  private mutating func synchronize(_ index: Int) async throws -> Bool {
    log.append("synchronize \(index)")
    do {
      let report = try await devices[index].replica.synchronize(with: hub)
      if let error = report.refused.first?.error ?? report.waiting.first { throw error }
      return report.sent > 0 || report.received > 0
    } catch is ChaoticHub.Interruption { return true }
  }

  /// Synchronizes all devices until none of them sends or receives anything.
  ///
  /// - Returns: Whether that is so after a few rounds.
  private mutating func synchronizeAll() async throws -> Bool {
    for _ in 0..<8 {
      var isAtRest = true
      for index in devices.indices where try await synchronize(index) { isAtRest = false }
      if isAtRest { return true }
    }
    return false
  }

  private mutating func update(_ index: Int, to version: Int) throws {
    guard versions[index] != version else { return }
    log.append("update \(index) from \(versions[index]) to \(version)")
    try devices[index].close()
    versions[index] = version
    devices[index] = try device("\(index)", version, devices[index].sources)
  }

  private mutating func edit(_ index: Int, _ random: inout SeededRandom) throws {
    let context = ManagedObjectContext(devices[index].coordinator)
    for _ in 0...Int.random(in: 0..<3, using: &random) {
      func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      let names = Self.names[versions[index]]
      let objects = try names.flatMap { try context.fetch(FetchRequest<ManagedObject>($0)) }
        .sorted { ("\($0["id"] ?? "")", "\($0["name"] ?? "")") < ("\($1["id"] ?? "")", "\($1["name"] ?? "")") }
      let object = objects.isEmpty ? nil : objects[number(objects.count)]
      switch number(8) {
      case 0, 1:
        let id = number(12)
        // Only one of several objects of a store is known by a value.
        if number(8) > 0, objects.contains(where: { "\($0["id"] ?? "")" == "\(id)" }) { continue }
        let new = try context.create(names[number(names.count)])
        (new["id"], new["name"], new["kind"]) = (id, "n\(number(1000))", number(3))
      case 2, 3: object?["name"] = "n\(number(1000))"
      case 4, 5: object?["kind"] = number(3)
      case 6: if versions[index] > 0 { object?["note"] = "t\(number(1000))" }
      default: if let object, number(3) == 0 { context.delete(object) }
      }
    }
    log.append("edit \(index): \(context.insertedObjects.count) \(context.updatedObjects.count)")
    try context.save()
  }

  // MARK: The rules

  /// The contents that follow from all changes.
  private func wanted() async throws -> [String] {
    var facts: [FactKey: Data] = [:]
    for fact in try await hub.everything.flatMap({ try ChangeSet($0).facts }) {
      if facts[fact.key].map({ $0.precedes(fact.value) }) ?? true { facts[fact.key] = fact.value }
    }
    let tags = registry.versions.map { ModelTag(digest: $0.model.description.digest) }
    let coordinator = PersistentStoreCoordinator(model: registry.versions[last].model)
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    for (key, value) in facts {
      guard case .life(let identity) = key else { continue }
      let life = try Life(value)
      guard life.exists else { continue }
      var values: [String: [(register: Register, version: Int)]] = [:]
      for case (.value(identity, let property), let data) in facts {
        let register = try Register(data)
        guard register.life == life.count, let version = tags.firstIndex(of: property.model) else { continue }
        values[property.name, default: []].append((register, version))
      }
      func latest(_ name: String, before version: Int = .max) throws -> StoredValue {
        let known = (values[name] ?? []).filter { $0.version < version }.map(\.register)
        guard let last = known.max(by: { Register.isLater($1, than: $0) }),
          case .value(let value) = try PortableValue.content(last.content)
        else { return .null }
        return value
      }
      var entity = life.entity
      // The older version decides about its objects.
      if life.model == tags[0] {
        entity = try latest("kind", before: 1) == .integer(1) ? "Employee" : "Customer"
      }
      if last == 2 { entity = "Contact" }
      let object = try context.create(entity)
      for name in ["id", "name", "kind", "note"] {
        switch try latest(name) {
        case .integer(let number): object[name] = number
        case .string(let text): object[name] = text
        default: break
        }
      }
    }
    try context.save()
    return try coordinator.contents()
  }
}
