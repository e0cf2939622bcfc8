import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Waiting for rows to be converted", .serialized, .aboutFiles("locks of files"), .onOwnThread)
struct LaterConversionWaitTests {
  private static let isLong = ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] == "1"

  private static func name(ofRow key: Int) -> String { "Item \(key * 7919 % 1_000_003)" }

  /// Fills a table by SQL, which is quick.
  private func fill(_ models: LaterConversionModels, _ url: URL, rows: Int) throws {
    try MadeStore.make(models.old.model, at: url)
    let number = try MadeStore.rows("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'", at: url)[0][0]
    try MadeStore.run(
      """
      WITH RECURSIVE N(I) AS (SELECT 1 UNION ALL SELECT I + 1 FROM N WHERE I < \(rows)) \
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAMOUNT, ZPRICE, ZRANK, ZREMOVED) \
      SELECT I, \(number), 1, 'Item ' || (I * 7919 % 1000003), CASE WHEN I % 3 THEN I % 100 END, I % 50, I, 'text' \
      FROM N
      """, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows) WHERE Z_ENT = \(number)", at: url)
  }

  /// Runs `body` on a thread of its own: a queue may start the last of several only after the others end.
  private func start(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread {
      body()
      group.leave()
    }
  }

  private static func logSize(of url: URL) -> Int64 { FileState(path: url.path + "-wal")?.size ?? 0 }

  /// The questions whether to go on that statements asked.
  private struct Questions {
    /// The statements that asked anything.
    private(set) var attempts = 0
    /// The statements that had to end, because a writer of this program waited when they asked.
    private(set) var ended = 0
    /// The questions that a statement asked after it had to end.
    private(set) var ignored = 0
    private var mustEnd = false

    mutating func record(_ number: Int, isAnyoneWaiting: Bool) {
      if number == 1 { attempts += 1 } else if mustEnd { ignored += 1 }
      mustEnd = isAnyoneWaiting
      if mustEnd { ended += 1 }
    }
  }

  @Test("Writers and readers of this and of another process go on while rows are converted")
  func waits() throws {
    let rows = Self.isLong ? 1_000_000 : 60_000
    let models = try LaterConversionModels(addsIndex: true)
    try withTemporaryStore { url in
      try fill(models, url, rows: rows)
      let clock = ContinuousClock()
      let opened = try models.open(url, options: StoreOptions(migrator: LaterConversionModels.dropping))
      // Opening wrote neither rows nor an index.
      try #expect(MadeStore.rows("SELECT Z_PLACE, Z_LAST FROM PERSIST_POSITION_ZITEM", at: url) == [["0", "\(rows)"]])
      #expect(Self.logSize(of: url) < 256 * 4096)
      let store = try #require(opened.openStores.first as? SQLiteStore)
      let isDone = LockProtected(false)
      let longest = LockProtected(
        (write: Duration.zero, read: Duration.zero, other: Duration.zero, count: 0, statements: 0))
      let threads = DispatchGroup()
      start(in: threads) {
        do {
          let context = ManagedObjectContext(opened)
          var number = 0
          while !isDone.withLock({ $0 }) {
            number += 1
            let name = Self.name(ofRow: number * 37 % rows + 1)
            let item = try #require(try context.fetch(FetchRequest("Item", where: "name == %@", name)).first)
            item["price"] = Double(number) + 0.5
            let time = try clock.measure { try context.save() }
            longest.withLock { ($0.write, $0.count) = (max($0.write, time), number) }
            Thread.sleep(forTimeInterval: 0.002)
          }
        } catch { Issue.record(error) }
      }
      start(in: threads) {
        do {
          let context = ManagedObjectContext(opened)
          while !isDone.withLock({ $0 }) {
            let request = try FetchRequest<ManagedObject>(
              "Item", where: "name == %@", Self.name(ofRow: Int.random(in: 1...rows)))
            let time = try clock.measure { try #expect(context.fetch(request).count == 1) }
            longest.withLock { $0.read = max($0.read, time) }
            context.reset()
            Thread.sleep(forTimeInterval: 0.001)
          }
        } catch { Issue.record(error) }
      }
      start(in: threads) {
        do {
          // As another program: with a connection of its own.
          let connection = try SQLiteConnection(url, mode: .unassisted)
          defer { connection.close() }
          var number = 0
          while !isDone.withLock({ $0 }) {
            number += 1
            let sql = "UPDATE ZITEM SET ZAMOUNT = 77 WHERE Z_PK = \(number * 41 % rows + 1)"
            let time = try clock.measure { try connection.execute(SQLText(storedIn: StoredDefinition(sql: sql))) }
            longest.withLock { ($0.other, $0.statements) = (max($0.other, time), number) }
            Thread.sleep(forTimeInterval: 0.003)
          }
        } catch { Issue.record(error) }
      }
      var questions = Questions()
      let finishing = try clock.measure {
        // Beside so many saves, there is no time for steps in one piece: some attempts show that they give way.
        var rest = try store.deferredSteps()
        while rest.hasConversions || !rest.isEmpty && questions.attempts < 8 {
          rest = try store.finishDeferredSteps(until: .now + .milliseconds(100), givingWay: true) { number in
            questions.record(number, isAnyoneWaiting: store.pool.turn.waitingCount > 0)
          }
        }
      }
      isDone.withLock { $0 = true }
      threads.wait()
      let found = longest.withLock { $0 }
      print(
        "\(rows) rows: finishing \(finishing), \(questions.attempts) attempts, \(questions.ended) ended, "
          + "\(found.count) saves; longest save \(found.write), fetch \(found.read), statement of another program "
          + "\(found.other)")
      #expect(questions.ignored == 0)
      #expect(found.count > 3 && found.statements > 3)
      try #expect(opened.finishDeferredMigration())
      try LaterConversionModels.close(opened)
      try MadeStore.expectNewStore(of: models.new.model, at: url)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM WHERE ZAMOUNT IS NULL", at: url) == [["0"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: url) == [["\(rows)"]])
    }
  }
}
