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
      try addNotes(300, to: devices[0])
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
      let alone = try entries("R", of: devices[0]).filter { try RowEntry.alone($0.value) != nil }
      if kind == 0 { #expect(alone.count >= 150) }
      try change(devices[1], "title", to: "again") { _ in true }
      for device in devices + late + devices { try await device.replica.synchronize(with: hub) }
      for device in devices + late { #expect(try device.contents() == devices[0].contents()) }
    }
  }

  // MARK: Snapshots

  private func parts(_ work: ReplicaWork, _ begun: ReplicaWork.SnapshotRest) throws -> [[ChangeSet.Fact]] {
    var (rest, parts) = (begun, [[ChangeSet.Fact]]())
    while let part = try work.facts(in: rest) {
      parts.append(part.facts)
      rest = part.left
    }
    return parts
  }

  @Test("A snapshot has each fact once, those of an object in one part, and the objects in the order of their rows")
  func snapshot() throws {
    try withTemporaryFolder { folder in
      let device = try devices(["a"], folder)[0]
      try addNotes(1500, to: device)
      let work = device.replica.work
      _ = try work.capture()
      try change(device, "title", to: nil) { $0 % 7 == 0 }
      let context = ManagedObjectContext(device.coordinator)
      for note in try context.fetch(FetchRequest<ManagedObject>("Note")).prefix(20) { context.delete(note) }
      try context.save()
      _ = try work.capture()
      let parts = try parts(work, work.beginSnapshot())
      let keys = parts.joined().map(\.key.bytes)
      #expect(Set(keys).count == keys.count)
      let tables = try work.open().step.tables
      let all = try tables.facts(in: entries("F", of: device)) + tables.facts(in: entries("m", of: device))
      #expect(Set(keys) == Set(all.map(\.key.bytes)))
      var rows: [Int64] = []
      for part in parts {
        let own = Set(part.compactMap(\.key.object))
        let keys = try own.compactMap { try tables.row(of: $0) }.filter { $0.root == "Note" }.map(\.key).sorted()
        #expect(keys.first ?? .max > rows.last ?? .min)
        rows += keys
      }
      #expect(rows.count == 1480)
    }
  }

  @Test("A snapshot has what moved from the entry of an object to that of its row while it was written")
  func movedMeanwhile() throws {
    try withTemporaryFolder { folder in
      let device = try devices(["a"], folder)[0]
      try addNotes(3, to: device)
      let work = device.replica.work
      _ = try work.capture()
      let context = ManagedObjectContext(device.coordinator)
      let note = try #require(try context.fetch(FetchRequest<ManagedObject>("Note")).first)
      let id = note["id"] as? UUID
      context.delete(note)
      try context.save()
      _ = try work.capture()
      let begun = try work.beginSnapshot()
      let isOfRows = { (range: AttachedRange) in range.first.first == UInt8(ascii: "R") }
      var (rows, others) = (begun, begun)
      rows.ranges.removeAll { !isOfRows($0) }
      others.ranges.removeAll(where: isOfRows)
      let first = try parts(work, rows)
      try context.create("Note")["id"] = id
      try context.save()
      _ = try work.capture()
      let identity = Identity(.uuid(try #require(id)), of: "Note")
      let all = try (first + parts(work, others)).joined().map(\.key)
      #expect(all.contains(.life(identity)))
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
      #expect(pass.entries.entries.map { pass.entries.bytes[$0.key.lowerBound] } == [UInt8(ascii: "R")])
      #expect(pass.facts.isEmpty && pass.values.facts.count == 1)
      #expect(step.tables.objects.isEmpty)
    }
  }

  @Test(
    "An entry that is changed as bytes has the facts of one that is written anew",
    .law("sync-row-entries", short: 500, long: 100_000))
  func changedBytes() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      let replicas = [UUID(), UUID()]
      func stamp() -> Stamp { Stamp(time: UInt64(number(3)), replica: replicas[number(2)]) }
      func content() -> [UInt8] { [UInt8](repeating: UInt8(number(256)), count: number(200)) }
      var packed = PackedFacts()
      packed.life = (UInt32(1 + number(300)), number(300))
      if number(4) > 0 { packed.row = SyncTables.RowID(root: "Note", entity: "Memo", key: Int64(number(1000)) - 500) }
      packed.uniqueKeys = (0..<number(3)).map { _ in Data(content()) }
      (packed.hasOthers, packed.hasUnions, packed.hasMembers) = (number(2) == 0, number(2) == 0, number(2) == 0)
      var sources: [[UInt8]] = []
      for head in 0..<number(6) {
        sources.append(content())
        packed.facts.append(
          PackedFacts.Fact(
            head: head * 100, life: number(3) == 0 ? 1 : packed.life?.count ?? 0, otherLife: UInt32(number(2)),
            stamp: stamp(), source: head, content: 0..<sources[head].count))
      }
      let identity = Identity(.integer(Int64(number(1000))), of: "Note")
      var writer = ByteWriter()
      writer.raw(Data(content()))
      let start = writer.bytes.count
      RowEntry.begin(identity, in: &writer)
      packed.write(to: &writer, sources)
      let bytes = writer.bytes
      var values = PackedValues()
      let isAlone = try values.read(bytes, start..<bytes.count)
      #expect(isAlone)
      #expect(bytes[values.identity].elementsEqual(identity.bytes))
      #expect(values.life?.count == packed.life?.count && values.facts.count == packed.facts.count)
      if let row = packed.row { #expect(values.isRow(row, in: bytes)) }

      var (changes, contents): ([PackedValues.Change], [UInt8]) = ([], content())
      let life = packed.life?.count ?? 0
      for head in 0..<8 where number(3) == 0 {
        let (new, time) = (content(), stamp())
        let place = head < packed.facts.count ? head : nil
        let range = contents.count..<contents.count + new.count
        contents += new
        changes.append(PackedValues.Change(place: place, head: head * 100, stamp: time, content: range))
        let fact = PackedFacts.Fact(
          head: head * 100, life: life, otherLife: 0, stamp: time, source: sources.count, content: 0..<new.count)
        sources.append(new)
        if let place { packed.facts[place] = fact } else { packed.facts.append(fact) }
      }
      writer.removeAll()
      values.write(bytes, with: changes, contents: contents, to: &writer)
      let (alone, range) = try RowEntry.alone(writer.bytes)
      #expect(alone == identity)
      let read = try PackedFacts(writer.bytes, range, source: 0)
      #expect(read.row == packed.row && read.uniqueKeys == packed.uniqueKeys && read.life?.head == packed.life?.head)
      #expect(read.hasOthers == packed.hasOthers && read.hasUnions == packed.hasUnions)
      func text(_ fact: PackedFacts.Fact, _ content: ArraySlice<UInt8>) -> String {
        "\(fact.head) \(fact.life) \(fact.otherLife) \(fact.stamp) \(Array(content))"
      }
      #expect(
        read.facts.map { text($0, writer.bytes[$0.content]) }
          == packed.facts.map { text($0, sources[$0.source][$0.content]) })
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
      values.addObject([UInt8](FactKey.prefix(of: identity))[1...])
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
