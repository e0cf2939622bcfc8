import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration of a store used by another process", .aboutFiles("locks of files"), .onOwnThread)
struct OtherProcessTests {
  /// Starts a process that writes to a store for a while, and waits until it has the lock.
  private func writer(at url: URL) throws -> Process {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("SQLRunner")
    process.arguments = [
      url.path,
      """
      BEGIN IMMEDIATE; WITH RECURSIVE N(I) AS (SELECT 1 UNION ALL SELECT I + 1 FROM N WHERE I < 8000000) \
      SELECT MAX(I) FROM N; UPDATE ZMARK SET ZA = 'written meanwhile' WHERE Z_PK = 1; COMMIT
      """,
    ]
    try process.run()
    while try isFree(url) {
      try #require(process.isRunning, "It wrote before anybody could see its lock.")
      Thread.sleep(forTimeInterval: 0.005)
    }
    return process
  }

  private func isFree(_ url: URL) throws -> Bool {
    let connection = try SQLiteConnection(url, mode: .readWrite, options: StoreOptions(busyTimeout: .zero))
    defer { connection.close() }
    do {
      try connection.execute(.beginWriting)
      try connection.execute(.rollback)
      return true
    } catch let error as PersistenceError where error.code == .storeBusy {
      return false
    }
  }

  @Test(
    "While another process writes, it is refused as busy; a retry afterward succeeds, and keeps the writes",
    arguments: [MigrationScenario.Way.inPlace, .copiedBySQL, .chain])
  func retries(way: MigrationScenario.Way) throws {
    let scenario = try MigrationScenario(way)
    try withTemporaryStore { url in
      try scenario.makeStore(at: url, marks: 12)
      let process = try writer(at: url)
      let options = StoreOptions(busyTimeout: .milliseconds(1))
      let error = #expect(throws: PersistenceError.self) { try scenario.migrate(url, options: options) }
      #expect(error?.code == .storeBusy)
      var migrator = scenario.migrator
      migrator.retries = 10_000
      let report = try migrator.migrate(
        storeAt: url, to: scenario.newest, registry: scenario.registry, options: options)
      #expect(report.hops == scenario.versions.count - 1)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      try #expect(MadeStore.rows("SELECT ZA FROM ZMARK WHERE Z_PK = 1", at: url) == [["written meanwhile"]])
    }
  }
}
