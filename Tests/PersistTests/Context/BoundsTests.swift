import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Memory use follows the objects in use. Each loop runs in a separate process, so that nothing else counts; with
/// `PERSIST_LONG_TESTS` set, it processes a million objects.
@Suite("Memory bounds", .serialized, .withoutSanitizer)
struct BoundsTests {
  @Test("Objects that are created, saved and released leave nothing behind")
  func creating() async {
    await LongLoop.counting("Objects that come and go") {
      await #expect(processExitsWith: .success) { try BoundedLoop.creating() }
    }
  }

  @Test("Objects saved through a child context leave nothing behind, in it or in its parent")
  func throughChild() async {
    await LongLoop.counting("Objects that go up through a child") {
      await #expect(processExitsWith: .success) { try BoundedLoop.throughChild() }
    }
  }

  @Test("Iterating over rows keeps only one batch of them in memory")
  func walking() async {
    await LongLoop.counting("A walk") {
      await #expect(processExitsWith: .success) { try BoundedLoop.walking(inChild: false) }
    }
  }

  @Test("Iterating in a child context keeps only one batch of rows in memory, and creates none of its parent's objects")
  func walkingInChild() async {
    await LongLoop.counting("A walk in a child") {
      await #expect(processExitsWith: .success) { try BoundedLoop.walking(inChild: true) }
    }
  }
}

/// Loops that end with an error if objects or memory accumulate.
private enum BoundedLoop {
  private static let count = TestLength.isLong ? 1_000_000 : 50_000
  private static let step = 1000
  /// The maximum growth during a loop after its warm-up, whatever its length: memory kept by the allocator and by
  /// SQLite's caches.
  private static let allowance = 16 * 1024 * 1024

  private struct Excess: Error, CustomStringConvertible {
    let description: String
  }

  static func creating() throws {
    try withContext { context in
      try inConstantMemory { round in
        for index in 0..<step { try context.make("Person", ["name": "name \(round) \(index)", "salary": index]) }
        try context.save()
        try require(context.registeredObjects.isEmpty && !context.hasChanges, "objects are left")
      }
      try require(try context.count(for: FetchRequest("Person")) == count, "rows are missing")
    }
  }

  static func throughChild() throws {
    try withContext { parent in
      let child = ManagedObjectContext(parent: parent)
      try inConstantMemory { round in
        for index in 0..<step { try child.make("Person", ["name": "name \(round) \(index)"]) }
        try child.save()
        try parent.save()
        try require(child.registeredObjects.isEmpty && parent.registeredObjects.isEmpty, "objects are left")
      }
      try require(try parent.count(for: FetchRequest("Person")) == count, "rows are missing")
    }
  }

  static func walking(inChild: Bool) throws {
    try withContext { parent in
      for start in stride(from: 0, to: count, by: step) {
        for index in start..<start + step { try parent.make("Person", ["name": "name \(index)"]) }
        try parent.save()
      }
      let context = inChild ? ManagedObjectContext(parent: parent) : parent
      var (walked, alive) = (0, 0)
      let before = ResidentMemory.bytes
      try context.forEachBatch(of: FetchRequest("Person"), size: step) { batch in
        for object in batch where object["name"] as? String != nil { walked += 1 }
        alive = max(alive, context.registeredObjects.count)
        try require(!inChild || parent.registeredObjects.isEmpty, "the parent has objects")
      }
      try require(walked == count && alive <= 2 * step, "walked \(walked), alive \(alive)")
      try requireNoGrowth(since: before)
    }
  }

  private static func withContext(_ body: (ManagedObjectContext) throws -> Void) throws {
    TestRun.endWithParent()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addStore(at: url)
      try body(ManagedObjectContext(coordinator))
    }
  }

  /// Runs the rounds of a loop, and measures after the first tenth of them, which fills the caches.
  private static func inConstantMemory(_ round: (Int) throws -> Void) throws {
    let rounds = count / step
    var before = ResidentMemory.bytes
    for index in 0..<rounds {
      try round(index)
      if index == rounds / 10 { before = ResidentMemory.bytes }
    }
    try requireNoGrowth(since: before)
  }

  private static func requireNoGrowth(since before: Int?) throws {
    guard let before, let after = ResidentMemory.bytes else { return }
    try require(after - before < allowance, "memory grew by \((after - before) / 1024) KiB")
  }

  private static func require(_ condition: Bool, _ excess: String) throws {
    if !condition { throw Excess(description: excess) }
  }
}
