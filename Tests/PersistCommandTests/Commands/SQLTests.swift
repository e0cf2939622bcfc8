import Foundation
import PersistTestSupport
import Testing

@Suite("persist sql")
struct SQLTests {
  private func withFiles(_ files: [String: String], _ body: (_ database: String, _ folder: URL) throws -> Void) throws {
    try withTemporaryFolder { root in
      let folder = root.appendingPathComponent("sql")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
      try body(root.appendingPathComponent("App.db").path, folder)
    }
  }

  private func entries(_ outcome: Command.Outcome, _ key: String) throws -> [NSDictionary] {
    try #require(try outcome.json()[key] as? [NSDictionary])
  }

  @Test("Status, some versions, the others, and nothing left to do")
  func wholeWay() throws {
    try withFiles([
      "1_a.sql": "CREATE TABLE a (x);", "2_b.sql": "CREATE TABLE b (x);", "3_c.sql": "CREATE TABLE c (x);",
    ]) { database, folder in
      let before = try Command.run("sql", "status", database, "--files", folder.path, "--json")
      #expect(before.status == 0)
      try #expect(entries(before, "migrations").map { $0["state"] as? String } == ["pending", "pending", "pending"])
      #expect(!FileManager.default.fileExists(atPath: database))

      let part = try Command.run("sql", "migrate", database, "--files", folder.path, "--to", "2", "--json")
      try #expect(entries(part, "applied").compactMap { $0["version"] as? Int } == [1, 2])
      try #expect(part.json()["from"] is NSNull)
      try #expect(part.json()["to"] as? Int == 2)

      let words = try Command.run("sql", "status", database, "--files", folder.path).output
      #expect(words.contains("2_b.sql  applied"))
      #expect(words.contains("3_c.sql  pending"))
      #expect(words.hasSuffix("2 applied, 1 pending\n"))

      try #expect(Command.run("sql", "migrate", database, "--files", folder.path).output.contains("3_c.sql\n"))
      try #expect(
        Command.run("sql", "migrate", database, "--files", folder.path).output
          == "Nothing to do: the database has version 3.\n")
    }
  }

  @Test("A version below the database's is an error, as nothing leads back; files without one are skipped with a note")
  func noWayBack() throws {
    try withFiles([
      "1_a.sql": "CREATE TABLE a (x);", "2_b.sql": "CREATE TABLE b (x);", "schema.sql": "CREATE TABLE nothing (x);",
    ]) { database, folder in
      let all = try Command.run("sql", "migrate", database, "--files", folder.path)
      #expect(all.status == 0)
      #expect(all.messages.contains("note: 'schema.sql' is skipped"))
      let back = try Command.run("sql", "migrate", database, "--files", folder.path, "--to", "1")
      #expect(back.status == 1)
      #expect(back.messages.contains("can't go back to 1"))
      try #expect(Command.run("sql", "migrate", database, "--files", folder.path, "--to", "2").status == 0)
    }
  }

  @Test("A failing file ends with 1, and an edited one with 3 until it is accepted")
  func failures() throws {
    try withFiles(["1_a.sql": "CREATE TABLE a (x);", "2_b.sql": "CREATE TABLE b (x);\nINSERT INTO c VALUES (1);"]) {
      database, folder in
      let failed = try Command.run("sql", "migrate", database, "--files", folder.path, "--json")
      #expect(failed.status == 1)
      #expect(failed.messages.contains("2_b.sql:2:"))
      let error = try #require(try failed.json()["error"] as? NSDictionary)
      #expect(error["name"] as? String == "migrationFailed")

      try Data("CREATE TABLE z (x);".utf8).write(to: folder.appendingPathComponent("1_a.sql"))
      let status = try Command.run("sql", "status", database, "--files", folder.path, "--json")
      #expect(status.status == 3)
      try #expect(entries(status, "problems").first?["name"] as? String == "migrationFileChanged")
      try #expect(Command.run("sql", "migrate", database, "--files", folder.path).status == 1)
      try #expect(Command.run("sql", "accept", database, "--files", folder.path).output == "1_a\n1 accepted\n")
      try #expect(Command.run("sql", "status", database, "--files", folder.path).status == 0)
    }
  }

  @Test("A migration is created, applied, reverted, and a baseline set")
  func wayBack() throws {
    try withFiles(["0009_a.sql": "CREATE TABLE a (x);\n-- down\nDROP TABLE a;"]) { database, folder in
      func run(_ arguments: String...) throws -> Command.Outcome {
        try Command.run(["sql", arguments[0], database, "--files", folder.path] + arguments.dropFirst())
      }
      let created = try Command.run("sql", "new", "add prices", "--files", folder.path, "--json")
      #expect(created.status == 0)
      let file = folder.appendingPathComponent("0010_add_prices.sql")
      try #expect(created.json()["created"] as? [String] == [file.path])
      try Data("CREATE TABLE b (x);\n-- down\nDROP TABLE b;".utf8).write(to: file)
      try #expect(run("migrate").status == 0)

      let reverted = try run("rollback", "--json")
      #expect(reverted.status == 0)
      try #expect(entries(reverted, "reverted").compactMap { $0["version"] as? Int } == [10])
      try #expect(reverted.json()["to"] as? Int == 9)
      try #expect(run("rollback", "--to", "0").output.contains("0009_a.sql\n1 migration reverted in"))
      try #expect(run("rollback").output == "Nothing to do: the database has no version.\n")

      try #expect(run("stamp", "--to", "9").output == "0009_a\n1 stamped\n")
      try #expect(run("stamp", "--json").json()["stamped"] as? [String] == ["0010_add_prices"])
      // A baseline only claims that the table is there.
      try #expect(run("rollback").status == 1)
      try #expect(run("rollback", "--to", "-1").status == 2)
      try #expect(Command.run("sql", "new", "../x", "--files", folder.path).status == 2)
    }
  }

  @Test("An empty folder begins with a time stamp, and pairs of files continue as pairs")
  func newFiles() throws {
    try withFiles([:]) { _, folder in
      let first = try Command.run("sql", "new", "a", "--files", folder.path).output
      #expect(first.contains(/\/20[0-9]{12}_a\.sql\n$/))
      let second = try Command.run("sql", "new", "b", "--files", folder.path).output
      #expect(second.contains(/\/20[0-9]{12}_b\.sql\n$/))
      #expect(first < second)
    }
    try withFiles(["7_a.up.sql": "CREATE TABLE a (x);"]) { _, folder in
      let outcome = try Command.run("sql", "new", "b", "--files", folder.path)
      #expect(outcome.output.split(separator: "\n").map { $0.split(separator: "/").last } == ["8_b.up.sql", "8_b.down.sql"])
    }
  }

  @Test("Two processes at once: one migrates, the other waits and has nothing to do")
  func twoProcesses() async throws {
    try await withTemporaryFolder { root in
      let folder = root.appendingPathComponent("sql")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let long = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO a SELECT i FROM n;
        """
      try Data("CREATE TABLE a (x); \(long)".utf8).write(to: folder.appendingPathComponent("1_a.sql"))
      try Data("CREATE TABLE b (x);".utf8).write(to: folder.appendingPathComponent("2_b.sql"))
      let database = root.appendingPathComponent("App.db").path
      let counts = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<3 {
          group.addTask {
            let outcome = try Command.run("sql", "migrate", database, "--files", folder.path, "--json")
            #expect(outcome.status == 0)
            return (try outcome.json()["applied"] as? [Any])?.count ?? -1
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(counts == 2)
    }
  }
}
