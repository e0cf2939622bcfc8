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
}
