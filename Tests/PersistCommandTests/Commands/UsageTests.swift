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

  @Test("Help ends with 0 and goes to standard output", arguments: [["--help"], ["help", "dump"], ["inspect", "-h"]])
  func help(_ arguments: [String]) throws {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("USAGE: persist"))
    #expect(outcome.messages == "")
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

  @Test("The studio is started with its arguments; if it isn't installed, the message says how to get it")
  func studio() throws {
    try withTemporaryFolder { folder in
      let environment = ["PATH": folder.path]
      let missing = try Command.run(["studio", "Shop.sqlite"], environment: environment)
      #expect(missing.status == 1)
      #expect(missing.messages.contains("swift build -c release --package-path Studio"))

      let program = folder.appendingPathComponent("persist-studio")
      try Data("#!/bin/sh\necho \"$@\"\nexit 7\n".utf8).write(to: program)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
      let started = try Command.run(
        ["studio", "Shop.sqlite", "--write", "--port", "8080", "--help"], environment: environment)
      #expect(started.status == 7)
      #expect(started.output == "Shop.sqlite --write --port 8080 --help\n")
    }
  }

  @Test("A file that isn't a store is refused and left unchanged", arguments: ["inspect", "dump", "check"])
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
