import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: unique values")
struct UniquenessTests {
  /// Lists with unique names, and notes with titles that are unique among the present ones of their list.
  private static func model() throws -> ManagedObjectModel {
    var note = EntityDescription(
      "Note", attributes: [.init("title", .string), .init("text", .string), .init("gone", .date)],
      relationships: [.init("list", to: "List", inverse: "notes")], uniquenessConstraints: [["list", "title"]])
    note.uniquenessConditions = [["list", "title"]: [.isNil("gone")]]
    let list = EntityDescription(
      "List", attributes: [.init("name", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "list")], uniquenessConstraints: [["name"]])
    return try ManagedObjectModel(ModelDescription(entities: [list, note]))
  }

  private func devices(_ folder: URL) throws -> [Device] {
    let model = try Self.model()
    return try ["a", "b"].map {
      try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: [:])
    }
  }

  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for device in devices + devices { #expect(try await device.replica.synchronize(with: hub).refused.isEmpty) }
    #expect(try devices[0].contents() == devices[1].contents())
    for device in devices { #expect(try device.outdatedRows().isEmpty) }
  }

  @Test("Objects whose unique values are references become one if the objects that they refer to do")
  func references() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try devices(folder)
      for (device, text) in zip(devices, ["one", "two"]) {
        let context = ManagedObjectContext(device.coordinator)
        let list = try context.create("List")
        list["name"] = "Groceries"
        let note = try context.create("Note")
        (note["title"], note["text"], note["list"]) = ("Milk", text, list)
        try context.save()
      }
      try await synchronize(devices, hub)
      #expect(try devices[0].contents().count == 2)
      let context = ManagedObjectContext(devices[0].coordinator)
      let lists = try context.fetch(FetchRequest<ManagedObject>("List"))
      #expect(lists.count == 1)
      #expect(try lists[0].many("notes").map { $0["title"] as? String } == ["Milk"])
    }
  }

  @Test("A condition excludes objects from a constraint, until they meet it")
  func conditions() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try devices(folder)
      let context = ManagedObjectContext(devices[0].coordinator)
      try context.create("List")["name"] = "Groceries"
      try context.save()
      try await synchronize(devices, hub)
      for (device, gone) in zip(devices, [nil, Date(timeIntervalSinceReferenceDate: 5)]) {
        let context = ManagedObjectContext(device.coordinator)
        let note = try context.create("Note")
        (note["title"], note["gone"]) = ("Milk", gone)
        note["list"] = try context.fetch(FetchRequest<ManagedObject>("List")).first
        try context.save()
      }
      try await synchronize(devices, hub)
      #expect(try devices[0].contents().count == 3)
      let other = ManagedObjectContext(devices[1].coordinator)
      let notes = try other.fetch(FetchRequest<ManagedObject>("Note"))
      // One device deletes the present note for good, while the other gives it back.
      let present = try #require(notes.first { $0["gone"] == nil })
      present["title"] = "Oat milk"
      try #require(notes.first { $0["gone"] != nil })["gone"] = nil
      try other.save()
      let third = ManagedObjectContext(devices[0].coordinator)
      let tea = try third.create("Note")
      tea["title"] = "Oat milk"
      tea["list"] = try third.fetch(FetchRequest<ManagedObject>("List")).first
      try third.save()
      try await synchronize(devices, hub)
      #expect(try devices[0].contents().filter { $0.contains("Oat milk") && $0.hasPrefix("Note") }.count == 1)
      #expect(try devices[0].contents().count == 3)
    }
  }

  @Test("A constraint over a derived attribute is refused by name")
  func derived() throws {
    try withTemporaryFolder { folder in
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "User", attributes: [.init("name", .string), .init("upper", .string, derivation: "uppercase:(name)")],
            uniquenessConstraints: [["upper"]])
        ]))
      let error = #expect(throws: PersistenceError.self) {
        try Device(folder.appendingPathComponent("a.sqlite"), model, identifiedBy: [:])
      }
      #expect(error?.code == .invalidRequest && error?.message.contains("upper") == true)
    }
  }
}
