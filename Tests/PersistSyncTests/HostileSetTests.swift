import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: change sets from anybody")
struct HostileSetTests {
  /// Change sets with facts of every kind, made by two devices.
  private func sets(_ folder: URL) async throws -> [Data] {
    let model = try ManagedObjectModel(SyncModel.description)
    let hub = FolderHub(folder.appendingPathComponent("hub"))
    let device = try Device(
      folder.appendingPathComponent("seed.sqlite"), model, identifiedBy: SyncModel.identifiers)
    let context = ManagedObjectContext(device.coordinator)
    let box = try context.create("Box")
    let tags = try (0..<3).map { number in
      let tag = try context.create("Tag")
      (tag["label"], tag["rank"]) = ("t\(number)", number)
      return tag
    }
    for number in 0..<5 {
      let item = try context.create("Part")
      (item["id"], item["name"], item["price"], item["box"]) = (UUID(), "n\(number)", Decimal(number) / 8, box)
      (item["weight"], item["when"], item["photo"]) = (Double(number), Date(), Data([1, 2, 3]))
      for tag in tags { try item.many("tags").insert(tag) }
    }
    try context.save()
    try await device.replica.synchronize(with: hub)
    try context.fetch(FetchRequest<ManagedObject>("Part")).forEach { $0["name"] = "changed" }
    context.delete(tags[0])
    try context.save()
    try await device.replica.synchronize(with: hub)
    try device.close()
    var all: [Data] = []
    for entry in try await hub.entries(after: [:]) {
      if let data = try await hub.content(of: entry) { all.append(data) }
    }
    return all
  }

  @Test("Each life of a set is checked, the first one and those that follow")
  func lives() throws {
    let tag = ModelTag(number: 7)
    let entry = SyncEntry(replica: UUID(), number: 1)
    let whole = Life(count: 1, model: tag, entity: "Note").bytes
    func set(_ values: [Data]) throws -> ChangeSet {
      let facts = values.enumerated().map { number, value in
        ChangeSet.Fact(key: .life(Identity(.integer(Int64(number)), of: "Note")), value: value)
      }
      return try ChangeSet(ChangeSet(entry, facts).data)
    }
    #expect(try set([whole, whole]).count == 2)
    let others = [
      whole.prefix(4), whole.prefix(10), whole + [0], Data([0, 0, 0, 0]) + whole.dropFirst(4),
      whole.dropLast() + [0xFF],
    ]
    for other in others.map({ Data($0) }) {
      for values in [[other], [whole, other], [other, other], [whole, whole, other]] {
        #expect(throws: PersistenceError.self, "\(Array(other))") { try set(values) }
      }
    }
  }

  private func mutate(_ data: Data, _ random: inout SeededRandom) -> Data {
    var bytes = Array(data)
    func number(_ count: Int) -> Int { Int.random(in: 0..<max(count, 1), using: &random) }
    for _ in 0...number(4) where !bytes.isEmpty {
      switch number(6) {
      case 0: bytes[number(bytes.count)] = UInt8(number(256))
      case 1: bytes[number(bytes.count)] ^= 1 << UInt8(number(8))
      case 2: bytes.removeLast(number(bytes.count))
      case 3: bytes.insert(contentsOf: (0..<number(20)).map { _ in UInt8(number(256)) }, at: number(bytes.count))
      case 4:
        let start = number(bytes.count)
        bytes.removeSubrange(start..<min(bytes.count, start + number(20)))
      default:
        // Extreme numbers.
        let start = number(bytes.count)
        for index in start..<min(bytes.count, start + number(12)) { bytes[index] = number(2) == 0 ? 255 : 127 }
      }
    }
    return Data(bytes)
  }

  @Test(
    "A damaged or malicious change set is refused with an error, or applied completely",
    .law("sync-hostile-sets", short: 300, long: 100_000))
  func hostile() async throws {
    try await withTemporaryFolder { folder in
      let sets = try await sets(folder)
      #expect(sets.count >= 2)
      let model = try ManagedObjectModel(SyncModel.description)
      let device = try Device(
        folder.appendingPathComponent("victim.sqlite"), model, identifiedBy: SyncModel.identifiers)
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let original = sets[Int(seed) % sets.count]
        var data = self.mutate(original, &random)
        // Half of them have a valid checksum, as those of an attacker.
        if seed % 2 == 0, data.count > 8 {
          let content = Data(data.dropLast(8))
          data = content + ChangeSet.checksum([UInt8](content))
        }
        do {
          let set = try ChangeSet(data)
          #expect(try ChangeSet(set.data) == set)
          _ = try device.replica.work.apply([set])
        } catch let error as PersistenceError {
          #expect([.malformedFile, .newerStore, .limitExceeded, .invalidModel].contains(error.code), "\(error)")
        }
      }
      // The store still works, and reads what remains.
      for set in sets { _ = try device.replica.work.apply([ChangeSet(set)]) }
      #expect(try !device.contents().isEmpty)
      try device.close()
    }
  }

  @Test("A change set is the same after writing and reading, and small")
  func roundTrip() async throws {
    try await withTemporaryFolder { folder in
      for data in try await sets(folder) {
        let set = try ChangeSet(data)
        #expect(set.data == data)
        let lines = try set.jsonLines.split(separator: "\n")
        #expect(lines.count == set.count + 1)
        for line in lines { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
      }
    }
  }

  @Test("Times and counts at their limits leave room for later changes")
  func limits() throws {
    try withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let device = try Device(
        folder.appendingPathComponent("a.sqlite"), model, identifiedBy: SyncModel.identifiers)
      let context = ManagedObjectContext(device.coordinator)
      let item = try context.create("Item")
      let id = UUID()
      (item["id"], item["name"]) = (id, "first")
      try context.save()
      let record = try device.replica.work.capture().record
      let identity = Identity(.uuid(id), of: "Item")
      let name = PropertyName(model: record.model, entity: "Item", name: "name")
      let register = Register(
        life: 1, stamp: Stamp(time: SyncFormat.maximumTime - 10, replica: UUID()),
        content: PortableValue.bytes(.string("future")))
      let set = ChangeSet(
        SyncEntry(replica: UUID(), number: 1), [.init(key: .value(identity, name), value: register.bytes)])
      _ = try device.replica.work.apply([ChangeSet(set.data)])
      #expect(try device.contents().contains { $0.contains("name=future") })
      let later = ManagedObjectContext(device.coordinator)
      try later.fetch(FetchRequest<ManagedObject>("Item"))[0]["name"] = "later"
      try later.save()
      _ = try device.replica.work.apply([ChangeSet(set.data)])
      #expect(try device.contents().contains { $0.contains("name=later") })
      try device.close()
    }
  }

  @Test("A snapshot that claims to cover more change sets than there can be is refused")
  func covers() throws {
    for number in [Int64.max, Int64.max - 1, Int64(1) << 56] {
      let entry = SyncEntry(replica: SyncEntry.snapshot(UUID()), number: 1)
      let set = ChangeSet(entry, [ChangeSet.Fact(cover: UUID(), upTo: number)])
      #expect(throws: PersistenceError.self) { try ChangeSet(set.data) }
    }
    var received = ReceivedSets()
    received.insert(1)
    received.insertAll(upTo: .max)
    #expect(received.upTo == .max)
  }
}
