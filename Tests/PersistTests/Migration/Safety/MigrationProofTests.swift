import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistTools

@Suite("Proving a migration in place", .aboutFiles("copies of files"))
struct MigrationProofTests {
  private func withStore(
    _ way: MigrationScenario.Way, _ body: (MigrationScenario, AutomaticMigrator, URL) throws -> Void
  ) throws {
    let scenario = try MigrationScenario(way)
    try withTemporaryStore { url in
      try scenario.makeStore(at: url, marks: 250)
      try body(scenario, scenario.migrator.provingInPlace(), url)
    }
  }

  @Test("Both ways have the same values, large ones and relationships included, and nothing is left behind")
  func proof() throws {
    try withStore(.inPlace) { scenario, migrator, url in
      let report = try migrator.migrate(storeAt: url, to: scenario.newest, registry: scenario.registry)
      // A mark has four attributes and two relationships, a folder and a tag one relationship.
      #expect(report.proof == MigrationProof(objects: 257, values: 250 * 6 + 7))
      #expect(report.way == .inPlace)
      let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      #expect(names.allSatisfy { !$0.contains("migration") })
      try #expect(migrator.migrate(storeAt: url, to: scenario.newest, registry: scenario.registry).proof == nil)
    }
  }

  @Test(
    "Any difference prevents the migration, and the store keeps its version and content",
    arguments: [
      ("UPDATE ZMARK SET ZA = 'other' WHERE Z_PK = 203", "a", 203),
      ("UPDATE ZMARK SET ZB = ZB + 1 WHERE Z_PK = 1", "b", 1), ("DELETE FROM ZMARK WHERE Z_PK = 250", "marks", nil),
      ("UPDATE ZMARK SET Z_PK = 999 WHERE Z_PK = 250", "marks", nil),
      ("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT 9, Z_ENT, 1 FROM ZTAG LIMIT 1", nil, nil),
      ("DELETE FROM JOINTABLE WHERE rowid = 1", "*", nil),
    ] as [(String, String?, Int64?)])
  func disproof(damage: String, property: String?, row: Int64?) throws {
    try withStore(.inPlace) { scenario, proving, url in
      let compare = try #require(proving.compareWays)
      var migrator = proving
      migrator.compareWays = { trials in
        let join = try MadeStore.rows(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%TAGS'", at: trials.copied)
        let sql = damage.replacing("JOINTABLE", with: join.first?.first ?? "")
        try BuiltProgram.run("SQLRunner", trials.copied.path, sql)
        return try compare(trials)
      }
      let before = try StoreDump(of: scenario.versions[0].model, at: url)
      let error = #expect(throws: PersistenceError.self) {
        try migrator.migrate(storeAt: url, to: scenario.newest, registry: scenario.registry)
      }
      #expect(error?.code == .migrationFailed)
      #expect(error?.message.contains("different results") == true)
      #expect(error?.place.store == url)
      if property != "*" { #expect(error?.place.property == property) }
      if let row { #expect(error?.place.row == row) }
      try #expect(StoreDump(of: scenario.versions[0].model, at: url) == before)
      try scenario.migrate(url)
    }
  }

  @Test("A migration that copies has no second way", arguments: [MigrationScenario.Way.copiedBySQL, .staged])
  func onlyOneWay(way: MigrationScenario.Way) throws {
    try withStore(way) { scenario, migrator, url in
      let report = try migrator.migrate(storeAt: url, to: scenario.newest, registry: scenario.registry)
      #expect(report.way == .copy)
      #expect(report.proof == nil)
    }
  }
}
