import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Several processes write one store, and others follow them, through its history and by the news of remote changes.
@Suite("History: several processes", .serialized, .onOwnThread)
struct HistoryProcessTests {
  private func start(_ arguments: String...) throws -> Process {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("HistoryRunner")
    process.arguments = arguments
    try process.run()
    return process
  }

  @Test(
    "Five writers and two followers that are killed and started again end with the same objects",
    .law("history-processes", short: 1, long: 1))
  func following() throws {
    forEachSeed { seed in
      do {
        try withTemporaryFolder { folder in try follow(seed, folder) }
      } catch {
        Issue.record(error)
      }
    }
  }

  private func follow(_ seed: UInt64, _ folder: URL) throws {
    var random = SeededRandom(seed: seed)
    let store = folder.appendingPathComponent("store.sqlite")
    // Created here: who is killed while it creates a store leaves none.
    let coordinator = try FollowedStore.open(store)
    let (stopWriting, stop) = (folder.path + "/stop-writing", folder.path + "/stop")
    let states = (0..<2).map { folder.appendingPathComponent("follower \($0).json") }
    func startWriter(_ index: Int) throws -> Process {
      try start(store.path, "write", "writer \(index)", "\(UInt64.random(in: 0...UInt64.max, using: &random))", stopWriting)
    }
    func startFollower(_ index: Int) throws -> Process { try start(store.path, "follow", states[index].path, stop) }
    var writers = try (0..<5).map(startWriter)
    var followers = try (0..<2).map(startFollower)
    defer {
      for process in writers + followers where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    func expectAlive(_ process: Process, _ name: String) {
      // One that has ended has failed: only this test kills.
      #expect(process.isRunning, "A \(name) ended with \(process.terminationStatus).")
    }
    let end = ContinuousClock.now + .seconds(TestLength.isLong ? 180 : 4)
    var kills = 0
    while ContinuousClock.now < end {
      Thread.sleep(forTimeInterval: Double.random(in: 0.1..<0.6, using: &random))
      if Bool.random(using: &random) {
        let index = Int.random(in: 0..<5, using: &random)
        expectAlive(writers[index], "writer")
        kill(writers[index].processIdentifier, SIGKILL)
        writers[index].waitUntilExit()
        writers[index] = try startWriter(index)
      } else {
        let index = Int.random(in: 0..<2, using: &random)
        expectAlive(followers[index], "follower")
        kill(followers[index].processIdentifier, SIGKILL)
        followers[index].waitUntilExit()
        followers[index] = try startFollower(index)
      }
      kills += 1
    }
    try Data().write(to: URL(fileURLWithPath: stopWriting))
    for writer in writers {
      writer.waitUntilExit()
      #expect(writer.terminationStatus == 0)
    }
    try Data().write(to: URL(fileURLWithPath: stop))
    for follower in followers {
      follower.waitUntilExit()
      #expect(follower.terminationStatus == 0)
    }
    let contents = try FollowedStore.contents(coordinator)
    let transactions = try coordinator.transactions()
    #expect(Set(transactions.compactMap(\.author)) == Set((0..<5).map { "writer \($0)" }))
    #expect(transactions.allSatisfy { $0.changes?.isEmpty == false })
    for state in states { try #expect(StoreFollower.objects(in: state) == contents) }
    for open in coordinator.persistentStores { try coordinator.remove(open) }
    print("\(transactions.count) transactions, \(contents.count) objects, \(kills) kills")
  }

  @Test("Another process's save is noticed in less than 100 ms", .timeLimit(.minutes(5)))
  func latency() async throws {
    try await withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store.sqlite")
      let coordinator = try FollowedStore.open(store)
      let changes = coordinator.remoteChanges
      let count = 1_500
      let sender = try start(store.path, "send", "\(count)")
      var delays: [Double] = []
      var seen: Double = 0
      for await _ in changes {
        let now = Date().timeIntervalSinceReferenceDate
        let context = ManagedObjectContext(coordinator)
        let newest = try context.fetch(FetchRequest("Item", sortedBy: "number", isAscending: false)).first
        guard let sent = newest?["number"] as? Double, sent > seen else { continue }
        seen = sent
        delays.append(now - sent)
        // A busy machine delays most of them.
        if delays.count >= 20, delays.contains(where: { $0 < 0.1 }) { break }
        if try context.count(for: FetchRequest("Item")) == count { break }
      }
      // Swift's threads block SIGTERM, and a process that is started on one inherits that.
      kill(sender.processIdentifier, SIGKILL)
      sender.waitUntilExit()
      delays.sort()
      let median = try #require(delays.isEmpty ? nil : delays[delays.count / 2])
      print("Remote changes after \(Int(median * 1000)) ms (median), \(Int((delays.last ?? 0) * 1000)) ms at most")
      #expect((delays.first ?? 1) < 0.1)
      for open in coordinator.persistentStores { try coordinator.remove(open) }
    }
  }

  @Test(
    "A context that merges automatically shows another process's save while its changes are awaited",
    .timeLimit(.minutes(5)))
  @MainActor func automaticMerging() async throws {
    try await withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store.sqlite")
      let coordinator = try FollowedStore.open(store)
      let context = ManagedObjectContext(coordinator)
      context.automaticallyMergesChangesFromParent = true
      let changes = context.objectsDidChange
      let sender = try start(store.path, "send", "3")
      var arrived: Set<ManagedObjectID> = []
      for await change in changes {
        arrived.formUnion(change.inserted.map(\.objectID))
        if arrived.count == 3 { break }
      }
      #expect(arrived.count == 3)
      sender.waitUntilExit()
      for open in coordinator.persistentStores { try coordinator.remove(open) }
    }
  }
}
