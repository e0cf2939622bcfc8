import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Synchronization
import Testing

/// The law: if a server that commits synchronously to a standby ends, and the standby takes over, then no acknowledged
/// save is lost, none that failed is there, and programs and online migrations go on.
@Suite("A standby takes over", .needsServer, .serialized, .onOwnThread)
struct OnlineFailoverTests {
  @Test("Acknowledged saves of programs under load survive, failed ones don't, and each is there once")
  func load() throws {
    let pair = try ServerPair()
    defer { pair.stop() }
    let version = try OnlineShop.old()
    let first = try OnlineProgram(version, pair.url, options: ServerPair.options)
    try first.insert("Item", ["name": "first"])
    try first.save()
    let ledger = FailoverLedger()
    let threads = try (0..<4).map { number in
      try ledger.start("writer \(number)", OnlineProgram(version, pair.url, options: ServerPair.options))
    }
    try ledger.failOver(pair, savesEach: 60, of: threads)
    try ledger.expectComplete(first.values("Item", "name").filter { $0 != "first" })
    try first.close()
  }

  @Test(
    "An online migration goes on in every state, with programs of both models",
    arguments: [OnlineMigration.State.expanded, .serving])
  func migration(state: OnlineMigration.State) throws {
    let pair = try ServerPair()
    defer { pair.stop() }
    let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
    let first = try OnlineProgram(old, pair.url, options: ServerPair.options)
    for number in 0..<20 { try first.insert("Item", ["name": "old \(number)"]) }
    try first.save()
    let migration = OnlineMigration(storeAt: pair.url, options: ServerPair.options)
    try migration.expand(to: new)
    var pace = BackfillPace()
    pace.batchSize = 3
    if state == .serving {
      try migration.backfill(pace: pace)
    } else {
      try #expect(!migration.backfill(pace: pace) { _ in false })
    }
    let ledger = FailoverLedger()
    let third = try OnlineProgram(old, pair.url, options: ServerPair.options)
    var threads = [ledger.start("old", third)]
    var programs = [third]
    if state == .serving {
      programs.append(try OnlineProgram(new, pair.url, options: ServerPair.options))
      threads.append(ledger.start("new", programs[1], naming: "title"))
    }
    try ledger.failOver(pair, savesEach: 20, of: threads)
    try migration.backfill(pace: pace)
    // The programs show themselves on the new server too.
    _ = try first.all("Item")
    try #expect(migration.status().oldPrograms.count == 2)
    let error = #expect(throws: PersistenceError.self) { try migration.contract() }
    #expect(error?.code == .storeBusy)
    try first.close()
    for program in programs { try program.close() }
    try migration.contract()
    let last = try OnlineProgram(new, pair.url, options: ServerPair.options)
    let titles = try last.values("Item", "title")
    #expect(titles.filter { $0.hasPrefix("old ") && $0.count <= 6 }.count >= 20)
    ledger.expectComplete(titles.filter { !Set((0..<20).map { "old \($0)" }).contains($0) })
    try last.close()
    var problems: [StoreProblem] = []
    try StoreLocation.postgreSQL(pair.text).check { problems.append($0) }
    #expect(problems.isEmpty, "\(problems)")
  }

  @Test("A backfill rests while a replica is behind or sessions are active, and goes on afterward")
  func pressure() throws {
    let pair = try ServerPair()
    defer { pair.stop() }
    let first = try OnlineProgram(OnlineShop.old(), pair.url, options: ServerPair.options)
    for number in 0..<9 { try first.insert("Item", ["name": "Item \(number)"]) }
    try first.save()
    let migration = OnlineMigration(storeAt: pair.url, options: ServerPair.options)
    var pace = BackfillPace()
    pace.batchSize = 3
    /// Ends the cause of the rest at the fourth report, and returns the rows of each report until then.
    func rows(_ resume: @escaping () throws -> Void) throws -> [Int] {
      try migration.expand(to: OnlineShop.new())
      var rows: [Int] = []
      let isDone = try migration.backfill(pace: pace) { progress in
        rows.append(progress.rows)
        if rows.count == 4 { #expect(throws: Never.self) { try resume() } }
        return true
      }
      #expect(isDone)
      try migration.abort()
      return Array(rows.prefix(4))
    }
    pace.replicaLag = 0
    try ServerPair.ask(pair.standby, "SELECT pg_wal_replay_pause()")
    let behind = try rows { try ServerPair.ask(pair.standby, "SELECT pg_wal_replay_resume()") }
    #expect(behind.count == 4 && Set(behind).count == 1, "\(behind)")
    (pace.replicaLag, pace.activeSessions) = (nil, 0)
    let address = try #require(URL(string: pair.primary.url))
    Thread.detachNewThread { _ = try? ForeignSQL.run("SELECT pg_sleep(600)", at: address) }
    let sleeping = "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'"
    while try ServerPair.ask(pair.primary, sleeping).isEmpty { usleep(10_000) }
    let active = try rows { try ServerPair.ask(pair.primary, "SELECT pg_cancel_backend(pid) FROM (\(sleeping)) AS s") }
    #expect(active.count == 4 && Set(active).count == 1, "\(active)")
    try first.close()
  }

  @Test("Without a primary server, an operation waits as long as its options say, and its error says so")
  func noPrimary() throws {
    let pair = try ServerPair()
    defer { pair.stop() }
    let program = try OnlineProgram(OnlineShop.old(), pair.url, options: ServerPair.options)
    try program.insert("Item", ["name": "first"])
    try program.save()
    try program.close()
    pair.primary.stop()
    var options = StoreOptions()
    options.busyTimeout = .milliseconds(200)
    let error = #expect(throws: PersistenceError.self) {
      try OnlineProgram(OnlineShop.old(), pair.url, options: options)
    }
    #expect(error?.code == .storeOpenFailed || error?.code == .storeBusy, "\(error as Any)")
    // The standby can be read by a program that says so.
    let reading = pair.text + "&target_session_attrs=any"
    options.isReadOnly = true
    let coordinator = PersistentStoreCoordinator(model: try OnlineShop.old().model)
    try coordinator.addStore(.postgreSQL(reading), options: options)
    try #expect(ManagedObjectContext(coordinator).fetch(FetchRequest("Item")).count == 1)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

/// The writers' knowledge of their saves.
private final class FailoverLedger: Sendable {
  struct Counts {
    var acknowledged: Set<String> = []
    var failed: Set<String> = []
    var unknown: Set<String> = []
  }

  private let state = Mutex(Counts())
  private let isEnded = Atomic(false)
  var counts: Counts { state.withLock { $0 } }

  private var hasEnded: Bool { isEnded.load(ordering: .acquiring) }
  private func end() { isEnded.store(true, ordering: .releasing) }

  /// Waits for further saves, unless a writer fails.
  private func wait(forSaves count: Int) {
    let former = counts.acknowledged.count
    while counts.acknowledged.count < former + count, !hasEnded { usleep(5000) }
  }

  /// Lets the standby take over while writers save, and ends them.
  ///
  /// - Parameter count: The number of saves before it takes over, and afterward.
  func failOver(_ pair: ServerPair, savesEach count: Int, of threads: [DispatchGroup]) throws {
    wait(forSaves: count)
    try pair.failOver()
    wait(forSaves: count)
    end()
    for thread in threads { thread.wait() }
  }

  /// Saves items one after another on a thread of its own.
  func start(_ name: String, _ program: OnlineProgram, naming property: String = "name") -> DispatchGroup {
    let group = DispatchGroup()
    let writer = Writer(program: program)
    group.enter()
    let thread = Thread { [self] in
      defer { group.leave() }
      var number = 0
      while !hasEnded {
        number += 1
        let item = "\(name), \(number)"
        do {
          try writer.program.insert("Item", [property: item])
          try writer.program.save()
          state.withLock { _ = $0.acknowledged.insert(item) }
        } catch let error as PersistenceError {
          let isUnknown = error.code == .saveFailed
          state.withLock { _ = isUnknown ? $0.unknown.insert(item) : $0.failed.insert(item) }
          writer.program.context.rollback()
        } catch {
          Issue.record("\(error)")
          end()
        }
      }
    }
    thread.start()
    return group
  }

  // Sendable: the program is used by one thread until that ends.
  private struct Writer: @unchecked Sendable { let program: OnlineProgram }

  func expectComplete(_ names: [String]) {
    let (found, counts) = (Set(names), counts)
    #expect(found.count == names.count)
    #expect(counts.acknowledged.isSubset(of: found), "lost: \(counts.acknowledged.subtracting(found).sorted())")
    #expect(found.isDisjoint(with: counts.failed), "failed, but there: \(found.intersection(counts.failed).sorted())")
    #expect(found.subtracting(counts.acknowledged).isSubset(of: counts.unknown))
  }
}
