import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistSync

/// The entries that contain the facts of objects, with their rows or apart.
@Suite("Synchronization: entries of rows")
struct RowEntryTests {
  private static let description = ModelDescription(entities: [
    EntityDescription(
      "Note",
      attributes: [.init("id", .uuid), .init("code", .string), .init("title", .string), .init("photo", .binary)],
      relationships: [.init("tags", toMany: "Tag", inverse: "notes")], uniquenessConstraints: [["code"]]),
    EntityDescription(
      "Tag", attributes: [.init("id", .uuid), .init("name", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "tags")]),
  ])
  private static let identifiers = ["Note": "id", "Tag": "id"]

  private func devices(_ names: [String], _ folder: URL) throws -> [Device] {
    let model = try ManagedObjectModel(Self.description)
    return try names.map {
      try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: Self.identifiers)
    }
  }

  private func addNotes(_ count: Int, to device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let tag = try context.create("Tag")
    (tag["id"], tag["name"]) = (UUID(), "all")
    for number in 0..<count {
      let note = try context.create("Note")
      (note["id"], note["code"], note["title"]) = (UUID(), "c\(number) \(device.url.lastPathComponent)", "t\(number)")
      if number % 5 == 0 { note["photo"] = Data(repeating: 7, count: 2000) }
      if number % 3 == 0 { try note.many("tags").insert(tag) }
    }
    try context.save()
  }

  private func change(_ device: Device, _ name: String, to value: String?, where isChanged: (Int) -> Bool) throws {
    let context = ManagedObjectContext(device.coordinator)
    let notes = try context.fetch(FetchRequest<ManagedObject>("Note", sortedBy: "code"))
    for (number, note) in notes.enumerated() where isChanged(number) { note[name] = value }
    try context.save()
  }

  /// The entries of a table.
  private func entries(_ table: Character, of device: Device) throws -> [AttachedEntry] {
    try device.replica.work.open().step.tables.entries(withPrefix: Data([table.asciiValue ?? 0]))
  }

  /// Checks that each object's facts are where they should be, and only there.
  private func checkPlaces(_ device: Device) throws {
    var alone: [Data: Data] = [:]
    for entry in try entries("R", of: device) {
      if let (identity, packed) = try RowEntry.alone(entry.value) {
        alone[FactKey.prefix(of: identity)] = entry.key
        #expect(try PackedFacts([UInt8](packed), source: 0).row.map { SyncTables.key(of: $0) } == entry.key)
      } else {
        #expect(try RowEntry.identities(entry.value).count > 1)
      }
    }
    for entry in try entries("F", of: device) where FactKey.isPrefix(entry.key) {
      #expect(PackedFacts.rowKey(in: entry.value) == alone.removeValue(forKey: entry.key))
    }
    #expect(alone.isEmpty)
  }

  /// Brings a store into the form in which all facts are in the objects' own entries.
  private func makeFormer(_ device: Device) throws {
    let step = try device.replica.work.open().step
    var entries = AttachedEntries()
    for entry in try self.entries("R", of: device) {
      guard let (identity, packed) = try RowEntry.alone(entry.value) else { continue }
      entries.values[FactKey.prefix(of: identity)] = packed
      entries.values[entry.key] = RowEntry.data([identity])
    }
    var record = try #require(try step.tables.entry(ReplicaRecord.key))
    record[record.startIndex] = 1
    entries.values[ReplicaRecord.key] = record
    try step.history.write(entries)
  }

  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for device in devices + devices { try await device.replica.synchronize(with: hub) }
    for device in devices {
      try checkPlaces(device)
      #expect(try device.outdatedRows().isEmpty)
      #expect(try device.contents() == devices[0].contents())
    }
  }

  @Test("The facts of an object are with its row, unless the row represents several objects or none is left")
  func places() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try devices(["a", "b"], folder)
      for device in devices { try addNotes(12, to: device) }
      try await synchronize(devices, hub)
      // Notes of both devices become one.
      for (device, number) in zip(devices, [3, 4]) { try change(device, "code", to: "same") { $0 == number } }
      try await synchronize(devices, hub)
      #expect(try devices[0].contents().count == 2 + 24 - 1)
      try change(devices[0], "title", to: "changed") { $0 % 2 == 0 }
      try await synchronize(devices, hub)
      let context = ManagedObjectContext(devices[1].coordinator)
      for note in try context.fetch(FetchRequest<ManagedObject>("Note")).prefix(5) { context.delete(note) }
      try context.save()
      try await synchronize(devices, hub)
      let late = try self.devices(["c"], folder)
      _ = try await devices[0].replica.compact(hub, forgetting: .zero)
      try await synchronize(devices + late, hub)
    }
  }

  @Test("Stores in which all facts are in the objects' own entries continue", arguments: 0..<4)
  func former(_ kind: Int) async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try devices(["a", "b"], folder)
      try addNotes(600, to: devices[0])
      try await synchronize(devices, hub)
      for device in devices { try makeFormer(device) }
      switch kind {
      case 0: try change(devices[0], "title", to: "changed") { $0 % 2 == 0 }
      case 1: try change(devices[0], "code", to: nil) { $0 % 2 == 0 }
      case 2:
        let context = ManagedObjectContext(devices[0].coordinator)
        for note in try context.fetch(FetchRequest<ManagedObject>("Note")).prefix(100) { context.delete(note) }
        try context.save()
      default: _ = try await devices[0].replica.compact(hub, forgetting: .zero)
      }
      let late = try self.devices(["c"], folder)
      for device in devices + late + devices { try await device.replica.synchronize(with: hub) }
      for device in devices + late {
        #expect(try device.outdatedRows().isEmpty)
        #expect(try device.contents() == devices[0].contents())
      }
      try checkPlaces(late[0])
      // What changes is in the present form.
      if kind == 0 { #expect(try entries("R", of: devices[0]).count(where: { RowEntry.isAlone($0.value) }) >= 300) }
      try change(devices[1], "title", to: "again") { _ in true }
      for device in devices + late + devices { try await device.replica.synchronize(with: hub) }
      for device in devices + late { #expect(try device.contents() == devices[0].contents()) }
    }
  }

  @Test("A change of an attribute writes one entry beside those of the replica, and reads none of the object's own")
  func writes() throws {
    try withTemporaryFolder { folder in
      let device = try devices(["a"], folder)[0]
      try addNotes(10, to: device)
      _ = try device.replica.work.capture()
      try change(device, "title", to: "changed") { $0 == 4 }
      let (step, record, _) = try device.replica.work.open()
      var pass = CapturePass(step, record, times: device.sources.times())
      #expect(try pass.run())
      #expect(pass.entries.count == 1)
      #expect(pass.entries.allSatisfy { $0.key.first == UInt8(ascii: "R") })
      #expect(pass.facts.isEmpty && pass.values.facts.count == 1)
      #expect(step.tables.objects.isEmpty)
    }
  }

  @Test("Facts that are written as bytes are read as those that are made one by one")
  func bytes() throws {
    var random = SeededRandom(seed: 52)
    var values = ValueFacts()
    var facts: [ChangeSet.Fact] = []
    let properties = ["title", "code", "a"].map {
      PropertyName(model: ModelTag(number: 7), entity: "Note", name: $0)
    }
    let heads = properties.map { values.addHead(.value($0)) }
    let replicas = [UUID(), UUID()]
    for number in 0..<200 {
      let identity = Identity(.integer(Int64(number * 7919 % 100_003)), of: number % 2 == 0 ? "Note" : "A")
      values.addObject(FactKey.prefix(of: identity))
      for (property, head) in zip(properties, heads) where random.next() % 2 == 0 {
        let stamp = Stamp(time: random.next() % 1000, replica: replicas[Int(random.next() % 2)])
        let content = PortableValue.bytes(.string("v\(random.next() % 100)"))
        values.add(head: head, life: 1, stamp: stamp, content: [UInt8](content)[...])
        let register = Register(life: 1, stamp: stamp, content: content)
        facts.append(ChangeSet.Fact(key: .value(identity, property), value: register.bytes))
      }
    }
    values.sort()
    let entry = SyncEntry(replica: UUID(), number: 3)
    let set = try ChangeSet(values.data(entry, 0..<values.facts.count))
    #expect(set.facts == ChangeSet(entry, facts).facts)
    let parts = [0..<100, 100..<values.facts.count].map { values.data(entry, $0) }
    #expect(try parts.flatMap { try ChangeSet($0).facts } == set.facts)
    #expect(try ChangeSet(ChangeSet(entry, facts).data).facts == set.facts)
  }
}
