import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

/// The law: other programs' transactions delay a backfill, and never end it.
@Suite("Transactions in the way of a backfill", .needsServer, .onOwnThread)
struct OnlineObstacleTests {
  /// Runs `body` with an expanded store of three items, and a session of another program.
  ///
  /// - Parameter body: The migration waits for locks for a fifth of a second at most.
  private func withExpandedStore(
    _ body: (URL, OnlineMigration, ForeignSQL.Session, _ new: ModelVersion) throws -> Void
  ) throws {
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(OnlineShop.old(), url)
      for number in 1...3 { try first.insert("Item", ["name": "Item \(number)"]) }
      try first.save()
      try first.close()
      let migration = OnlineMigration(storeAt: url, options: StoreOptions(busyTimeout: .milliseconds(200)))
      let new = try OnlineShop.new()
      try migration.expand(to: new)
      try body(url, migration, try ForeignSQL.Session(url), new)
    }
  }

  private func expectServing(_ url: URL, _ migration: OnlineMigration, _ new: ModelVersion) throws {
    try #expect(migration.status().state == .serving)
    let second = try OnlineProgram(new, url)
    try #expect(second.values("Item", "title") == ["Item 1", "Item 2", "Item 3"])
    try second.close()
    let invalid = "SELECT count(*) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid "
      + "WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid"
    try #expect(ForeignSQL.run(invalid, at: url) == [["0"]])
  }

  /// Reading anything is enough: the transaction could go on to read the rows from before the index.
  private static let reading = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"

  @Test("An index waits for a transaction of another program for as long as that lasts, and says for which")
  func index() throws {
    try withExpandedStore { url, migration, other, new in
      try other.run(Self.reading)
      var obstacles: [String] = []
      let isDone = try migration.backfill { progress in
        if let obstacle = progress.obstacle {
          obstacles.append(obstacle)
          if obstacles.count == 2 { #expect(throws: Never.self) { try other.run("COMMIT") } }
        }
        return true
      }
      #expect(isDone)
      #expect(obstacles.count >= 2)
      #expect(obstacles.first?.contains("in a transaction since 20") == true, "\(obstacles)")
      try expectServing(url, migration, new)
    }
  }

  @Test("Without anybody who asks, an index waits as well")
  func silent() throws {
    try withExpandedStore { url, migration, other, new in
      try other.run(Self.reading)
      let group = DispatchGroup()
      let result = LockProtected<Result<Bool, any Error>?>(nil)
      DispatchQueue.global().async(group: group) {
        let ended = Result { try migration.backfill() }
        result.withLock { $0 = ended }
      }
      try other.waitUntilBlocking()
      // Longer than the migration waits for locks.
      Thread.sleep(forTimeInterval: 0.4)
      try other.run("COMMIT")
      group.wait()
      try #expect(result.withLock { $0 }?.get() == true)
      try expectServing(url, migration, new)
    }
  }

  @Test("A backfill that is ended while it waits goes on later")
  func ended() throws {
    try withExpandedStore { url, migration, other, new in
      try other.run(Self.reading)
      try #expect(!migration.backfill { $0.obstacle == nil })
      try #expect(migration.status().state == .expanded)
      try other.run("COMMIT")
      try #expect(migration.backfill())
      try expectServing(url, migration, new)
    }
  }

  @Test("A contraction that old programs prevent is refused at once, not tried until the time of the options is over")
  func refusedContraction() throws {
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(OnlineShop.old(), url)
      let migration = OnlineMigration(storeAt: url, options: StoreOptions(busyTimeout: .seconds(60)))
      try migration.expand(to: OnlineShop.new())
      try migration.backfill()
      _ = try first.all("Item")
      let address = try #require(ServerAddress(url))
      let before = CountedServer.flights(of: address)
      let error = #expect(throws: PersistenceError.self) { try migration.contract() }
      #expect(error?.code == .storeBusy && error?.message.contains("A program uses") == true)
      #expect(CountedServer.flights(of: address) - before < 100)
      try first.close()
      try migration.contract()
    }
  }

  @Test("A transition waits for saves of other programs for longer than one attempt lasts")
  func longSave() throws {
    try withExpandedStore { url, _, other, new in
      let migration = OnlineMigration(storeAt: url, options: StoreOptions(busyTimeout: .seconds(60)))
      // A save holds this lock until its end.
      try other.run("BEGIN; SELECT pg_advisory_xact_lock_shared(hashtextextended('persist ' || current_schema(), 0))")
      let group = DispatchGroup()
      let result = LockProtected<Result<Void, any Error>?>(nil)
      DispatchQueue.global().async(group: group) {
        let ended = Result { _ = try migration.abort() }
        result.withLock { $0 = ended }
      }
      try other.waitUntilBlocking()
      // Longer than three attempts.
      Thread.sleep(forTimeInterval: 1.2)
      try other.run("COMMIT")
      group.wait()
      try #require(result.withLock { $0 }).get()
      try #expect(migration.status().state == .none)
      try migration.expand(to: new)
    }
  }

  @Test("A batch that the server ends because of a deadlock is run again")
  func deadlock() throws {
    try withExpandedStore { url, migration, other, new in
      try other.run("BEGIN; UPDATE item SET count = 2 WHERE name = 'Item 2'")
      let group = DispatchGroup()
      let result = LockProtected<Result<Bool, any Error>?>(nil)
      DispatchQueue.global().async(group: group) {
        let ended = Result { try migration.backfill() }
        result.withLock { $0 = ended }
      }
      // The batch has the first row and waits for the second. The server ends the session that notices the deadlock,
      // which looks for one after a second of waiting; this one looks much later.
      try other.run("SET LOCAL deadlock_timeout = '1min'")
      try other.run(
        """
        DO $$ BEGIN
          WHILE NOT EXISTS (
            SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
          ) LOOP
            PERFORM pg_sleep(0.005);
          END LOOP;
          UPDATE item SET count = 1 WHERE name = 'Item 1';
        END $$
        """)
      try other.run("COMMIT")
      group.wait()
      try #expect(result.withLock { $0 }?.get() == true)
      try #expect(ForeignSQL.run("SELECT count FROM item ORDER BY name", at: url) == [["1"], ["2"], ["nil"]])
      try expectServing(url, migration, new)
    }
  }
}
