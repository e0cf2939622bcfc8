import Foundation
import Persist
import PersistSync
import PersistTestSupport
import Testing

@Suite("Synchronization: versions of the model")
struct VersionLawTests {
  @Test(
    "Replicas of different versions lose nothing, and are equal once all have the newest one",
    .law("sync-versions", short: 30, long: 10_000))
  func versions() async throws {
    await forEachSeed { seed in
      do {
        try await withTemporaryFolder { folder in
          var run = try VersionRun(seed, folder)
          try await run.run()
        }
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test("An object that was deleted before a migration stays deleted")
  func deletedBefore() async throws {
    try await withTemporaryFolder { folder in
      let old = EntityDescription("Note", attributes: [.init("title", .string)])
      let new = EntityDescription(
        "Memo", renamingIdentifier: "Note", attributes: [.init("name", .string, renamingIdentifier: "title")])
      let models = try [old, new].map { try ManagedObjectModel(ModelDescription(entities: [$0])) }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), models[0], identifiedBy: [:])
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      for title in ["Tea", "Milk"] { try context.create("Note")["title"] = title }
      try context.save()
      for device in devices { try await device.replica.synchronize(with: hub) }
      let notes = try context.fetch(FetchRequest<ManagedObject>("Note"))
      context.delete(try #require(notes.first { $0["title"] as? String == "Tea" }))
      try context.save()
      for device in devices { try device.update(to: models[1], nil) }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for device in devices { #expect(try device.contents() == ["Memo name=Milk | "]) }
    }
  }

  @Test("An older replica keeps what it has no place for, and has it after its update")
  func parked() async throws {
    try await withTemporaryFolder { folder in
      func model(_ version: Int) throws -> ManagedObjectModel {
        try ManagedObjectModel(
          ModelDescription(
            entities: [
              EntityDescription(
                "Note",
                attributes: version == 1
                  ? [.init("id", .uuid), .init("title", .string)]
                  : [
                    .init("id", .uuid), .init("name", .string, renamingIdentifier: "title"), .init("rank", .int64),
                  ])
            ] + (version == 1 ? [] : [EntityDescription("Tag", attributes: [.init("id", .uuid)])])))
      }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let keys = ["Note": "id"]
      let new = try Device(folder.appendingPathComponent("new.sqlite"), model(2), identifiedBy: keys)
      let old = try Device(folder.appendingPathComponent("old.sqlite"), model(1), identifiedBy: keys)
      let context = ManagedObjectContext(new.coordinator)
      let note = try context.create("Note")
      (note["id"], note["name"], note["rank"]) = (UUID(), "Tea", 7)
      try context.create("Tag")["id"] = UUID()
      try context.save()
      func synchronize() async throws {
        for device in [new, old, new, old] { try await device.replica.synchronize(with: hub) }
      }
      try await synchronize()
      let older = ManagedObjectContext(old.coordinator)
      let copy = try #require(older.fetch(FetchRequest<ManagedObject>("Note")).first)
      #expect(copy["title"] as? String == "Tea")
      copy["title"] = "Green tea"
      try older.save()
      try await synchronize()
      #expect(try new.contents().contains { $0.contains("Green tea") && $0.contains("rank=7") })
      try old.update(to: model(2), nil)
      try await synchronize()
      #expect(try old.contents() == new.contents())
      #expect(try old.contents().count == 2)
    }
  }
}

@Suite("Synchronization: versions without a clear correspondence")
struct AmbiguousVersionTests {
  @Test("Changes that can't be mapped are said, with both versions, and wait")
  func ambiguous() async throws {
    try await withTemporaryFolder { folder in
      func model(_ name: String, _ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
        try ManagedObjectModel(
          ModelDescription(entities: [EntityDescription("Note", attributes: attributes)], versionIdentifiers: [name]))
      }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let old = try Device(
        folder.appendingPathComponent("old.sqlite"), model("Notes 1", [.init("title", .string)]), identifiedBy: [:])
      let new = try Device(
        folder.appendingPathComponent("new.sqlite"),
        model(
          "Notes 2",
          [
            .init("first", .string, renamingIdentifier: "title"),
            .init("second", .string, renamingIdentifier: "title"),
          ]), identifiedBy: [:])
      let context = ManagedObjectContext(old.coordinator)
      try context.create("Note")["title"] = "Tea"
      try context.save()
      try await old.replica.synchronize(with: hub)
      let report = try await new.replica.synchronize(with: hub)
      let error = try #require(report.waiting.first)
      #expect(error.code == .mappingAmbiguous)
      #expect(error.message.contains("Notes 1") && error.message.contains("Notes 2"))
      #expect(try new.contents().isEmpty)
    }
  }
}

/// One run of the law.
private struct VersionRun {
  private let extent: RunExtent
  private let chain: ModelChain
  private var random: SeededRandom
  private var devices: [Device] = []
  private var versions: [Int] = []
  private let hub: ChaoticHub
  private var created = 0
  /// The last change of each value, by object and field, and who knows of it.
  private var lasting: [String: String] = [:]

  init(_ seed: UInt64, _ folder: URL) throws {
    random = SeededRandom(seed: seed)
    extent = RunExtent(&random)
    chain = try ModelChain(&random, count: extent.parts(upTo: 5, &random))
    hub = ChaoticHub(seed)
    let sources = SeededSources(seed)
    for index in 0..<extent.parts(upTo: 4, &random) {
      let version = number(chain.versions.count)
      versions.append(version)
      devices.append(
        try Device(
          folder.appendingPathComponent("\(index).sqlite"), chain.versions[version],
          identifiedBy: identifiers(version), registry: chain.registry(upTo: version),
          sources: sources.sources(years: 0)))
    }
  }

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private func identifiers(_ version: Int) -> [String: String] { ["Owner": "id"] }

  mutating func run() async throws {
    let last = chain.versions.count - 1
    for _ in 0..<extent.steps(upTo: 40, &random) {
      let index = number(devices.count)
      switch number(12) {
      case 0...5: try edit(index)
      case 6...10: try await synchronize(devices[index])
      default:
        guard versions[index] < last else { continue }
        try update(index, to: versions[index] + 1 + number(last - versions[index]))
      }
    }
    await hub.becomeReliable()
    try await synchronizeAll()
    // The last change of each lasting value, made by one device that knows all others.
    try editLast()
    for index in devices.indices { if versions[index] < last { try update(index, to: last) } }
    try await synchronizeAll()
    let contents = try devices.map { try $0.contents() }
    for (index, other) in contents.enumerated() where other != contents[0] {
      let (first, second) = (Set(contents[0]), Set(other))
      Issue.record(
        """
        Device \(index) differs. Only the first: \(first.subtracting(second).sorted().prefix(3)) \
        Only this one: \(second.subtracting(first).sorted().prefix(3)) \(contents[0].count) \(other.count)
        """)
    }
    try checkLasting()
    for device in devices { try device.close() }
  }

  private mutating func update(_ index: Int, to version: Int) throws {
    versions[index] = version
    try devices[index].update(to: chain.versions[version], chain.registry(upTo: version))
  }

  /// - Returns: Whether something was sent or received.
  @discardableResult
  private func synchronize(_ device: Device) async throws -> Bool {
    do {
      let report = try await device.replica.synchronize(with: hub)
      #expect(report.refused.isEmpty)
      return report.sent > 0 || report.received > 0
    } catch is ChaoticHub.Interruption { return true }
  }

  /// Synchronizes all devices until none of them sends or receives anything.
  private func synchronizeAll() async throws {
    for _ in 0..<8 {
      var isAtRest = true
      for device in devices where try await synchronize(device) { isAtRest = false }
      if isAtRest { return }
    }
    Issue.record("The devices still exchange changes.")
  }

  // MARK: Changes

  private mutating func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest<ManagedObject>(entity)).sorted {
      ($0.objectID.primaryKey ?? 0) < ($1.objectID.primaryKey ?? 0)
    }
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  /// An identifier that follows from the seed.
  private func newID() -> UUID? { UUID(uuidString: "00000000-0000-0000-0000-\(100_000_000_000 + created)") }

  private mutating func value(_ field: ModelChain.Field) -> Any {
    switch field.type {
    case .boolean: number(2) == 0
    case .string: "s\(number(1000))"
    default: number(1000)
    }
  }

  private mutating func edit(_ index: Int) throws {
    let version = versions[index]
    let context = ManagedObjectContext(devices[index].coordinator)
    let (entity, fields) = (chain.entities[version], chain.fields[version].filter(\.isThere))
    for _ in 0...number(4) {
      switch number(8) {
      case 0:
        created += 1
        let owner = try context.create("Owner")
        (owner["id"], owner["name"]) = (newID(), "o\(created)")
      case 1, 2:
        created += 1
        let thing = try context.create(entity)
        thing["id"] = newID()
        for field in fields { thing[field.name] = value(field) }
        try thing.setValue(any("Owner", context), forKey: chain.relationships[version])
      case 3, 4:
        let field = fields[number(fields.count)]
        try any(entity, context)?.setValue(number(5) == 0 ? nil : value(field), forKey: field.name)
      case 5: try any(entity, context)?.setValue(any("Owner", context), forKey: chain.relationships[version])
      case 6:
        guard let thing = try any(entity, context), let owner = try any("Owner", context) else { continue }
        let links = try thing.many("links")
        if links.contains(owner) { links.remove(owner) } else { links.insert(owner) }
      default:
        if version > 0, number(2) == 0 {
          try context.create("Extra")["text"] = "e\(number(1000))"
        } else if number(3) == 0, let object = try any([entity, "Owner"][number(2)], context) {
          context.delete(object)
        }
      }
    }
    try context.save()
  }

  private mutating func editLast() throws {
    let version = versions[0]
    let context = ManagedObjectContext(devices[0].coordinator)
    for thing in try context.fetch(FetchRequest<ManagedObject>(chain.entities[version])) {
      guard let id = thing["id"] as? UUID else { continue }
      for field in chain.fields[version] where field.isThere && chain.fields.last?[field.number].isLasting == true {
        let value = value(field)
        // An older version shows an earlier value if it has no equal of the last one. Setting that is no change.
        if Self.text(thing[field.name]) == Self.text(value) { continue }
        thing[field.name] = value
        lasting["\(id) \(field.number)"] = Self.text(value)
      }
    }
    try context.save()
  }

  /// Numbers and Booleans in one form.
  private static func text(_ value: Any?) -> String {
    switch value {
    case let flag as Bool: flag ? "1" : "0"
    case let value?: "\(value)"
    case nil: "nil"
    }
  }

  private func checkLasting() throws {
    guard let fields = chain.fields.last, let entity = chain.entities.last else { return }
    let context = ManagedObjectContext(devices[0].coordinator)
    for thing in try context.fetch(FetchRequest<ManagedObject>(entity)) {
      guard let id = thing["id"] as? UUID else { continue }
      for field in fields where field.isThere {
        guard let wanted = lasting["\(id) \(field.number)"] else { continue }
        let found = Self.text(thing[field.name])
        if found != wanted { Issue.record("\(entity).\(field.name) is \(found) instead of \(wanted)") }
      }
    }
  }
}
