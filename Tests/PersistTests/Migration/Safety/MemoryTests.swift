import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The number of rows to migrate, which `PERSIST_MEMORY_ROWS=1000000` increases.
private let rowCount = ProcessInfo.processInfo.environment["PERSIST_MEMORY_ROWS"].flatMap { Int($0) } ?? 20_000

@Suite("Memory use of migrations", .withoutSanitizer)
struct MemoryTests {
  @Test(
    "A migration by a mapping model uses at most 64 MB more than the program",
    arguments: [MigrationScenario.Way.copiedBySQL, .copiedByObject])
  func memory(way: MigrationScenario.Way) throws {
    let scenario = try MigrationScenario(way)
    try withTemporaryStore { url in
      try scenario.makeStore(at: url, marks: 12)
      try MadeStore.run(
        """
        WITH RECURSIVE N(I) AS (SELECT 13 UNION ALL SELECT I + 1 FROM N WHERE I < \(rowCount))
        INSERT INTO ZMARK (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZC, ZFOLDER)
        SELECT I, Z_ENT, 1, 'mark ' || I, I, 'a text of some length ' || I, 1 + I % 3 FROM N, ZMARK WHERE Z_PK = 1
        """,
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(rowCount) WHERE Z_NAME = 'Mark'", at: url)
      let process = TestRun.newProcess()
      process.executableURL = try BuiltProgram.url("MigrationRunner")
      process.arguments = [storeArgument(url), way.rawValue]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      let grown = try #require(words.split(separator: "\n").last.flatMap { Int($0) })
      print("\(way): \(grown / 1_000_000) MB more for \(rowCount) rows")
      #expect(grown < 64 * 1024 * 1024)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZMARK", at: url) == [["\(rowCount)"]])
    }
  }
}
