import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Rows that are copied in slices")
struct StoreTransferTests {
  @Test("Slices are small if their rows are large, and contain every row")
  func slices() throws {
    let entities = [
      EntityDescription("Large", attributes: [.init("data", .binary)]),
      EntityDescription("Small", attributes: [.init("name", .string)]),
    ]
    try withStack(ModelDescription(entities: entities)) { stack in
      let context = stack.context()
      for _ in 0..<200 { try context.make("Large", ["data": Data(count: 300_000)]) }
      for _ in 0..<5000 { try context.make("Small") }
      try context.save()
      let transfer = StoreTransfer(context.persistentStoreCoordinator.openStores[0], to: "copy")
      var counts: [String: [Int]] = [:]
      while let slice = try transfer.next() {
        counts[slice.inserts.first?.entity.name ?? "", default: []].append(slice.inserts.count)
      }
      #expect(counts["Large"]?.reduce(0, +) == 200 && counts["Small"]?.reduce(0, +) == 5000)
      #expect(try #require(counts["Large"]?.max()) < 100, "\(counts)")
      #expect(try #require(counts["Small"]?.count) < 10, "\(counts)")
    }
  }
}
