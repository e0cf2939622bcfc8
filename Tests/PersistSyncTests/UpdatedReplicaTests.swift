import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// Replicas that are updated, copied, put back and away at the same time.
@Suite("Synchronization: copies, backups and wrong clocks across updates")
struct UpdatedReplicaTests {
  private static let first = [
    EntityDescription("Note", attributes: [.init("title", .string), .init("rank", .int32)])
  ]
  private static let second = [
    EntityDescription(
      "Note",
      attributes: [
        .init("name", .string, renamingIdentifier: "title"), .init("rank", .int32), .init("extra", .string),
      ]),
    EntityDescription("Tag", attributes: [.init("id", .int64), .init("title", .string)]),
  ]
  private static let third = [
    EntityDescription(
      "Memo", renamingIdentifier: "Note",
      attributes: [.init("name", .string), .init("rank", .int32), .init("extra", .string)]),
    EntityDescription(
      "Label", renamingIdentifier: "Tag",
      attributes: [.init("id", .int64), .init("text", .string, renamingIdentifier: "title")]),
  ]

  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for device in devices + devices {
      let report = try await device.replica.synchronize(with: hub)
      #expect(report.refused.isEmpty && report.waiting.isEmpty)
    }
    for device in devices { #expect(try device.outdatedRows().isEmpty) }
  }

  private func copy(_ device: Device, _ versions: VersionList, _ folder: URL, _ name: String) throws -> Device {
    try device.close()
    try device.copyFiles(to: folder.appendingPathComponent("\(name).sqlite"))
    try device.reopen()
    return try versions.device(folder, name)
  }

  @Test(
    "An object that one of two copies deletes before it was sent stays deleted, whichever sends first",
    arguments: [false, true], [false, true])
  func deletedCopy(isOriginalFirst: Bool, deletesOriginal: Bool) async throws {
    let versions = try VersionList([Self.first])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let device = try versions.device(folder, "a")
      try device.change { try $0.create("Note")["title"] = "known" }
      try await device.replica.synchronize(with: hub)
      try device.change { try $0.create("Note")["title"] = "unsent" }
      let other = try copy(device, versions, folder, "b")
      try (deletesOriginal ? device : other).change { context in
        let notes = try context.fetch(FetchRequest<ManagedObject>("Note", where: "title == %@", "unsent"))
        for note in notes { context.delete(note) }
      }
      let devices = isOriginalFirst ? [device, other] : [other, device]
      try await synchronize(devices, hub)
      for device in devices { #expect(try device.value("Note", "title") == "known") }
      let late = try versions.device(folder, "late")
      try await synchronize([late] + devices, hub)
      #expect(try late.value("Note", "title") == "known")
    }
  }

  @Test("Edits of a device that returns to a file of an older version, and is updated again, hold if they are last")
  func putBack() async throws {
    let versions = try VersionList([Self.first, Self.second])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map { try versions.device(folder, $0) }
      try devices[0].change { try $0.create("Note")["title"] = "new" }
      try await synchronize(devices, hub)
      try devices[0].set("Note", ["title": "unsent"])
      try devices[0].close()
      let backup = folder.appendingPathComponent("backup.sqlite")
      try devices[0].copyFiles(to: backup)
      try devices[0].reopen()
      try versions.update(devices[0], to: 2)
      try devices[0].set("Note", ["name": "second", "extra": "e"])
      try await synchronize(devices, hub)
      #expect(try devices[1].value("Note", "title") == "second")
      // The program returns to the older version as well.
      try devices[0].close()
      let saved = try versions.device(folder, "backup")
      try saved.close()
      try saved.copyFiles(to: devices[0].url)
      let former = try versions.device(folder, "a")
      #expect(try former.value("Note", "title") == "unsent")
      try former.set("Note", ["rank": 3])
      try versions.update(former, to: 2)
      try await synchronize([former, devices[1]], hub)
      #expect(try former.value("Note", "name") == "second")
      #expect(try former.value("Note", "extra") == "e")
      #expect(try devices[1].value("Note", "rank") == "3")
      try former.set("Note", ["name": "third"])
      try versions.update(devices[1], to: 2)
      try await synchronize([former, devices[1]], hub)
      for device in [former, devices[1]] { #expect(try device.value("Note", "name") == "third") }
    }
  }

  @Test("A device two versions behind keeps objects of an unknown entity, and edits or loses them after its update")
  func unknownEntity() async throws {
    let versions = try VersionList([Self.first, Self.second, Self.third])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let new = try versions.device(folder, "new", 3, identifiedBy: ["Label": "id"])
      let old = try versions.device(folder, "old")
      try new.change { context in
        for number in 1...3 {
          let label = try context.create("Label")
          (label["id"], label["text"]) = (number, "l\(number)")
        }
        try context.create("Memo")["name"] = "memo"
      }
      try await synchronize([new, old], hub)
      try old.set("Note", ["title": "changed"])
      try old.update(to: versions.model(3), versions.registry(to: 3), identifiedBy: ["Label": "id"])
      try old.change { context in
        let labels = try context.fetch(FetchRequest<ManagedObject>("Label"))
        #expect(labels.isEmpty)
      }
      _ = try await old.replica.synchronize(with: hub)
      try old.change { context in
        for label in try context.fetch(FetchRequest<ManagedObject>("Label")) { label["text"] = "edited" }
      }
      try new.change { context in
        for label in try context.fetch(FetchRequest<ManagedObject>("Label", where: "id == 2")) { context.delete(label) }
      }
      try await synchronize([old, new], hub)
      for device in [old, new] {
        #expect(try device.value("Label", "text") == "edited, edited")
        #expect(try device.value("Memo", "name") == "changed")
      }
    }
  }

  @Test("A value that a wrong clock has set, before the clock is corrected and the program is updated, doesn't last",
    arguments: [-10.0, 10])
  func clock(years: Double) async throws {
    let versions = try VersionList([Self.first, Self.second])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let offset = LockProtected(0.0)
      let device = try versions.device(
        folder, "a", sources: SyncSources(now: { Date().addingTimeInterval(offset.withLock { $0 }) }))
      let other = try versions.device(folder, "b")
      try device.change { try $0.create("Note")["title"] = "new" }
      try await synchronize([device, other], hub)
      offset.withLock { $0 = years * 365 * 86_400 }
      try device.set("Note", ["title": "wrong"])
      _ = try device.replica.work.capture()
      offset.withLock { $0 = 0 }
      try device.set("Note", ["rank": 1])
      try versions.update(device, to: 2)
      try await synchronize([device, other], hub)
      #expect(try other.value("Note", "title") == "wrong")
      try other.set("Note", ["title": "right"])
      try await synchronize([other, device], hub)
      #expect(try device.value("Note", "name") == "right")
      // The value that was overruled doesn't come back from the device itself.
      try device.set("Note", ["name": "own"])
      try versions.update(other, to: 2)
      try await synchronize([device, other], hub)
      for device in [device, other] {
        #expect(try device.value("Note", "name") == "own")
        #expect(try device.value("Note", "rank") == "1")
      }
    }
  }

  @Test("An unsent change of the value that decides how an entity is split is compared by its time", arguments: 0..<4)
  func split(_ order: Int) async throws {
    func person(_ name: String, _ extra: [AttributeDescription] = []) -> EntityDescription {
      EntityDescription(name, attributes: [.init("name", .string), .init("kind", .int32)] + extra)
    }
    var versions = try VersionList([
      [person("Person")], [person("Employee"), person("Customer", [.init("note", .string)])],
    ])
    let copies = try ["name", "kind"].map { try PropertyMapping($0, "$source.\($0)") }
    var employee = EntityMapping("PersonToEmployee", from: "Person", to: "Employee", attributes: copies)
    employee.sourceExpression = .sourceObjects(of: "Person", where: "kind == 1")
    var customer = EntityMapping("PersonToCustomer", from: "Person", to: "Customer", attributes: copies)
    customer.sourceExpression = .sourceObjects(of: "Person", where: "kind != 1")
    versions.mappings = [MappingModel("1to2", from: "1", to: "2", entityMappings: [employee, customer])]
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      var devices = try ["a", "b"].map { try versions.device(folder, $0) }
      try devices[0].change { context in
        let person = try context.create("Person")
        (person["name"], person["kind"]) = ("new", 2)
      }
      try await synchronize(devices, hub)
      if order % 2 == 0 { try devices[1].set("Person", ["kind": 3, "name": "other"]) }
      try devices[0].set("Person", ["kind": 1, "name": "own"])
      if order % 2 == 1 { try devices[1].set("Person", ["kind": 3, "name": "other"]) }
      try devices[0].close()
      devices[0] = try versions.device(folder, "a", 2)
      if order > 1 { try await synchronize([devices[1]], hub) }
      try await synchronize(devices, hub)
      try devices[1].close()
      devices[1] = try versions.device(folder, "b", 2)
      try await synchronize(devices, hub)
      for device in devices {
        #expect(try device.contents().count == 1)
        #expect(
          try device.value(order % 2 == 0 ? "Employee" : "Customer", "name") == (order % 2 == 0 ? "own" : "other"))
      }
    }
  }
}
