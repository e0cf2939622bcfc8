import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Synchronization
import Testing

/// The law: the work of the server while it holds exclusive locks, on which readers wait, doesn't depend on the number
/// of rows: neither the rows that it reads nor the round trips.
@Suite("Locks of online migrations", .needsServer, .serialized)
struct OnlineLockTests {
  private enum Step: String, CaseIterable { case expand, backfill, contract, abort }

  /// The maximum number of round trips under exclusive locks.
  private static let flights: [Step: Int] = [.expand: 25, .contract: 70, .abort: 55]

  @Test("However many rows a store has, the server reads equally many under exclusive locks", arguments: [false, true])
  func constantWork(withHistory: Bool) throws {
    ExclusiveWork.install()
    let (few, many) = (try work(underLocksOf: 30, withHistory), try work(underLocksOf: 120, withHistory))
    for step in Step.allCases { #expect(few[step] == many[step], "\(step)") }
    #expect(few[.backfill] == ExclusiveWork.Amount())
    // As the documentation says, for models of this size.
    for step in Step.allCases {
      #expect(few[step].map { $0.flights <= Self.flights[step, default: 0] } == true, "\(step): \(few)")
    }
  }

  /// The work under exclusive locks in each step.
  private func work(underLocksOf count: Int, _ hasHistory: Bool) throws -> [Step: ExclusiveWork.Amount] {
    let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
    var options = StoreOptions()
    if hasHistory { (options.tracksHistory, options.historyKeeps) = (true, .oldValues) }
    var work: [Step: ExclusiveWork.Amount] = [:]
    try OnlineShop.withStore { url in
      let program = try OnlineProgram(old, url, options: options)
      for number in 0..<count {
        let item = try program.insert("Item", ["name": "Item \(number)", "colour": "red", "count": number])
        item["category"] = try program.insert("Category", ["label": "Category \(number)"])
        item["tags"] = RelationshipSet([try program.insert("Tag", ["label": "Tag \(number)"])])
      }
      try program.save()
      try program.close()
      let migration = OnlineMigration(storeAt: url)
      func counting(_ step: Step, _ body: () throws -> Void) throws {
        work[step] = try ExclusiveWork.amount(of: url, body)
      }
      try counting(.expand) { try migration.expand(to: new) }
      try migration.backfill()
      try counting(.abort) { try migration.abort() }
      try migration.expand(to: new)
      try counting(.backfill) { try migration.backfill() }
      try counting(.contract) { try migration.contract() }
    }
    return work
  }
}

/// Counts the rows that the server reads in transactions that hold exclusive locks on tables.
enum ExclusiveWork {
  struct Amount: Hashable {
    var rows: Int64 = 0
    var flights = 0
  }

  private struct Count {
    /// The work under locks, of transactions that were committed.
    var done = Amount()
    /// The rows of the present transaction, by table; those before the first lock too. Tables may be dropped.
    var present: [Int64: Int64] = [:]
    var before: [Int64: Int64]?

    mutating func add(_ result: any ServerResult) {
      if before != nil { done.flights += 1 }
      for row in 0..<result.rowCount { present[result.integer(row, 0)] = result.integer(row, 1) }
      if before == nil, result.rowCount > 0, result.integer(0, 2) > 0 { before = present }
    }

    mutating func endTransaction() {
      if let before { done.rows += present.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) } }
      (present, before) = ([:], nil)
    }
  }

  private static let counts = Mutex<[String: Count]>([:])
  private static let installation: Void = ServerDrivers.install(Driver(inner: ServerDrivers.current))

  static func install() { installation }

  static func amount(of url: URL, _ body: () throws -> Void) throws -> Amount {
    let schema = try #require(ServerAddress(url)).schema
    counts.withLock { $0[schema] = Count() }
    try body()
    return counts.withLock { $0.removeValue(forKey: schema)?.done ?? Amount() }
  }

  private struct Driver: ServerDriver {
    let inner: any ServerDriver

    /// Reads the rows by table, and whether the transaction holds an exclusive lock on a table of entities.
    private static let question = ServerStatement(
      """
      SELECT relid::bigint, (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint, (SELECT count(*) FROM pg_locks AS l \
      JOIN pg_class AS c ON c.oid = l.relation WHERE l.pid = pg_backend_pid() AND l.mode = 'AccessExclusiveLock' \
      AND c.relkind = 'r' AND c.relname NOT LIKE 'persist%') FROM pg_stat_xact_user_tables
      """)

    func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
      let schema = address.schema
      return ForwardedConnection(try inner.connect(to: address, patience)) { connection, statements in
        let results = try connection.run(statements)
        guard counts.withLock({ $0[schema] != nil }) else { return results }
        guard connection.isInTransaction, let result = try connection.run([Self.question]).first else {
          counts.withLock { $0[schema]?.endTransaction() }
          return results
        }
        counts.withLock { $0[schema]?.add(result) }
        return results
      }
    }
  }
}
