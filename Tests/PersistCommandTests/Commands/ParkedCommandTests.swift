import Foundation
import PersistTestSupport
import Testing

@Suite("persist parked")
struct ParkedCommandTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  private func run(_ arguments: String...) throws -> Command.Outcome {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
    return outcome
  }

  private func parked(_ arguments: String...) throws -> [String] {
    let json = try Command.run(["parked"] + arguments + ["--json"]).json()
    let contents = try #require((json["parked"] ?? json["purged"]) as? [NSDictionary])
    return contents.map { content in
      [content["entity"], content["property"]].compactMap { $0 as? String }.joined(separator: ".")
    }
  }

  @Test("What a migration parked is listed and purged, as a whole or in part")
  func list() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try run("fill", store, "--models", shop, "--rows", "20")
      #expect(try run("parked", store).output == "Nothing is parked.\n")
      _ = try run("migrate", store, "--models", shop, "--to", "Shop", "--allow-loss")
      let all = try parked(store)
      #expect(all.contains("Review"))
      let property = try #require(all.first { $0.contains(".") && !$0.hasPrefix("Review") })
      #expect(try run("inspect", store).output.contains("parked   "))
      #expect(try parked(store, "--property", property) == [property])
      #expect(try parked(store, "--days", "1") == [])
      #expect(try parked(store, "--purge", "--property", property) == [property])
      #expect(try parked(store) == all.filter { $0 != property })
      _ = try run("check", store, "--models", shop)
      #expect(try run("parked", store, "--purge").output.hasPrefix("purged:\n"))
      #expect(try run("parked", store, "--purge").output == "Nothing to purge.\n")
      _ = try run("check", store, "--models", shop)
      #expect(try Command.run("parked", store, "--days", "-1").status == 2)
    }
  }

  @Test(
    "A proof, the plan and its script know what a migration parks and restores",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3"), "sqlite3 isn't installed."))
  func everywhere() throws {
    try withTemporaryFolder { folder in
      func file(_ name: String) -> String { folder.appendingPathComponent(name).path }
      func copy(_ from: String, to: String) throws {
        try FileManager.default.copyItem(atPath: file(from), toPath: file(to))
      }
      _ = try run("fill", file("a.sqlite"), "--models", shop, "--rows", "20")
      let before = try run("dump", file("a.sqlite"), "--json").output
      try copy("a.sqlite", to: "b.sqlite")
      let down = try run("migrate", file("a.sqlite"), "--models", shop, "--to", "Shop 2", "--allow-loss", "--prove")
      #expect(down.output.contains("Parked: ") && down.output.contains("Proved: "), "\(down.output)")
      #expect(down.output.contains(" of Item.") && !down.messages.contains("has no place"), "\(down)")
      _ = try run("migrate", file("b.sqlite"), "--models", shop, "--to", "Shop 2", "--allow-loss")
      try copy("b.sqlite", to: "c.sqlite")
      let up = try run("plan", file("b.sqlite"), "--models", shop, "--sql", file("up.sql")).output
      #expect(up.contains("restored:"), "\(up)")
      let sqlite = try Command.sqlite3(file("c.sqlite"), ".read \(file("up.sql"))")
      #expect(sqlite.status == 0, "\(sqlite.messages)")
      for name in ["a.sqlite", "b.sqlite"] {
        let back = try run("migrate", file(name), "--models", shop, "--prove")
        #expect(back.output.contains("Restored: ") && back.output.contains("Proved: "), "\(back.output)")
      }
      for name in ["a.sqlite", "b.sqlite", "c.sqlite"] {
        #expect(try run("dump", file(name), "--json").output == before, "\(name)")
        #expect(try parked(file(name)) == [])
      }
    }
  }
}
