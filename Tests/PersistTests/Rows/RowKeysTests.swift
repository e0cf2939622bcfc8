import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Keys of results")
struct RowKeysTests {
  @Test("Keys and entities are returned unchanged, however far apart they are", .law("row-keys", short: 60, long: 4000))
  func contents() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let ranges: [ClosedRange<Int64>] = [1...20_000, .min ... .max, 1...Int64(UInt32.max), -5...5]
      var (keys, expected): (RowKeys, [(Int64, Int)]) = (RowKeys(), [])
      var range = ranges[0]
      for index in 0..<Int.random(in: 0...30_000, using: &random) {
        if index.isMultiple(of: 5000) { range = ranges.randomElement(using: &random) ?? range }
        let key = Int64.random(in: range, using: &random)
        let entity = index < 9000 ? 3 : Int.random(in: 0...4, using: &random)
        keys.append(key, entityIndex: UInt32(entity))
        expected.append((key, entity))
      }
      #expect(keys.count == expected.count)
      for index in expected.indices where keys[index] != expected[index] {
        Issue.record("\(index): \(keys[index]), not \(expected[index])")
        break
      }
      let omitted = Set(expected.prefix(100).map(\.0))
      let rest = keys.replacing(omitted, with: [])
      #expect((0..<rest.count).map { rest[$0].key } == expected.map(\.0).filter { !omitted.contains($0) })
    }
  }

  @Test("Keys replace others in ascending order, before the negative keys of a parent's new objects")
  func replacement() {
    var keys = RowKeys()
    for key in [2, 4, 6, 8, -3, -1] as [Int64] { keys.append(key, entityIndex: 1) }
    let replaced = keys.replacing([4, 8], with: [(1, 2), (4, 2), (5, 2), (9, 2)])
    #expect((0..<replaced.count).map { replaced[$0].key } == [1, 2, 4, 5, 6, 9, -3, -1])
    #expect((0..<replaced.count).map { replaced[$0].entityIndex } == [2, 1, 2, 2, 1, 2, 1, 1])
  }

  @Test("Ten million keys of one table take four bytes each")
  func memory() {
    var keys = RowKeys()
    for key in 0..<200_000 { keys.append(Int64((key * 7919) % 10_000_000), entityIndex: 1) }
    #expect(keys.byteCount < 200_000 * 4 + 100_000, "\(keys.byteCount)")
  }

  @Test("Consecutive keys take almost no memory, and are returned unchanged")
  func runs() {
    var keys = RowKeys()
    for key in 0..<100_000 { keys.append(Int64(key) + 5_000_000_000, entityIndex: 1) }
    #expect(keys.byteCount < 100_000, "\(keys.byteCount)")
    #expect((0..<100_000).allSatisfy { keys[$0].key == Int64($0) + 5_000_000_000 })
  }

  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item", attributes: [AttributeDescription("name", .string), AttributeDescription("rank", .int64)],
      indexes: [FetchIndexDescription("byRank", on: "rank")]),
    EntityDescription("Special", parent: "Item"),
  ])

  @Test("A batched fetch has the same results as a fetch, with offsets, limits, subentities and unsaved changes")
  func batched() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for number in 0..<300 {
        try context.make(number % 3 == 0 ? "Special" : "Item", ["name": "\(number)", "rank": (number * 37) % 300])
      }
      try context.save()
      let fresh = stack.context()
      func compare(_ request: FetchRequest<ManagedObject>) throws {
        var request = request
        request.fetchBatchSize = 7
        let results = try fresh.fetchBatched(request)
        let expected = try fresh.fetch(request)
        #expect(results.objectIDs == expected.map(\.objectID) && results.count == expected.count)
        #expect(zip(results, expected).allSatisfy { $0 === $1 })
        var walked: [ManagedObject] = []
        try fresh.forEachBatch(of: request, size: 11) { walked += $0 }
        #expect(walked == expected)
      }
      for changes in [false, true] {
        if changes {
          let some = try fresh.fetch(try FetchRequest("Item", where: "rank < 5"))
          fresh.delete(some[0])
          some[1]["rank"] = 250
          try fresh.make("Item", ["name": "new", "rank": 7])
        }
        try compare(FetchRequest("Item", sortedBy: "rank"))
        try compare(FetchRequest("Special", sortedBy: "rank"))
        try compare(FetchRequest("Item", where: "rank > 100"))
        var page = FetchRequest("Item", sortedBy: "rank", isAscending: false)
        (page.fetchOffset, page.fetchLimit) = (10, 40)
        try compare(page)
        page.fetchOffset = 290
        try compare(page)
        try compare(FetchRequest("Item", where: "rank > 100", limit: 20, offset: 3))
      }
    }
  }
}
