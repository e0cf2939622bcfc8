import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Synchronization
import Testing

/// The waits of programs that read and write without a pause, for measurements on a quiet machine:
///
/// ```sh
/// PERSIST_LONG_TESTS=1 PERSIST_ONLINE_ROWS=100000 swift test --filter OnlineWaitTests
/// ```
@Suite("Waits during online migrations", .needsServer, .serialized, .onOwnThread)
struct OnlineWaitTests {
  @Test(
    "Programs go on reading and writing through each transition, and the longest waits are printed",
    .enabled(if: TestLength.isLong, "Measures waits, with PERSIST_LONG_TESTS."))
  func waits() throws {
    let count = ProcessInfo.processInfo.environment["PERSIST_ONLINE_ROWS"].flatMap(Int.init) ?? 20_000
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new(isRetyped: true, isSingle: true))
      let first = try OnlineProgram(old, url)
      for start in stride(from: 0, to: count, by: 5000) {
        let tags = try (0..<10).map { try first.insert("Tag", ["label": "Tag \(start + $0)"]) }
        for number in start..<min(start + 5000, count) {
          let item = try first.insert("Item", ["name": "Item \(number)", "count": number])
          item["tags"] = RelationshipSet([tags[number % 10]])
        }
        try first.save()
        first.context.reset()
      }
      try first.close()
      let migration = OnlineMigration(storeAt: url)
      let load = WaitingLoad(url, rows: count)
      load.start(old, attribute: "colour")
      load.measure("before", for: 3)
      try load.measure("expand") { try migration.expand(to: new) }
      try load.measure("abort") { try migration.abort() }
      try load.measure("expand again") { try migration.expand(to: new) }
      try load.measure("backfill") { try migration.backfill() }
      load.start(new, attribute: "state")
      load.measure("serving", for: 3)
      load.end(old)
      try load.measure("contract") { try migration.contract() }
      load.measure("after", for: 3)
      load.end(new)
      let errors = load.errors
      #expect(errors.isEmpty, "\(errors)")
      try #expect(migration.status().state == .none)
      print("Waits in ms with \(count) rows, two readers and two writers of each version:")
      for (name, phase) in load.phases {
        print(
          "  \(name), \(phase.seconds.formatted(.number.precision(.fractionLength(2)))) s: longest read "
            + "\(phase.read), write \(phase.write); \(phase.reads) reads, \(phase.writes) writes")
      }
    }
  }
}

/// Threads that read and write, each with a program of its own, and the longest times that it took.
final class WaitingLoad: Sendable {
  struct Phase {
    var read = 0
    var write = 0
    var reads = 0
    var writes = 0
    var seconds = 0.0
  }

  private struct State {
    var phases: [(name: String, phase: Phase)] = []
    var current = Phase()
    var running: Set<String> = []
    var errors: [String] = []
  }

  private let url: URL
  private let rows: Int
  private let state = Mutex(State())
  private let group = DispatchGroup()

  init(_ url: URL, rows: Int) { (self.url, self.rows) = (url, rows) }

  var phases: [(name: String, phase: Phase)] { state.withLock { $0.phases } }
  var errors: [String] { state.withLock { $0.errors } }

  /// Starts two readers and two writers.
  func start(_ version: ModelVersion, attribute: String) {
    state.withLock { _ = $0.running.insert(version.name) }
    for number in 0..<4 {
      group.enter()
      Thread.detachNewThread { [self] in
        defer { group.leave() }
        do {
          let program = try OnlineProgram(version, url)
          var numbers = SeededRandom(seed: UInt64(number + 1))
          while state.withLock({ $0.running.contains(version.name) }) {
            let start = ContinuousClock.now
            program.context.reset()
            var request = FetchRequest("Item")
            request.fetchLimit = number < 2 ? 20 : 1
            request.fetchOffset = Int.random(in: 0..<max(1, min(rows, 1000) - 20), using: &numbers)
            let items = try program.context.fetch(request)
            if number >= 2 {
              items.first?[attribute] = "value \(Int.random(in: 0..<1000, using: &numbers))"
              do { try program.save() } catch let error as PersistenceError where error.code == .mergeConflict {
                program.context.rollback()
              }
            }
            record(Int((ContinuousClock.now - start) / .milliseconds(1)), isWrite: number >= 2)
          }
          try program.close()
        } catch {
          state.withLock { $0.errors.append("\(version.name): \(error)") }
        }
      }
    }
  }

  private func record(_ milliseconds: Int, isWrite: Bool) {
    state.withLock { state in
      if isWrite {
        state.current.write = max(state.current.write, milliseconds)
        state.current.writes += 1
      } else {
        state.current.read = max(state.current.read, milliseconds)
        state.current.reads += 1
      }
    }
  }

  func measure(_ name: String, for seconds: Double) {
    measure(name) { Thread.sleep(forTimeInterval: seconds) }
  }

  /// Counts the reads and writes that end while `body` runs, or that it has delayed.
  func measure(_ name: String, _ body: () throws -> Void) rethrows {
    state.withLock { $0.current = Phase() }
    let start = ContinuousClock.now
    try body()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    Thread.sleep(forTimeInterval: 0.3)
    state.withLock { state in
      state.current.seconds = seconds
      state.phases.append((name, state.current))
    }
  }

  /// Ends the programs of a version; with the last one, waits for all of them.
  func end(_ version: ModelVersion) {
    let isLast = state.withLock { state in
      state.running.remove(version.name)
      return state.running.isEmpty
    }
    if isLast { group.wait() } else { Thread.sleep(forTimeInterval: 1) }
  }
}
