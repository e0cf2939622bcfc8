import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration by several processes at once", .serialized, .onOwnThread)
struct SeveralProcessesTests {
  /// A plain reader's view of a store, the same for equal contents.
  private static let queries = [
    "PRAGMA quick_check", "SELECT type, name, sql FROM sqlite_master ORDER BY type, name",
    "SELECT COUNT(*), total(ZB), total(length(ZA)) FROM ZMARK", "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT",
    "SELECT Z_ENT, COUNT(*) FROM ZMARK GROUP BY 1",
  ]

  @Test(
    "All of them succeed, and a plain reader sees either the old contents or the new",
    .law("processes-at-once", short: 10, long: 500))
  func together() throws {
    try withTemporaryFolder { folder in
      var laws: [UInt64: DisturbedMigration] = [:]
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let ways = MigrationScenario.Way.allCases
        let number = seed % UInt64(ways.count * 2)
        let own = folder.appendingPathComponent("\(number)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let law = try laws[number]
          ?? DisturbedMigration(ways[Int(number) / 2], in: own, marks: 200, hasLog: number % 2 == 0)
        laws[number] = law
        let work = folder.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let store = try copyStore(law.seed, to: work)
        let old = try outcomes(of: store, beside: folder) {}
        let seen = try outcomes(of: store, beside: folder) {
          let processes = try (0..<2).map { _ in
            Thread.sleep(forTimeInterval: .random(in: 0...0.03, using: &random))
            return try migrator(store, law.scenario.way)
          }
          for (process, errors) in processes {
            let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(law.scenario): \(words)")
          }
        }
        let new = try outcomes(of: store, beside: folder) {}
        #expect(Set(seen).isSubset(of: old + new), "\(law.scenario)")
        try law.expectWhole(store, "two processes")
      }
    }
  }

  private func migrator(_ store: URL, _ way: MigrationScenario.Way) throws -> (Process, errors: Pipe) {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("MigrationRunner")
    process.arguments = [store.path, way.rawValue, "60"]
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    return (process, errors)
  }

  /// The views of a process that opens the store repeatedly while `body` runs, and at least once.
  private func outcomes(of store: URL, beside folder: URL, while body: () throws -> Void) throws -> [String] {
    let stop = folder.appendingPathComponent(UUID().uuidString)
    let reader = TestRun.newProcess()
    reader.executableURL = try BuiltProgram.url("SQLRunner")
    reader.arguments = [store.path, "--watch", stop.path] + Self.queries
    let output = Pipe()
    reader.standardOutput = output
    try reader.run()
    _ = try output.fileHandleForReading.read(upToCount: 6)
    defer { reader.waitUntilExit() }
    do {
      defer { try? Data().write(to: stop) }
      try body()
    }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }
}
