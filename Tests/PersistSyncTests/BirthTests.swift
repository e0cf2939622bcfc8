import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: the first one")
struct BirthTests {
  private func device(_ name: String, _ folder: URL) throws -> Device {
    try Device(
      folder.appendingPathComponent("\(name).sqlite"), ManagedObjectModel(SyncModel.description),
      identifiedBy: SyncModel.identifiers)
  }

  /// Boxes with items, tags in orders, and stickers without an inverse.
  private func fill(_ device: Device, _ count: Int) throws {
    let context = ManagedObjectContext(device.coordinator)
    let boxes = try (0..<3).map { number in
      let box = try context.create("Box")
      box["label"] = "box \(number)"
      return box
    }
    let tags = try (0..<5).map { number in
      let tag = try context.create("Tag")
      tag["label"] = "tag \(number)"
      return tag
    }
    var last: ManagedObject?
    for number in 0..<count {
      let item = try context.create(number % 3 == 0 ? "Part" : "Item")
      if number % 2 == 1 { item["partner"] = last }
      last = item
      (item["id"], item["name"], item["box"]) = (UUID(), "n\(number)", boxes[number % 3])
      if number % 10 == 0 {
        let sticker = try context.create("Sticker")
        (sticker["text"], sticker["shape"]) = ("\(number)", "round")
        try item.many("stickers").insert(sticker)
        try item.many("tags").insert(tags[number / 10 % 5])
      }
    }
    try context.save()
  }

  @Test("A store with many objects begins in steps that can be interrupted, and loses nothing that is saved meanwhile")
  func steps() async throws {
    try await withTemporaryFolder { folder in
      let device = try device("a", folder)
      try fill(device, 4500)
      var history: CapturePass.BirthHistory?
      var steps = 0
      var changes: [String: String] = [:]
      while try device.replica.work.bearNext(&history) != nil {
        steps += 1
        // Rows that have been reached and others are changed, inserted and deleted between the steps.
        let context = ManagedObjectContext(device.coordinator)
        let items = try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name"))
        for place in [steps, items.count / 2, items.count - steps] {
          items[place]["name"] = "changed \(steps)"
          changes["\(items[place]["id"] ?? "")"] = "changed \(steps)"
        }
        context.delete(items[20 * steps])
        changes["\(items[20 * steps]["id"] ?? "")"] = nil
        let new = try context.create("Item")
        let id = UUID()
        (new["id"], new["name"], new["box"]) = (id, "new", items[1]["box"])
        changes["\(id)"] = "new"
        items[3]["partner"] = new
        try context.save()
        // A program that was ended knows nothing of the history.
        if steps % 2 == 0 {
          history = nil
          try device.reopen()
        }
      }
      #expect(steps >= 5)
      #expect(try device.outdatedRows().isEmpty)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let other = try self.device("b", folder)
      for device in [device, other] { try await device.replica.synchronize(with: hub) }
      let (contents, others) = (Set(try device.contents()), Set(try other.contents()))
      #expect(contents.subtracting(others).count == 0 && others.subtracting(contents).count == 0)
      let context = ManagedObjectContext(other.coordinator)
      for item in try context.fetch(FetchRequest<ManagedObject>("Item")) {
        if let name = changes["\(item["id"] ?? "")"] { #expect(item["name"] as? String == name) }
      }
      // What was saved between the steps is later than anything from before.
      let unsent = try await hub.entries(after: [:])
      #expect(unsent.count >= 4)
    }
  }

  @Test("A reference to a deleted row becomes nil, and other rows of later steps keep their values")
  func dangling() async throws {
    try await withTemporaryFolder { folder in
      let device = try device("a", folder)
      let context = ManagedObjectContext(device.coordinator)
      let item = try context.create("Item")
      item["id"] = UUID()
      for number in 0..<2100 {
        let (box, lid) = (try context.create("Box"), try context.create("Lid"))
        (box["label"], box["lid"], lid["color"]) = ("\(number)", lid, "c\(number)")
        if number % 700 == 0 { box["first"] = item }
      }
      try context.save()
      context.delete(item)
      try context.save()
      let former = try device.contents().filter { $0.hasPrefix("Lid") }
      #expect(former.count == 2100 && former.contains { $0.contains("color=c0 ") })
      let other = try self.device("b", folder)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for device in [device, other] { try await device.replica.synchronize(with: hub) }
      #expect(try device.outdatedRows().isEmpty)
      #expect(try device.contents().filter { $0.hasPrefix("Lid") } == former)
      #expect(try device.contents() == other.contents())
    }
  }

  @Test("Copies whose first synchronizations take several steps agree on their objects")
  func copies() async throws {
    try await withTemporaryFolder { folder in
      let first = try device("a", folder)
      try fill(first, 2500)
      try first.close()
      let url = folder.appendingPathComponent("b.sqlite")
      try first.copyFiles(to: url)
      try first.reopen()
      let second = try device("b", folder)
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for device in [first, second, first] { try await device.replica.synchronize(with: hub) }
      #expect(try first.contents() == second.contents())
      #expect(try first.contents().count == 3 + 5 + 2500 + 250)
    }
  }
}
