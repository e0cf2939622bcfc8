import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("SQLite connection pool", .aboutFiles("SQLite's connections"))
struct SQLiteConnectionPoolTests {
  private static let sum: SQLText = "SELECT COUNT(*), SUM(A) FROM T"

  /// Runs `body` on separate threads and waits for all of them.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(number)
        group.leave()
      }
    }
    group.wait()
  }

  @Test("Readers see whole transactions while a thread writes", arguments: ["WAL", "DELETE"])
  func concurrency(mode: String) throws {
    try withTemporaryStore { url in
      let options = StoreOptions(busyTimeout: .seconds(20), pragmas: ["journal_mode": mode])
      let pool = try SQLiteConnectionPool(url, options: options, creates: true)
      try pool.write { try $0.execute("CREATE TABLE T (A INTEGER)") }
      let failures = LockProtected<[String]>([])
      onThreads(9) { number in
        do {
          for round in 1...60 {
            if number == 0 {
              // Each transaction writes two rows whose sum is zero.
              try pool.write { connection in
                try connection.execute("INSERT INTO T VALUES (\(value: .integer(Int64(round))))")
                try connection.execute("INSERT INTO T VALUES (\(value: .integer(Int64(-round))))")
              }
            } else {
              try pool.read { connection in
                let first = try connection.first(Self.sum) { [$0.integer(0), $0.integer(1)] }
                let second = try connection.first(Self.sum) { [$0.integer(0), $0.integer(1)] }
                if first != second || first?[1] != 0 { failures.withLock { $0.append("\(String(describing: first))") } }
              }
            }
          }
        } catch { failures.withLock { $0.append("\(error)") } }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try pool.read { try $0.first(Self.sum) { $0.integer(0) } } == 120)
      pool.close()
      #expect(throws: PersistenceError.self) { try pool.read { _ in } }
      #expect(throws: PersistenceError.self) { try pool.write { _ in } }
    }
  }

  @Test("If there are more threads than readers, they wait for one")
  func bounded() throws {
    try withTemporaryStore { url in
      let pool = try SQLiteConnectionPool(url, options: StoreOptions(), creates: true)
      try pool.write { try $0.execute("CREATE TABLE T (A INTEGER)") }
      let most = LockProtected((now: 0, most: 0))
      onThreads(20) { _ in
        try? pool.read { _ in
          most.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
          }
          Thread.sleep(forTimeInterval: 0.01)
          most.withLock { $0.now -= 1 }
        }
      }
      #expect(most.withLock { $0.most } <= SQLiteConnectionPool.maximumReaders)
      pool.close()
    }
  }

  @Test("A state counts as held while another thread releases its state and acquires new ones")
  func holding() throws {
    try withTemporaryStore { url in
      let store = try SQLiteStore.create(url, model: HistoryModel.make())
      let failures = LockProtected(0)
      onThreads(2) { _ in
        for _ in 0..<500 {
          let state = try? store.pool.holdingPresentState()
          if state == nil || !store.pool.heldStates.isHolding { failures.withLock { $0 += 1 } }
          state?.close()
        }
      }
      #expect(failures.withLock { $0 } == 0)
      #expect(!store.pool.heldStates.isHolding)
      try store.close()
    }
  }

  @Test("A state that is acquired while the store moves to another file is one of that file")
  func holdingWhileMoving() throws {
    try withTemporaryFolder { folder in
      let model = try HistoryModel.make()
      let urls = ["A", "B"].map { folder.appendingPathComponent("\($0).sqlite") }
      for url in urls { try SQLiteStore.create(url, model: model).close() }
      // Without the record of its model, the store's hashes are compared: while the state is acquired.
      try MadeStore.run("DROP TABLE PERSIST_METADATA", at: urls[0])
      let catalog = try SQLiteConnection.reading(urls[0]) { try StoreCatalog($0) }
      let pools = try urls.map { try SQLiteConnectionPool($0, options: StoreOptions()) }
      for pool in pools { try pool.write { try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX") } }
      let (former, next, metadata) = (pools[0], pools[1], catalog.metadata)
      let hasMoved = LockProtected(false)
      let opened = OpenedStore(
        at: urls[0], identifier: catalog.metadata.identifier, map: catalog.tableMap(of: model)
      ) { [weak former] in
        let isDone = (try? former?.closing(continuingIn: next) {}) != nil
        hasMoved.withLock { $0 = isDone }
        return metadata
      }
      let earlier = StoreMark(schemaVersion: 0, identifier: catalog.mark.identifier, propertyList: Data())
      former.setWatch(StoreWatch(urls[0], mark: earlier, opened))
      let state = try #require(try former.following { try $0.holdingPresentState() })
      #expect(hasMoved.withLock { $0 } && state.url == urls[1])
      try #expect(state.readOnce { try $0.first(.objectCount) { $0.integer(0) } } ?? 0 > 0)
      #expect(!former.heldStates.isHolding && next.heldStates.isHolding)
      state.close()
      next.close()
    }
  }

  @Test("An in-memory store is one database for all its users")
  func memory() throws {
    let pool = try SQLiteConnectionPool(nil, options: StoreOptions())
    try pool.write { try $0.execute("CREATE TABLE T (A INTEGER)") }
    onThreads(8) { number in
      _ = try? pool.write { try $0.execute("INSERT INTO T VALUES (\(value: .integer(Int64(number))))") }
    }
    #expect(try pool.read { try $0.first(Self.sum) { $0.integer(0) } } == 8)
    pool.close()
  }
}
