import Foundation
import PersistTestSupport
import PersistTools
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

  private struct Failure: Error {}

  @Test("Slices read ahead are those read one by one, whichever side is slower", arguments: [false, true])
  func readingAhead(_ isSlow: Bool) throws {
    try withStack(GrowthOperation.model) { stack in
      let context = stack.context()
      for _ in 0..<3000 { try context.make("Item") }
      try context.save()
      let store = context.persistentStoreCoordinator.openStores[0]
      var (expected, found): ([[Int64]], [[Int64]]) = ([], [])
      func keys(_ slice: ImportSlice) -> [Int64] {
        slice.inserts.compactMap { if case .permanent(let key) = $0.key { key } else { nil } }
      }
      let transfer = StoreTransfer(store, to: "copy")
      let start = stack.store.store.statementCount
      while let slice = try transfer.next() { expected.append(keys(slice)) }
      let all = stack.store.store.statementCount - start
      try StoreTransfer(store, to: "copy").readingAhead { next in
        while let slice = try next() {
          if isSlow { Thread.sleep(forTimeInterval: 0.005) }
          found.append(keys(slice))
        }
      }
      #expect(found == expected && expected.count > 3)
      // Whoever inserts may fail: the slices that are ahead are few, and nothing reads the store afterward.
      let before = stack.store.store.statementCount
      #expect(throws: Failure.self) {
        try StoreTransfer(store, to: "copy").readingAhead { next in
          _ = try next()
          throw Failure()
        }
      }
      let after = stack.store.store.statementCount
      Thread.sleep(forTimeInterval: 0.02)
      #expect(stack.store.store.statementCount == after && after - before < all)
    }
  }
}
