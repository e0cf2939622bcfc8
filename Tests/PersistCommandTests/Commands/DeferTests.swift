import Foundation
import PersistTestSupport
import Testing

@Suite("persist plan and migrate with --defer, and the log in inspect")
struct DeferTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  @Test("The plan lists deferred steps, the migration leaves them, and the next one performs them")
  func deferring() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "10")
      let plain = try Command.run("plan", store, "--models", shop, "--discard")
      #expect(!plain.output.contains("later:"))
      // A parked column isn't dropped, so there is no dropping to defer.
      let plan = try Command.run("plan", store, "--models", shop, "--defer", "--discard")
      #expect(plan.output.contains("later: ALTER TABLE ZITEM DROP COLUMN"))
      #expect(plan.output.contains("later: CREATE INDEX Z_Item_byName"))
      let steps = try #require(
        try Command.run("plan", store, "--models", shop, "--defer", "--discard", "--json").json()["steps"]
          as? [[String: Any]])
      let removal = try #require(steps.first { $0["operation"] as? String == "removeAttribute" })
      #expect((removal["deferred"] as? [String])?.count == 1)

      let migration = try Command.run(
        "migrate", store, "--models", shop, "--defer", "--discard", "--allow-loss", "--json")
      #expect(migration.status == 0)
      try #expect(Command.run("check", store, "--models", shop).status == 0)
      let before = try Command.run("dump", store, "--json").output
      let rest = try Command.run("migrate", store, "--models", shop)
      #expect(rest.status == 0)
      #expect(rest.output.contains("deferred steps are done"))
      try #expect(Command.run("migrate", store, "--models", shop).output.contains("already.\n"))
      try #expect(Command.run("dump", store, "--json").output == before)
      try #expect(Command.run("check", store, "--models", shop).status == 0)
    }
  }

  @Test("inspect describes former migrations in words; its JSON is unchanged")
  func log() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "3")
      try #expect(!Command.run("inspect", store).output.contains("migrated"))
      for version in ["Shop 2", "Shop 3"] {
        _ = try Command.run("migrate", store, "--models", shop, "--to", version, "--allow-loss")
      }
      let words = try Command.run("inspect", store).output
      #expect(words.contains("Shop → Shop 2, in place, 21 rows, "))
      #expect(words.contains("Shop 2 → Shop 3, in place, 21 rows, "))
      let told = try #require(try Command.run("inspect", store, "--json").json()["store"] as? [String: Any])
      #expect(
        Set(told.keys) == ["uuid", "type", "frameworkVersion", "modelFrom", "version", "versionIdentifiers"])
    }
  }
}
