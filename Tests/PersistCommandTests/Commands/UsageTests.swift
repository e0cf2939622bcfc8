import Foundation
import PersistTestSupport
import Testing

@Suite("Calling the command line")
struct UsageTests {
  @Test(
    "A usage error ends with 2, is reported on standard error and prints nothing",
    arguments: [
      ["inspect"], ["inspect", "a", "b", "c"], ["inspect", "a", "--nonsense"], ["nonsense"], ["fill", "a"],
      ["fill", "a", "--models", "m", "--rows", "-1"], ["fill", "a", "--models", "m", "--rows", "many"], ["plan", "a"],
      ["migrate", "a"], ["diff"],
    ])
  func wrongCall(_ arguments: [String]) throws {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output == "")
    #expect(outcome.messages.contains("Usage:") || outcome.messages.contains("Error:"))
  }

  @Test("An empty path isn't the current folder", arguments: [
    ["inspect", ""], ["inspect", "a", "--models", ""], ["export", "", "a.jsonl"], ["export", "a", ""],
    ["import", "", "a.jsonl"], ["copy", "a", ""], ["fill", "a", "--models", "", "--rows", "1"],
    ["plan", "a", "--models", ""], ["diff", ""], ["diagram", "", "--svg", "a"], ["versions", ""], ["lock", ""],
    ["generate", PackageFolder.models.path, "--output", ""], ["version", "new", "", "A"],
    ["sql", "status", "a", "--files", ""], ["sql", "new", "a", "--files", ""],
  ])
  func emptyPath(_ arguments: [String]) throws {
    try withTemporaryFolder { folder in
      let outcome = try Command.run(arguments, in: folder)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains("can't have an empty path"), "\(outcome.messages)")
      try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("The help of a command lists its own --version only")
  func ownVersion() throws {
    for (command, count) in [("fill", 1), ("import", 1), ("generate", 1), ("lock", 1), ("diagram", 1), ("inspect", 0)] {
      let help = try Command.run("help", command).output
      let listed = help.split(separator: "\n").filter { $0.hasPrefix("  --version") }
      #expect(listed.count == count, "\(help)")
    }
  }

  @Test("An error in the arguments that is found later shows the usage of its command")
  func laterError() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path
      try #require(Command.run("fill", store, "--models", shop, "--rows", "1").status == 0)
      let outcome = try Command.run("diagram", store, "--version", "Shop", "--svg", folder.path + "/a.svg")
      #expect(outcome.status == 2)
      #expect(outcome.messages.contains("Error: --version names"), "\(outcome.messages)")
      #expect(outcome.messages.contains("Usage: persist diagram <source>"), "\(outcome.messages)")
    }
  }

  @Test("A negative number is a value, not an option", arguments: [
    (["fill", "a", "--models", "m", "--rows", "-1"], 2, "between 0 and"),
    (["fill", "a", "--models", "m", "--rows", "1", "--seed", "-1"], 2, "'-1'"),
    (["sql", "rollback", "a", "--files", "f", "--to", "-1"], 2, "can't be negative"),
    (["history", "/nowhere/at/all", "--since", "-1"], 2, "'-1'"),
    (["history", "/nowhere/at/all", "--since", "-100.5"], 1, "doesn't exist"),
  ] as [([String], Int32, String)])
  func negative(_ call: (arguments: [String], status: Int32, words: String)) throws {
    let outcome = try Command.run(call.arguments)
    #expect(outcome.status == call.status)
    #expect(outcome.messages.contains(call.words), "\(outcome.messages)")
  }

  @Test("A group of commands without a command is a usage error with the help", arguments: [[], ["sql"], ["version"]])
  func missingCommand(_ arguments: [String]) throws {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output == "")
    #expect(outcome.messages.contains((["USAGE: persist"] + arguments + ["<subcommand>"]).joined(separator: " ")))
  }

  @Test("A command that doesn't exist is named, with a similar one, also after help", arguments: [
    (["insepct", "a"], "There is no command 'insepct'. Did you mean 'inspect'?"),
    (["sql", "rolback"], "There is no command 'rolback'. Did you mean 'rollback'?"),
    (["help", "inspct"], "There is no command 'inspct'. Did you mean 'inspect'?"),
    (["help", "sql", "xyzzy"], "There is no command 'xyzzy'."), (["x"], "There is no command 'x'."),
    ([""], "There is no command ''."),
  ])
  func unknownCommand(_ call: (arguments: [String], message: String)) throws {
    let outcome = try Command.run(call.arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output == "")
    #expect(outcome.messages.contains("Error: \(call.message)\nUsage: persist"), "\(outcome.messages)")
  }

  @Test("Help ends with 0 and goes to standard output", arguments: [["--help"], ["help", "dump"], ["inspect", "-h"]])
  func help(_ arguments: [String]) throws {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("USAGE: persist"))
    #expect(outcome.messages == "")
  }

  @Test("--version prints the newest section of the change log, and SQLite's version")
  func version() throws {
    let outcome = try Command.run("--version")
    #expect(outcome.status == 0)
    let log = try String(contentsOf: PackageFolder.url.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
    let heading = try #require(log.firstMatch(of: /\n## \[?([^\]\n ]+)/))
    #expect(outcome.output.hasPrefix("persist \(heading.1.lowercased()), SQLite 3."))
  }

  @Test("Each command has a manual page with all its options, and completions exist for each shell")
  func manual() throws {
    try withTemporaryFolder { folder in
      try #expect(Command.run("manual", folder.path).status == 0)
      let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(pages.count >= 25)
      for name in pages {
        let page = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        let words = name.dropLast(2).split(separator: "-").dropFirst().map(String.init)
        let help = try Command.run(["help"] + Self.command(words)).output
        for option in help.matches(of: /--[a-z-]+/).map({ String($0.0) }) where option != "--help" {
          #expect(page.contains(option.replacing("-", with: "\\-")), "\(name): \(option)")
        }
        #expect(page.hasPrefix(".TH ") && page.contains(".SH NAME\n") && page.contains(".SH SYNOPSIS\n"))
      }
      #expect(pages.contains("persist-sql-rollback.1") && pages.contains("persist-merge-versions.1"))
    }
    for shell in ["bash", "zsh", "fish"] {
      let outcome = try Command.run("--generate-completion-script", shell)
      #expect(outcome.status == 0 && outcome.output.contains("merge-versions"))
    }
  }

  /// The words of a page's name as a command: `merge-versions` is one word.
  private static func command(_ words: [String]) -> [String] {
    words == ["merge", "versions"] ? ["merge-versions"] : words
  }

  @Test("--quiet leaves only errors on standard error")
  func quiet() throws {
    try withTemporaryFolder { folder in
      let files = folder.appendingPathComponent("sql")
      try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
      try Data("CREATE TABLE a (x);".utf8).write(to: files.appendingPathComponent("1_a.sql"))
      try Data("CREATE TABLE b (x);".utf8).write(to: files.appendingPathComponent("schema.sql"))
      let call = ["sql", "status", folder.appendingPathComponent("a.db").path, "--files", files.path]
      try #expect(Command.run(call).messages.contains("note: 'schema.sql'"))
      for flag in ["--quiet", "-q"] {
        let outcome = try Command.run(call + [flag])
        #expect(outcome.status == 0 && outcome.messages == "" && outcome.output.contains("1 pending"))
      }
      let failed = try Command.run("inspect", folder.appendingPathComponent("none").path, "--quiet")
      #expect(failed.status == 1 && failed.messages.contains("none"))
    }
  }

  @Test(
    "A failure ends with 1, with the error in words and, if requested, as JSON",
    arguments: ["inspect", "dump", "check"])
  func failure(_ command: String) throws {
    try withTemporaryFolder { folder in
      let missing = folder.appendingPathComponent("none.sqlite").path
      let plain = try Command.run(command, missing)
      #expect(plain.status == 1)
      #expect(plain.output == "")
      #expect(plain.messages.contains("none.sqlite"))

      let json = try Command.run(command, missing, "--json")
      #expect(json.status == 1)
      let error = try #require(try json.json()["error"] as? [String: Any])
      #expect(error["code"] is Int)
      #expect(error["name"] is String)
      #expect((error["message"] as? String)?.isEmpty == false)
      #expect(error.keys.contains("fix"))
      try #expect(FolderSnapshot(folder).entries.isEmpty)
    }
  }

  @Test("A URL of another scheme is refused by its scheme", arguments: ["inspect", "check", "export"])
  func otherScheme(_ command: String) throws {
    let outcome = try Command.run([command, "mysql://user:secret@host/db"] + (command == "export" ? ["file"] : []))
    #expect(outcome.status == 1)
    #expect(outcome.messages.contains("'mysql'") && outcome.messages.contains("postgresql://"))
    #expect(!outcome.messages.contains("secret"))
  }

  @Test("A missing folder is named, whether a file in it is read or written")
  func missingFolder() throws {
    try withTemporaryFolder { folder in
      let models = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path
      try #require(Command.run(["fill", "a.sqlite", "--models", models, "--rows", "1"], in: folder).status == 0)
      for arguments in [
        ["inspect", "x/y/b.sqlite"], ["fill", "x/y/b.sqlite", "--models", models, "--rows", "1"],
        ["export", "a.sqlite", "x/y/b.jsonl"], ["diagram", "a.sqlite", "--svg", "x/y/b.svg"],
      ] {
        let outcome = try Command.run(arguments, in: folder)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        let missing = folder.resolvingSymlinksInPath().appendingPathComponent("x").path
        #expect(outcome.messages.contains("there is no folder '\(missing)'"), "\(arguments): \(outcome.messages)")
      }
    }
  }

  @Test(
    "A file that isn't a store is refused and left unchanged", .aboutPlainFiles("databases of other programs"),
    arguments: ["inspect", "dump", "check"])
  func notAStore(_ command: String) throws {
    try withTemporaryFolder { folder in
      let files: [String: Data] = [
        "text.sqlite": Data("Not a database at all, only text that goes on for a while.\n".utf8),
        "empty.sqlite": Data(), "header.sqlite": Data("SQLite format 3\0".utf8) + Data(repeating: 0xFF, count: 4096),
      ]
      for (name, bytes) in files { try bytes.write(to: folder.appendingPathComponent(name)) }
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("folder.sqlite"), withIntermediateDirectories: true)
      let before = try FolderSnapshot(folder)
      for name in files.keys.sorted() + ["folder.sqlite"] {
        let outcome = try Command.run(command, folder.appendingPathComponent(name).path, "--json")
        #expect(outcome.status == 1 || (command == "check" && outcome.status == 3), "\(name): \(outcome)")
        _ = try outcome.json()
      }
      try #expect(FolderSnapshot(folder) == before)
    }
  }
}
