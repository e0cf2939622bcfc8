import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// Cases that exchanging transactions of the history didn't get right.
@Suite("Synchronization: single cases")
struct SyncCaseTests {
  private func model(unique: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Note", attributes: [.init("id", .uuid), .init("title", .string), .init("color", .string)],
          uniquenessConstraints: unique ? [["title"]] : [])
      ]))
  }

  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for _ in 0..<2 {
      for device in devices { #expect(try await device.replica.synchronize(with: hub).refused.isEmpty) }
    }
  }

  private func add(_ title: String, _ color: String = "red", to device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    let note = try context.create("Note")
    (note["id"], note["title"], note["color"]) = (UUID(), title, color)
    try context.save()
  }

  @Test("Objects from before the history arrive")
  func existing() async throws {
    try await withTemporaryFolder { folder in
      let model = try model()
      do {
        let first = PersistentStoreCoordinator(model: model)
        try first.addStore(at: folder.appendingPathComponent("a.sqlite"))
        let context = ManagedObjectContext(first)
        for number in 0..<3 {
          let note = try context.create("Note")
          (note["id"], note["title"]) = (UUID(), "Old \(number)")
        }
        try context.save()
        for store in first.persistentStores { try first.remove(store) }
      }
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "id"])
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      try context.fetch(FetchRequest<ManagedObject>("Note"))[0]["title"] = "Edited"
      try context.save()
      try await synchronize(devices, FolderHub(folder.appendingPathComponent("hub")))
      #expect(try devices[0].contents().count == 3)
      #expect(try devices[0].contents() == devices[1].contents())
    }
  }

  @Test("Copies of one store are replicas of their own, and agree on the objects that they share")
  func copies() async throws {
    try await withTemporaryFolder { folder in
      let model = try model()
      let seed = try Device(folder.appendingPathComponent("seed.sqlite"), model, identifiedBy: [:])
      try add("Shared", to: seed)
      try seed.close()
      for name in ["a", "b"] { try seed.copyFiles(to: folder.appendingPathComponent("\(name).sqlite")) }
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: [:])
      }
      for (number, device) in devices.enumerated() { try add("From \(number)", to: device) }
      try await synchronize(devices, FolderHub(folder.appendingPathComponent("hub")))
      #expect(try devices[0].contents().count == 3)
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try await devices[0].replica.identifier() != devices[1].replica.identifier())
    }
  }

  @Test("An object that is deleted and created again is the same object everywhere")
  func recreated() async throws {
    try await withTemporaryFolder { folder in
      let model = try model()
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "title"])
      }
      try add("swift", "first", to: devices[0])
      try await synchronize(devices, hub)
      let context = ManagedObjectContext(devices[0].coordinator)
      context.delete(try context.fetch(FetchRequest<ManagedObject>("Note"))[0])
      let second = try context.create("Note")
      (second["title"], second["color"]) = ("swift", "second")
      try context.save()
      try await synchronize(devices, hub)
      #expect(try devices[1].contents() == devices[0].contents())
      second["color"] = "edited"
      try context.save()
      try await synchronize(devices, hub)
      #expect(try devices[1].contents() == ["Note color=edited id=nil title=swift | "])
    }
  }

  @Test("Objects with the same unique value become one, and stay one when it is changed or deleted")
  func unique() async throws {
    try await withTemporaryFolder { folder in
      let model = try model(unique: true)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "id"])
      }
      for (number, device) in devices.enumerated() {
        try add("Family", number == 0 ? "red" : "blue", to: device)
        try add("Only \(number)", to: device)
      }
      try await synchronize(devices, hub)
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try devices[0].contents().count == 3)
      #expect(try devices[0].contents().contains { $0.contains("blue") && $0.contains("Family") })
      let context = ManagedObjectContext(devices[0].coordinator)
      let family = try context.fetch(FetchRequest<ManagedObject>("Note", where: "title == 'Family'"))
      family[0]["title"] = "Home"
      try context.save()
      try await synchronize(devices, hub)
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try devices[1].contents().count == 3)
      context.delete(family[0])
      try context.save()
      try await synchronize(devices, hub)
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try devices[1].contents().count == 2)
    }
  }

  @Test("The value that was set last wins, and a synchronization without changes sends nothing")
  func last() async throws {
    try await withTemporaryFolder { folder in
      let model = try model()
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "id"])
      }
      try add("Tea", to: devices[0])
      try await synchronize(devices, hub)
      for (number, device) in devices.enumerated().reversed() {
        let context = ManagedObjectContext(device.coordinator)
        try context.fetch(FetchRequest<ManagedObject>("Note"))[0]["title"] = "Tea \(number)"
        try context.save()
      }
      try await synchronize(devices, hub)
      for device in devices { #expect(try device.contents().allSatisfy { $0.contains("title=Tea 0") }) }
      let report = try await devices[0].replica.synchronize(with: hub)
      #expect(report.sent == 0 && report.received == 0)
    }
  }

  @Test("A clock that was wrong by years and has been corrected doesn't win any longer")
  func clock() async throws {
    try await withTemporaryFolder { folder in
      let model = try model()
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let url = folder.appendingPathComponent("a.sqlite")
      let wrong = try Device(url, model, identifiedBy: ["Note": "id"], offset: 10 * 365 * 86_400)
      let right = try Device(folder.appendingPathComponent("b.sqlite"), model, identifiedBy: ["Note": "id"])
      try add("Old", to: wrong)
      try await synchronize([wrong, right], hub)
      try add("Tea", to: right)
      try await synchronize([wrong, right], hub)
      try wrong.close()
      let corrected = try Device(url, model, identifiedBy: ["Note": "id"])
      for (device, color) in [(corrected, "early"), (right, "late")] {
        let context = ManagedObjectContext(device.coordinator)
        try context.fetch(FetchRequest<ManagedObject>("Note", where: "title == 'Tea'"))[0]["color"] = color
        try context.save()
      }
      try await synchronize([corrected, right], hub)
      for device in [corrected, right] {
        #expect(try device.contents().contains { $0.contains("color=late") && $0.contains("Tea") })
      }
    }
  }

  @Test("A unique value that is set again wins, whichever of the common objects had it first")
  func uniqueValueAgain() async throws {
    try await withTemporaryFolder { folder in
      let model = try model(unique: true)
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "id"])
      }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for device in devices { try add("Tea", to: device) }
      try await synchronize(devices, hub)
      for (step, title) in ["Coffee", "Tea", "Milk", "Coffee"].enumerated() {
        let context = ManagedObjectContext(devices[step % 2].coordinator)
        try #require(context.fetch(FetchRequest<ManagedObject>("Note")).first)["title"] = title
        try context.save()
        try await synchronize(devices, hub)
        for device in devices {
          #expect(try device.outdatedRows().isEmpty)
          #expect(try device.contents().count == 1)
          #expect(try device.contents().first?.contains("title=\(title)") == true)
        }
      }
    }
  }

  @Test("References that wait for an object survive a purge of the history")
  func waitingReferences() throws {
    try withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      let (box, tag) = (try context.create("Box"), try context.create("Tag"))
      (box["label"], tag["label"]) = ("box", "t")
      try context.save()
      _ = try devices[0].replica.work.capture()
      let item = try context.create("Item")
      (item["id"], item["name"], item["box"]) = (UUID(), "n", box)
      try item.many("tags").insert(tag)
      try context.save()
      _ = try devices[0].replica.work.capture()
      let sets = try devices[0].replica.work.unsent().map { try ChangeSet($0.data) }
      #expect(sets.count == 2)
      // The item arrives before its box.
      _ = try devices[1].replica.work.apply([sets[1]])
      #expect(try devices[1].contents().count == 1)
      let other = ManagedObjectContext(devices[1].coordinator)
      try other.create("Box")["label"] = "own"
      try other.save()
      try devices[1].coordinator.purgeHistory(HistoryPurge(keepingAtMost: 0))
      try other.create("Box")["label"] = "another"
      try other.save()
      _ = try devices[1].replica.work.apply([sets[0]])
      #expect(try devices[1].outdatedRows().isEmpty)
      let text = try #require(devices[1].contents().first { $0.hasPrefix("Item") })
      #expect(text.contains("box: label=box") && text.contains("label=t"))
    }
  }

  @Test("One fact is left of a deleted object, wherever and whenever its other facts arrive")
  func tombstones() throws {
    try withTemporaryFolder { folder in
      let model = try model()
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["Note": "id"])
      }
      try add("Tea", to: devices[0])
      _ = try devices[0].replica.work.capture()
      let context = ManagedObjectContext(devices[0].coordinator)
      try context.fetch(FetchRequest<ManagedObject>("Note")).forEach(context.delete)
      try context.save()
      _ = try devices[0].replica.work.capture()
      let sets = try devices[0].replica.work.unsent().map { try ChangeSet($0.data) }
      for set in sets + [sets[0]] + sets.reversed() { _ = try devices[1].replica.work.apply([set]) }
      for device in devices {
        let facts = try device.replica.work.open().step.tables.entries(withPrefix: Data([FactKey.objectMark]))
        #expect(facts.count == 1)
        #expect(try device.contents().isEmpty)
        #expect(try device.outdatedRows().isEmpty)
      }
    }
  }
}
