import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistSync

/// Changed values of known objects, of which most change sets consist.
@Suite("Synchronization: changed values")
struct ValuePassTests {
  /// Two devices with the same items.
  private func devices(_ folder: URL, _ hub: FolderHub) async throws -> (Device, Device) {
    let model = try ManagedObjectModel(SyncModel.description)
    let devices = try ["a", "b"].map {
      try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
    }
    let context = ManagedObjectContext(devices[0].coordinator)
    for number in 0..<5 {
      let item = try context.create("Item")
      (item["id"], item["name"]) = (UUID(), "n\(number)")
    }
    try context.save()
    for device in devices + devices { try await device.replica.synchronize(with: hub) }
    return (devices[0], devices[1])
  }

  private func change(_ names: [String], to value: String, on device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let items = try context.fetch(FetchRequest<ManagedObject>("Item", where: "name IN %@", names))
    #expect(items.count == names.count)
    for item in items { item["name"] = value }
    try context.save()
  }

  @Test("Changed values are applied without reading their rows, and those that a row has already without writing it")
  func unread() async throws {
    try await withTemporaryFolder { folder in
      let (one, two) = try await devices(folder, FolderHub(folder.appendingPathComponent("hub")))
      try change(["n1"], to: "changed", on: two)
      _ = try two.replica.work.capture()
      try change(["n0", "n1", "n2", "n3"], to: "changed", on: one)
      _ = try one.replica.work.capture()
      let tables = try one.replica.work.unsent().compactMap { try ChangeSet($0.data).table }
      var pass = ValuePass(tables, try two.replica.work.open().step, upTo: .max, readsRows: false)
      #expect(try pass.run())
      #expect(pass.entries.entries.count == 4)
      #expect(pass.writes.updates.map(\.version) == [nil, nil, nil])
    }
  }

  /// Two versions of a model; the second one has another attribute, and one that is no longer optional.
  private static let versions = [true, false].map { isFirst in
    ModelDescription(entities: [
      EntityDescription(
        "Note",
        attributes: [.init("id", .uuid), .init("text", .string, isOptional: isFirst)]
          + (isFirst ? [] : [.init("rank", .int32, default: 5)]))
    ])
  }

  @Test("A value that arrives equal to the default isn't written, and a required one that is missing is reported again")
  func equalValues() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try [0, 0, 1, 1].enumerated().map { number, version in
        try Device(
          folder.appendingPathComponent("\(number).sqlite"), ManagedObjectModel(Self.versions[version]),
          identifiedBy: ["Note": "id"])
      }
      let ids = [UUID(), UUID()]
      func change(_ number: Int, _ device: Device, _ key: String, to value: Any?) throws {
        let context = ManagedObjectContext(device.coordinator)
        let notes = try context.fetch(FetchRequest<ManagedObject>("Note"))
        let note = try #require(notes.first { $0["id"] as? UUID == ids[number] })
        note[key] = value
        try context.save()
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      for id in ids {
        let note = try context.create("Note")
        (note["id"], note["text"]) = (id, "Tea")
      }
      try context.save()
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      // The attribute is known then.
      try change(0, devices[2], "rank", to: 7)
      for device in devices[2...] { try await device.replica.synchronize(with: hub) }
      // The value of the other object was never set where it arrives.
      for rank in [6, 5] { try change(1, devices[2], "rank", to: rank) }
      _ = try devices[2].replica.work.capture()
      let tables = try devices[2].replica.work.unsent().compactMap { try ChangeSet($0.data).table }
      var pass = ValuePass(tables, try devices[3].replica.work.open().step, upTo: .max, readsRows: false)
      #expect(try pass.run())
      #expect(pass.entries.entries.count == 1)
      #expect(pass.writes.updates.isEmpty)
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      // Two devices whose version doesn't require the value remove it.
      for device in devices[..<2] { try change(0, device, "text", to: nil) }
      for device in devices[..<2] {
        try await device.replica.synchronize(with: hub)
        #expect(try await devices[3].replica.synchronize(with: hub).problems.map(\.property) == ["text"])
      }
      for device in devices { try device.close() }
    }
  }

  @Test("A row that was deleted without the history doesn't stop the changes of others")
  func missing() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = try await devices(folder, hub)
      _ = try ForeignSQL.run("DELETE FROM ZITEM WHERE ZNAME = 'n1'", at: two.url)
      try change(["n0", "n1", "n2"], to: "changed", on: one)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      let context = ManagedObjectContext(two.coordinator)
      let names = try context.fetch(FetchRequest<ManagedObject>("Item")).compactMap { $0["name"] as? String }
      #expect(names.sorted() == ["changed", "changed", "n3", "n4"])
    }
  }

  @Test("A store that is set back before changed values arrived is recognized")
  func setBack() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = try await devices(folder, hub)
      try change(["n1", "n2"], to: "changed", on: one)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      let request = FetchRequest<ManagedObject>("Item")
      #expect(try ManagedObjectContext(two.coordinator).count(for: request) == 5)
      // As SQLite's own backup does: older rows, and another state of the schema.
      try ForeignSQL.run(
        "UPDATE ZITEM SET Z_OPT = Z_OPT - 1 WHERE ZNAME = 'changed'", "CREATE TABLE mine (a)", at: two.url)
      let error = #expect(throws: PersistenceError.self) {
        try ManagedObjectContext(two.coordinator).count(for: request)
      }
      #expect(error?.code == .storeExchanged)
    }
  }

  @Test("Contexts merge changed values that arrive")
  func merging() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (one, two) = try await devices(folder, hub)
      let context = ManagedObjectContext(two.coordinator)
      context.automaticallyMergesChangesFromParent = true
      let item = try #require(try context.fetch(FetchRequest<ManagedObject>("Item", where: "name == 'n1'")).first)
      #expect(item["name"] as? String == "n1")
      try change(["n1"], to: "changed", on: one)
      for device in [one, two] { try await device.replica.synchronize(with: hub) }
      // A fetch merges what has arrived.
      #expect(try context.fetch(FetchRequest<ManagedObject>("Tag")).isEmpty)
      #expect(item["name"] as? String == "changed")
    }
  }
}
