import Foundation
import PersistTestSupport
import Testing

@Suite("Files that commands write")
struct ExportedFileTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  /// A store of the first version, in a folder.
  private func withShop(_ body: (_ folder: URL, _ store: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      try #require(Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "5").status == 0)
      try body(folder, store)
    }
  }

  @Test("A database is replaced by neither a script nor a picture")
  func database() throws {
    try withShop { _, store in
      let before = try Data(contentsOf: URL(fileURLWithPath: store))
      for arguments in [
        ["plan", store, "--models", shop, "--sql", store], ["diagram", shop, "--svg", store],
        ["diff", shop, "--svg", store],
      ] {
        let outcome = try Command.run(arguments)
        #expect(outcome.status == 1 && outcome.messages.contains("is a database"), "\(arguments): \(outcome.messages)")
        try #expect(Data(contentsOf: URL(fileURLWithPath: store)) == before, "\(arguments)")
      }
    }
  }

  @Test("A link leads to the file that is replaced, whose permissions remain, and no other file is left")
  func link() throws {
    try withShop { folder, store in
      let (file, link) = (folder.appendingPathComponent("all.jsonl"), folder.appendingPathComponent("link.jsonl"))
      try Data("old".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "all.jsonl")
      try #expect(Command.run("export", store, link.path).status == 0)
      try #expect(FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "all.jsonl")
      try #expect(String(contentsOf: file, encoding: .utf8) == Command.run("dump", store, "--json").output)
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
      #expect(mode?.intValue == 0o600)
      let hidden = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".all") }
      #expect(hidden.isEmpty)
    }
  }

  @Test("A pipe is written directly, and remains a pipe")
  func pipe() throws {
    try withShop { folder, store in
      let script = """
        mkfifo "$1/pipe" || exit 9
        cat "$1/pipe" > "$1/received" &
        "$0" export "$2" "$1/pipe" \(Command.keyWords)
        status=$?
        # Otherwise the reader waits for ever for a program that never opened the pipe.
        [ $status -eq 0 ] || kill $!
        wait
        [ -p "$1/pipe" ] && exit $status
        exit 8
        """
      let outcome = try Command.run(
        ["-c", script, BuiltProgram.url("persist").path, folder.path, store], program: URL(fileURLWithPath: "/bin/sh"))
      #expect(outcome.status == 0, "\(outcome.messages)")
      let received = try String(contentsOf: folder.appendingPathComponent("received"), encoding: .utf8)
      try #expect(received == Command.run("dump", store, "--json").output)
    }
  }

  @Test("A device is written directly, and remains a device", .enabled(if: getuid() == 0, "Only root creates devices."))
  func device() throws {
    try withShop { folder, store in
      let device = folder.appendingPathComponent("null").path
      // As /dev/null, which a failure would replace.
      let made = try Command.run(
        ["-c", #"mknod "$0" c 1 3 && echo x > "$0""#, device], program: URL(fileURLWithPath: "/bin/sh"))
      guard made.status == 0 else { return }
      for arguments in [
        ["export", store, device], ["diagram", shop, "--svg", device],
        ["plan", store, "--models", shop, "--sql", device],
      ] {
        let outcome = try Command.run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
        let type = try FileManager.default.attributesOfItem(atPath: device)[.type] as? FileAttributeType
        #expect(type == .typeCharacterSpecial, "\(arguments)")
      }
    }
  }

  @Test("If the script of a plan can't be written, the error is the only output")
  func failedScript() throws {
    try withShop { folder, store in
      let script = folder.appendingPathComponent("none/a.sql").path
      let outcome = try Command.run("plan", store, "--models", shop, "--sql", script, "--json")
      #expect(outcome.status == 1)
      try #expect((outcome.json()["error"] as? [String: Any])?["name"] as? String == "fileAccess")
    }
  }

  @Test("Drafts that interrupted exports have left are deleted by the next one")
  func leftovers() throws {
    try withShop { folder, store in
      let (draft, new, other) = (UUID().uuidString, UUID().uuidString, UUID().uuidString)
      // Only the first is a draft of this file.
      let old = [
        ".all.jsonl.persist-\(draft)", ".all.jsonl.20250101", ".all.jsonl.persist-notes",
        ".other.jsonl.persist-\(other)",
      ]
      for name in old + [".all.jsonl.persist-\(new)"] {
        try Data("{".utf8).write(to: folder.appendingPathComponent(name))
      }
      for name in old {
        let hour = Date(timeIntervalSinceNow: -3600)
        let path = folder.appendingPathComponent(name).path
        try FileManager.default.setAttributes([.modificationDate: hour], ofItemAtPath: path)
      }
      try #expect(Command.run("export", store, folder.appendingPathComponent("all.jsonl").path).status == 0)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".jsonl.") }
      #expect(Set(left) == Set(old.dropFirst() + [".all.jsonl.persist-\(new)"]))
    }
  }

  @Test("A link to a file that doesn't exist yet is followed, and a file that nobody may write is replaced")
  func linksAndPermissions() throws {
    try withShop { folder, store in
      let (link, file) = (folder.appendingPathComponent("link"), folder.appendingPathComponent("new.jsonl"))
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: file.lastPathComponent)
      try #expect(Command.run("export", store, link.path).status == 0)
      #expect(FileManager.default.fileExists(atPath: file.path))
      let first = try Data(contentsOf: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
      try #expect(Command.run("export", store, link.path).status == 0)
      try #expect(Data(contentsOf: file) == first)
      try #expect(FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o400)
    }
  }

  @Test("A file of SQLite's beside a store isn't replaced", arguments: ["-wal", "-shm", "-journal"])
  func besideStore(suffix: String) throws {
    try withShop { _, store in
      let outcome = try Command.run("export", store, store + suffix)
      #expect(outcome.status == 1 && outcome.messages.contains("is a database"), "\(outcome.messages)")
    }
  }

  @Test("A pipe in the place of a store is refused, and stays")
  func pipeAsStore() throws {
    try withShop { folder, store in
      let pipe = folder.appendingPathComponent("pipe").path
      try #require(Command.run([pipe], program: URL(fileURLWithPath: "/usr/bin/mkfifo")).status == 0)
      for arguments in [["inspect", pipe], ["check", pipe], ["copy", store, pipe]] {
        try #expect(Command.run(arguments).status == 1, "\(arguments)")
      }
      let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType
      #expect(type != .typeRegular)
    }
  }
}
