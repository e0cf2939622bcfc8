import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistSync

/// The first synchronization of rows whose facts are values, which are read and written as bytes.
@Suite("Synchronization: the first one, of values")
struct PlainBirthTests {
  /// Notes have values of every size, references in every direction, and unique codes.
  private static let description = ModelDescription(entities: [
    EntityDescription(
      "Note",
      attributes: [
        .init("id", .uuid), .init("code", .string), .init("title", .string, default: "new"), .init("rank", .int64),
        .init("size", .composite, compositeName: "Size"), .init("photo", .binary, allowsExternalStorage: true),
      ],
      relationships: [
        .init("owner", to: "Owner", inverse: "notes"), .init("previous", to: "Note"),
        .init("partner", to: "Note", inverse: "partner"),
      ], uniquenessConstraints: [["code"]]),
    EntityDescription("Memo", parent: "Note", attributes: [.init("when", .date)]),
    EntityDescription(
      "Owner", attributes: [.init("name", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "owner", deleteRule: .nullify)]),
  ], composites: [CompositeDescription("Size", elements: [.init("width", .int32), .init("height", .int32)])])

  private func device(_ name: String, _ folder: URL) throws -> Device {
    try Device(
      folder.appendingPathComponent("\(name).sqlite"), ManagedObjectModel(Self.description),
      identifiedBy: ["Note": "id"])
  }

  private func addNotes(_ count: Int, to device: Device, photos: Bool = true) throws {
    let context = ManagedObjectContext(device.coordinator)
    let owners = try (0..<10).map { number in
      let owner = try context.create("Owner")
      owner["name"] = "owner \(number)"
      return owner
    }
    var last: ManagedObject?
    for number in 0..<count {
      let note = try context.create(number % 4 == 0 ? "Memo" : "Note")
      (note["id"], note["rank"], note["owner"]) = (number % 9 == 0 ? nil : UUID(), number, owners[number % 10])
      note["code"] = number % 5 == 0 ? nil : "c\(number)"
      if number % 3 > 0 { note["title"] = number % 3 == 1 ? nil : "title \(number)" }
      if number % 4 == 0 { note["size"] = ["width": number] }
      if number % 2 == 1 { note["partner"] = last }
      if photos, number % 50 == 0 { note["photo"] = Data(repeating: 7, count: [10, 2000, 70_000][number / 50 % 3]) }
      note["previous"] = last
      last = note
    }
    try context.save()
  }

  private func edit(_ device: Device, _ title: String, where isChanged: (Int64) -> Bool) throws {
    let context = ManagedObjectContext(device.coordinator)
    for note in try context.fetch(FetchRequest<ManagedObject>("Note"))
    where isChanged(note["rank"] as? Int64 ?? 0) { note["title"] = title }
    try context.save()
  }

  @Test("All values and references of a store arrive that had them before its first synchronization")
  func values() async throws {
    try await withTemporaryFolder { folder in
      let (one, two) = (try device("one", folder), try device("two", folder))
      try addNotes(4500, to: one)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let former = try one.contents()
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      #expect(try one.contents() == former)
      #expect(try two.contents() == former)
      for device in [one, two] { #expect(try device.outdatedRows().isEmpty) }
      // The facts of an object are in one change set.
      var sets: [Identity: Int] = [:]
      for entry in try await hub.entries(after: [:]) {
        let content = try #require(try await hub.content(of: entry))
        for identity in Set(try ChangeSet(content).facts.compactMap(\.key.object)) { sets[identity, default: 0] += 1 }
      }
      #expect(sets.values.count { $0 > 1 } < 100)
      for device in [one, two] { try edit(device, "by \(device.url.lastPathComponent)") { $0 % 100 == 3 } }
      for device in [one, two, one] { try await device.replica.synchronize(with: hub) }
      #expect(try one.contents() == two.contents())
    }
  }

  @Test("Rows take little more than the search for their identities")
  func statements() throws {
    var costs: [Int] = []
    for count in [2000, 8000] {
      try withTemporaryFolder { folder in
        let device = try device("one", folder)
        try addNotes(count, to: device, photos: false)
        let name = try #require(device.coordinator.persistentStores.first?.identifier)
        let store = try #require(device.coordinator.storesWithHistory([name]).first?.store as? SQLiteStore)
        let before = store.pool.counts.executed
        _ = try device.replica.work.capture()
        costs.append(store.pool.counts.executed - before)
      }
    }
    #expect(Double(costs[1] - costs[0]) / 6000 <= 1.2, "\(costs)")
  }

  @Test("Copies make the same facts, and the last of two changes before the first synchronization holds")
  func copies() async throws {
    try await withTemporaryFolder { folder in
      let one = try device("one", folder)
      try addNotes(500, to: one)
      try one.close()
      try one.copyFiles(to: folder.appendingPathComponent("two.sqlite"))
      try one.reopen()
      let two = try device("two", folder)
      try edit(one, "first") { $0 < 100 }
      try edit(two, "second") { $0 < 50 }
      try edit(one, "third") { $0 < 20 }
      for device in [one, two] { _ = try device.replica.work.capture() }
      let facts = try [one, two].map { device in
        Set(try device.replica.work.unsent().flatMap { try ChangeSet($0.data).facts })
      }
      let different = facts[0].symmetricDifference(facts[1])
      #expect(!different.isEmpty)
      for fact in different {
        #expect(fact.key.property?.name == "title")
        #expect(try Register(fact.value).stamp.replica == Stamp.origin)
      }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for device in [two, one, two] { try await device.replica.synchronize(with: hub) }
      for device in [one, two] {
        let context = ManagedObjectContext(device.coordinator)
        for note in try context.fetch(FetchRequest<ManagedObject>("Note")) {
          let wanted = ["third": 0..<20, "second": 20..<50, "first": 50..<100].first {
            $0.value.contains(Int(note["rank"] as? Int64 ?? 0))
          }
          if let wanted { #expect(note["title"] as? String == wanted.key) }
        }
      }
    }
  }

  @Test("Objects with equal unique values of two stores become one at their first synchronization")
  func uniqueValues() async throws {
    try await withTemporaryFolder { folder in
      let devices = try ["one", "two"].map { try device($0, folder) }
      for device in devices { try addNotes(10, to: device) }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      #expect(try devices[0].contents() == devices[1].contents())
      // Eight of ten notes have a code.
      #expect(try devices[0].contents().count == 20 + 8 + 4)
      for device in devices { #expect(try device.outdatedRows().isEmpty) }
    }
  }
}
