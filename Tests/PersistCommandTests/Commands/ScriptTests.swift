import Foundation
import PersistTestSupport
import Testing

/// Whether the program `sqlite3` is installed.
private let hasSQLite = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].contains {
  FileManager.default.isExecutableFile(atPath: $0)
}

@Suite("persist plan --sql", .enabled(if: hasSQLite, "The program sqlite3 isn't installed."))
struct ScriptTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  private func runSQLite(_ script: String, on store: String) throws -> Command.Outcome {
    try Command.sqlite3(store, ".read '\(script)'")
  }

  private func dump(_ store: String) throws -> String {
    let outcome = try Command.run("dump", store, "--json")
    #expect(outcome.status == 0)
    return outcome.output
  }

  /// Runs the script of a store's migration, and expects the result of `persist migrate`.
  ///
  /// - Returns: false if the migration isn't in place.
  private func compare(_ store: URL, _ models: String, to version: String) throws -> Bool {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("migrate.sql").path
      let arguments = ["--models", models, "--to", version]
      return try withCopy(ofStore: store) { copy in
        let plan = try Command.run(["plan", copy.path] + arguments + ["--json"])
        guard plan.status == 0, try plan.json()["way"] as? String == "inPlace" else { return false }
        let written = try Command.run(["plan", copy.path, "--sql", script] + arguments)
        try #require(written.status == 0, "\(store.lastPathComponent) to \(version): \(written.messages)")
        let expected = try withCopy(ofStore: store) { other in
          let migrated = try Command.run(["migrate", other.path, "--allow-loss"] + arguments)
          #expect(migrated.status == 0, "\(migrated.messages)")
          return try dump(other.path)
        }
        let run = try runSQLite(script, on: copy.path)
        #expect(run.status == 0, "\(store.lastPathComponent) to \(version): \(run.messages)")
        try #expect(dump(copy.path) == expected)
        let again = try Command.run(["migrate", copy.path, "--json"] + arguments)
        try #expect(again.json()["way"] as? String == "none")
        return true
      }
    }
  }

  @Test("The script of every real chain has the result of the migration", .needsSharedData)
  func realChains() throws {
    var count = 0
    let progress = LongLoop("Scripts of every real chain", of: SharedData.stores.count)
    let folders = try ["posts", "moody", "bookmarks", "employees", "cars", "wallet", "content"].map {
      try SharedData.url($0).path
    }
    for store in SharedData.stores {
      progress.advance()
      guard let models = folders.first(where: { store.path.hasPrefix($0 + "/") }) else { continue }
      let families = try Command.run("versions", models, "--json")
      #expect(families.status == 0)
      let names = Set(
        try families.jsonLines().flatMap { family in
          (family["versions"] as? [NSDictionary] ?? []).compactMap { $0["name"] as? String }
        })
      for name in names.sorted() where try compare(store, models, to: name) { count += 1 }
    }
    #expect(count >= 10)
  }

  @Test("A filled store: names, renames, losses and new values; the script lists what is parked")
  func filledStore() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite")
      _ = try Command.run("fill", store.path, "--models", shop, "--version", "Shop", "--rows", "60")
      let before = try FolderSnapshot(folder)
      #expect(try compare(store, shop, to: "Shop 3"))
      try #expect(FolderSnapshot(folder) == before)
      let script = folder.appendingPathComponent("a.sql")
      _ = try Command.run("plan", store.path, "--models", shop, "--sql", script.path)
      try #expect(String(contentsOf: script, encoding: .utf8).contains("-- Parked: Item.colour: attribute removed, "))
    }
  }

  @Test("A script stops before a store that has changed, and before another one; both are as before")
  func checks() throws {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("a.sql").path
      let stores = try ["A.sqlite", "B.sqlite"].map { name in
        let store = folder.appendingPathComponent(name).path
        try #expect(Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "5").status == 0)
        return store
      }
      try #expect(Command.run("plan", stores[0], "--models", shop, "--sql", script).status == 0)
      let before = try stores.map(dump)
      let other = try runSQLite(script, on: stores[1])
      #expect(other.status == 1)
      #expect(other.messages.contains("This is another store than the script was written for."))
      try #expect(dump(stores[1]) == before[1])

      try #expect(
        Command.run("fill", stores[0], "--models", shop, "--version", "Shop", "--rows", "1").status == 0)
      let changed = try dump(stores[0])
      #expect(changed != before[0])
      let run = try runSQLite(script, on: stores[0])
      #expect(run.status == 1)
      #expect(run.messages.contains("The store has changed since the script was written."))
      try #expect(dump(stores[0]) == changed)
      try #expect(Command.run("check", stores[0]).status == 0)
    }
  }

  /// Runs SQL of another program on a store.
  private func change(_ store: String, _ sql: String) throws {
    let outcome = try Command.sqlite3(store, sql)
    #expect(outcome.status == 0, "\(outcome.messages)")
  }

  @Test("A script doesn't run twice, and doesn't overwrite metadata that have changed", arguments: [
    "UPDATE Z_METADATA SET Z_PLIST = Z_PLIST || x'00'", "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1",
    "INSERT INTO Z_MODELCACHE VALUES (x'0102')",
  ])
  func metadata(change sql: String) throws {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("a.sql").path
      let store = folder.appendingPathComponent("A.sqlite").path
      try #expect(Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "5").status == 0)
      try #expect(Command.run("plan", store, "--models", shop, "--sql", script).status == 0)
      let copy = folder.appendingPathComponent("B.sqlite")
      try FileManager.default.copyItem(atPath: store, toPath: copy.path)

      try #expect(runSQLite(script, on: store).status == 0)
      let migrated = try Data(contentsOf: URL(fileURLWithPath: store))
      let again = try runSQLite(script, on: store)
      #expect(again.status == 1)
      #expect(again.messages.contains("The store doesn't have the version that the script migrates from."))
      #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == migrated)

      try change(copy.path, sql)
      let changed = try Data(contentsOf: copy)
      let run = try runSQLite(script, on: copy.path)
      #expect(run.status == 1)
      #expect(run.messages.contains("The store has changed since the script was written."), "\(run.messages)")
      #expect(try Data(contentsOf: copy) == changed)
    }
  }

  @Test("A view that breaks by the migration is named")
  func view() throws {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("a.sql").path
      let store = folder.appendingPathComponent("A.sqlite").path
      try #expect(Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "5").status == 0)
      try change(store, "CREATE VIEW mine AS SELECT ZCOLOUR FROM ZITEM")
      let outcome = try Command.run("plan", store, "--models", shop, "--sql", script)
      #expect(outcome.status == 0 || outcome.messages.contains("'mine'"), "\(outcome.messages)")
      if outcome.status == 0 { try #expect(runSQLite(script, on: store).status == 0) }
    }
  }

  @Test("A migration that copies has no script, nor has one that isn't needed", .needsSharedData)
  func noScript() throws {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("a.sql").path
      let store = try SharedData.url("posts/CoreDataMigration_Example_2.sqlite").path
      let models = try SharedData.url("posts").path
      let copying = try Command.run(
        "plan", store, "--models", models, "--to", "CoreDataMigration_Example 3", "--sql", script, "--policies",
        "Post2ToPost3MigrationPolicy")
      #expect(copying.status == 1)
      #expect(copying.messages.contains("which a script can't do"))
      let none = try Command.run("plan", store, "--models", models, "--to", "CoreDataMigration_Example 2", "--sql", script)
      #expect(none.status == 1)
      #expect(none.messages.contains("already"))
      #expect(!FileManager.default.fileExists(atPath: script))
    }
  }
}
