import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistSync

/// The entries that lead to the objects that refer to others.
@Suite("Synchronization: entries of references")
struct ReferrerTests {
  private static let description = ModelDescription(entities: [
    EntityDescription(
      "Note", attributes: [.init("id", .uuid), .init("title", .string)],
      relationships: [.init("owner", to: "Owner", inverse: "notes"), .init("author", to: "Owner")]),
    EntityDescription(
      "Owner", attributes: [.init("id", .uuid), .init("code", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "owner")], uniquenessConstraints: [["code"]]),
  ])

  private func devices(_ names: [String], _ folder: URL) throws -> [Device] {
    let model = try ManagedObjectModel(Self.description)
    return try names.map {
      try Device(
        folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "id", "Owner": "id"])
    }
  }

  private func add(owner: UUID, _ code: String, notes: Int, to device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let new = try context.create("Owner")
    (new["id"], new["code"]) = (owner, code)
    for number in 0..<notes {
      let note = try context.create("Note")
      (note["id"], note["title"], note["owner"]) = (UUID(), "\(code) \(number)", new)
    }
    try context.save()
  }

  private func entries(of device: Device) throws -> Int {
    try device.replica.work.open().step.tables.entries(withPrefix: Data([UInt8(ascii: "Q")])).count
  }

  private func owners(_ device: Device) throws -> [String] {
    let context = ManagedObjectContext(device.coordinator)
    return try context.fetch(FetchRequest<ManagedObject>("Note", sortedBy: "title")).map {
      ($0["owner"] as? ManagedObject)?["code"] as? String ?? "none"
    }
  }

  private func sets(on hub: FolderHub) async throws -> [ChangeSet] {
    var sets: [ChangeSet] = []
    for entry in try await hub.entries(after: [:]) {
      if let data = try await hub.content(of: entry) { sets.append(try ChangeSet(data)) }
    }
    return sets
  }

  @Test("A reference that the row of an arriving object shows has an entry only once the row doesn't show it")
  func shown() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try devices(["a", "b"], folder)
      let id = UUID()
      try add(owner: id, "x", notes: 3, to: devices[0])
      for device in devices { try await device.replica.synchronize(with: hub) }
      #expect(try owners(devices[1]) == ["x", "x", "x"])
      #expect(try entries(of: devices[1]) == 0)
      // The owner leaves the device, as an object leaves a scope, and comes back.
      let work = devices[1].replica.work
      let (step, record, _) = try work.open()
      var joining = FactJoining(step, upTo: 0)
      try joining.forget(Identity(.uuid(id), of: "Owner"))
      _ = try work.write(joining, in: step, record)
      #expect(try owners(devices[1]) == ["none", "none", "none"])
      #expect(try entries(of: devices[1]) == 3)
      #expect(try devices[1].outdatedRows().isEmpty)
      for set in try await sets(on: hub) { _ = try work.apply([set]) }
      #expect(try owners(devices[1]) == ["x", "x", "x"])
      #expect(try devices[1].outdatedRows().isEmpty)
    }
  }

  @Test("References follow objects that become one, and that are deleted")
  func followed() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try devices(["a", "b", "c"], folder)
      try add(owner: UUID(), "x", notes: 2, to: devices[0])
      try add(owner: UUID(), "y", notes: 2, to: devices[1])
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      #expect(try owners(devices[2]) == ["x", "x", "y", "y"])
      #expect(try entries(of: devices[2]) == 0)
      func change(_ device: Device, _ body: (ManagedObjectContext, ManagedObject) throws -> Void) async throws {
        let context = ManagedObjectContext(device.coordinator)
        let owner = try context.fetch(FetchRequest<ManagedObject>("Owner", sortedBy: "code")).last
        try body(context, try #require(owner))
        try context.save()
        for device in devices + devices { try await device.replica.synchronize(with: hub) }
        for device in devices {
          #expect(try device.outdatedRows().isEmpty)
          #expect(try device.contents() == devices[0].contents())
        }
      }
      // Each of the two devices has seen only one of the owners with its new code.
      let context = ManagedObjectContext(devices[0].coordinator)
      try #require(try context.fetch(FetchRequest<ManagedObject>("Owner", sortedBy: "code")).first)["code"] = "z"
      try context.save()
      try await change(devices[1]) { $1["code"] = "z" }
      #expect(try owners(devices[2]) == ["z", "z", "z", "z"])
      try await change(devices[2]) { _, owner in owner["code"] = "w" }
      #expect(try owners(devices[1]) == ["w", "w", "w", "w"])
      try await change(devices[1]) { context, owner in context.delete(owner) }
      #expect(try owners(devices[2]) == ["none", "none", "none", "none"])
    }
  }
}
