import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// Groups of a walk that are read while the program processes the ones before.
@Suite("Walks that read ahead")
struct WalkAheadTests {
  private static let count = 3000
  private static let size = 100

  private func names(_ batch: [ManagedObject]) -> [String] { batch.map { $0["name"] as? String ?? "" } }

  @Test("Every row comes once and in order, however long the program works on a group", arguments: [0, 1, 8])
  func order(_ milliseconds: Int) throws {
    try withNumberedPeople(Self.count) { coordinator in
      var found: [String] = []
      let request = FetchRequest("Person")
      try ManagedObjectContext(coordinator).forEachBatch(of: request, size: milliseconds > 1 ? 500 : Self.size) {
        found += names($0)
        if milliseconds > 0 { Thread.sleep(forTimeInterval: Double(milliseconds) / 1000) }
      }
      #expect(found == (0..<Self.count).map(String.init))
    }
  }

  @Test(
    "A walk shows what others, or it itself, saved before it reached a group",
    arguments: [Writer.anotherContext, .sameContext, .batch])
  private func changes(_ writer: Writer) throws {
    try withNumberedPeople(Self.count) { coordinator in
      var random = SeededRandom(seed: 4711)
      let (context, other) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
      let ids = try other.fetchObjectIDs(FetchRequest("Person"))
      var expected = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { (ids[$0], "\($0)") })
      var reached = 0
      try context.forEachBatch(of: FetchRequest("Person"), size: Self.size) { batch in
        for object in batch { #expect(object["name"] as? String == expected[object.objectID]) }
        reached += batch.count
        #expect(Set(batch.map(\.objectID)).isSubset(of: expected.keys))
        // Most groups are followed by the next without a change, so that it is read ahead.
        let next = try #require(batch.last.flatMap { ids.firstIndex(of: $0.objectID) }) + 1
        guard next < Self.count - Self.size, random.next() % 3 == 0 else { return }
        let id = ids[next + Int(random.next() % UInt64(Self.size))]
        expected[id] = try writer.change(id, to: "new \(reached)", in: context, or: other)
      }
      #expect(reached == expected.count)
    }
  }

  @Test("Groups read in vain are followed by longer and longer pauses, which end with the first that is used")
  func pace() {
    var pace = ReadAheadPace()
    /// The number of groups before the next one that is read ahead.
    func pause() -> Int {
      var count = 0
      while !pace.isDue() { count += 1 }
      return count
    }
    var pauses = [pause(), pause()]
    #expect(pauses == [0, 0])
    pauses = []
    for _ in 0..<10 {
      pace.record(wasUsed: false)
      pauses.append(pause())
    }
    #expect(pauses == [0, 4, 8, 16, 32, 64, 128, 256, 256, 256])
    pace.record(wasUsed: true)
    pauses = (0..<100).map { _ in pause() }
    #expect(pauses.allSatisfy { $0 == 0 })
    pace.record(wasUsed: false)
    let first = pause()
    #expect(first == 0)
  }

  /// The origin of a change.
  private enum Writer: Sendable {
    case anotherContext, sameContext, batch

    /// Renames or deletes an object.
    ///
    /// - Returns: The new name; nil for none.
    func change(
      _ id: ManagedObjectID, to name: String, in context: ManagedObjectContext, or other: ManagedObjectContext
    ) throws -> String? {
      switch self {
      case .anotherContext:
        other.object(with: id)["name"] = name
        try other.save()
      case .sameContext:
        context.object(with: id)["name"] = name
        try context.save()
      case .batch:
        try other.execute(BatchDeleteRequest("Person", where: FetchPredicate("SELF == %@", id)))
        return nil
      }
      return name
    }
  }
}
