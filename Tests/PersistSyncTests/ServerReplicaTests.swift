import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: stores of both engines")
struct ServerReplicaTests {
  /// Sends what each device has to all others.
  private func exchange(_ devices: [Device]) throws {
    for (index, device) in devices.enumerated() {
      let record = try device.replica.work.capture().record
      let unsent = try device.replica.work.unsent()
      for (place, other) in devices.enumerated() where place != index {
        for digest in try other.replica.work.missingParts(unsent.flatMap(\.parts)) {
          if let part = try device.replica.work.part(digest) { try other.replica.work.addPart(part) }
        }
        _ = try other.replica.work.apply(unsent.map { try ChangeSet($0.data) })
      }
      try device.replica.work.removeSent(unsent.map(\.number), of: record.id)
    }
  }

  // With PERSIST_TEST_ENGINE=postgresql, one of the stores is on a server.
  @Test("A store on a server and one in a file become equal")
  func engines() throws {
    try withTemporaryStore { url in
      try withTemporaryFolder { folder in
        let model = try ManagedObjectModel(SyncModel.description)
        let devices = try [url, folder.appendingPathComponent("file.sqlite")].map {
          try Device($0, model, identifiedBy: SyncModel.identifiers)
        }
        for (number, device) in devices.enumerated() {
          let context = ManagedObjectContext(device.coordinator)
          let (box, tag) = (try context.create("Box"), try context.create("Tag"))
          (box["label"], tag["label"], tag["color"]) = ("box \(number)", "same", "c\(number)")
          for name in ["a", "b"] {
            let item = try context.create("Item")
            (item["id"], item["name"], item["box"]) = (UUID(), "\(name) \(number)", box)
            (item["photo"], item["price"]) = (Data(count: 200_000 * number), 2.5 as Decimal)
            try item.many("tags").insert(tag)
          }
          try context.save()
        }
        for _ in 0..<2 { try exchange(devices) }
        #expect(try devices[0].contents() == devices[1].contents())
        #expect(try devices[0].contents().count == 7)
        for device in devices {
          let context = ManagedObjectContext(device.coordinator)
          let boxes = try context.fetch(FetchRequest<ManagedObject>("Box", sortedBy: "label"))
          let items = try boxes[0].many("items")
          items.insert(items[1], at: 0)
          context.delete(boxes[1])
          try context.save()
        }
        for _ in 0..<2 { try exchange(devices) }
        #expect(try devices[0].contents() == devices[1].contents())
        #expect(try devices[0].contents().count == 6)
        for device in devices { try device.close() }
      }
    }
  }

  @Test("Texts that a server can't hold reach all files, and remain there whatever the server changes")
  func nullCharacters() throws {
    try withTemporaryStore { url in
      try withTemporaryFolder { folder in
        let model = try ManagedObjectModel(SyncModel.description)
        let places = [url] + ["a", "b"].map { folder.appendingPathComponent("\($0).sqlite") }
        let devices = try places.map { try Device($0, model, identifiedBy: SyncModel.identifiers) }
        func items(_ device: Device) throws -> [ManagedObject] {
          try ManagedObjectContext(device.coordinator).fetch(FetchRequest<ManagedObject>("Item", sortedBy: "when"))
        }
        let context = ManagedObjectContext(devices[1].coordinator)
        let names = ["\u{0}", "a\u{0}b", "plain"]
        for (number, name) in names.enumerated() {
          let item = try context.create("Item")
          let box = try context.create("Box")
          (item["id"], item["name"], item["box"]) = (UUID(), name, box)
          item["when"] = Date(timeIntervalSinceReferenceDate: Double(number))
          box["label"] = name
          box["size"] = ["unit": name, "width": 1]
        }
        try context.save()
        for _ in 0..<2 { try exchange(devices) }
        #expect(try items(devices[2]).map { $0["name"] as? String } == names)
        #expect(try devices[1].contents() == devices[2].contents())
        let isServer = !url.isFileURL
        #expect(try items(devices[0]).map { $0["name"] as? String } == (isServer ? ["new", "new", "plain"] : names))
        // A change of another value doesn't send those that the server shows instead.
        let server = ManagedObjectContext(devices[0].coordinator)
        for item in try server.fetch(FetchRequest<ManagedObject>("Item")) { item["flag"] = true }
        try server.save()
        for _ in 0..<2 { try exchange(devices) }
        for device in devices[1...] {
          #expect(try items(device).map { $0["name"] as? String } == names)
          #expect(try items(device).allSatisfy { $0["flag"] as? Bool == true })
        }
        // The last value counts, also for the server.
        for item in try context.fetch(FetchRequest<ManagedObject>("Item")) { item["name"] = "later" }
        try context.save()
        for _ in 0..<2 { try exchange(devices) }
        for device in devices { #expect(try items(device).allSatisfy { $0["name"] as? String == "later" }) }
        for device in devices { try device.close() }
      }
    }
  }
}
