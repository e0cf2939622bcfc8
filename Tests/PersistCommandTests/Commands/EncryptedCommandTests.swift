import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Commands on encrypted stores", .needsEncryption)
struct EncryptedCommandTests {
  private static let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path
  private static let passphrase = "SECRETPASSPHRASE with spaces"
  /// Values of the store, and words of its schema.
  private static let texts = [passphrase, "SECRETTEXT", "ZITEM", "Z_METADATA", "CREATE TABLE", "SQLite format"]

  /// A folder with an encrypted store of the first version, its key, and another one.
  private struct Place {
    let folder: URL
    var store: String { path("Shop.sqlite") }
    var key: [String] { ["--key-file", path("keys/right.key")] }
    var otherKey: [String] { ["--key-file", path("keys/other.key")] }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Command.Outcome {
      // With every statement and its values in the log.
      try Command.run(
        arguments, program: BuiltProgram.url("persist"), in: folder,
        environment: ["PERSIST_SQL_DEBUG": "1"].merging(environment) { $1 })
    }

    /// What can be read in any file but the keys.
    func findings() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "keys" && $0 != "out" }
        .flatMap { name in
          guard FileState(folder.appendingPathComponent(name))?.isFolder == false else {
            return try LegibleParts.find(in: folder.appendingPathComponent(name), texts: EncryptedCommandTests.texts)
          }
          let content = try Data(contentsOf: folder.appendingPathComponent(name))
          return LegibleParts.find(in: content, named: name, texts: EncryptedCommandTests.texts)
        }
    }
  }

  private func withPlace(_ body: (Place) throws -> Void) throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let place = Place(folder: folder)
      for name in ["keys", "out"] {
        try FileManager.default.createDirectory(atPath: place.path(name), withIntermediateDirectories: true)
      }
      // An editor ends a line.
      try Data("\(Self.passphrase)\n".utf8).write(to: URL(fileURLWithPath: place.path("keys/right.key")))
      try Data("OTHERPASSPHRASE".utf8).write(to: URL(fileURLWithPath: place.path("keys/other.key")))
      try Data(TestKey.bytes(of: "raw")).write(to: URL(fileURLWithPath: place.path("keys/raw.key")))
      let filled = try place.run(
        ["fill", place.store, "--models", Self.shop, "--version", "Shop", "--rows", "20", "--seed", "3"] + place.key)
      try #require(filled.status == 0, "\(filled.messages)")
      try Data("name,price\nSECRETTEXT,1\n".utf8).write(to: URL(fileURLWithPath: place.path("out/items.csv")))
      let imported = try place.run(["import", place.store, place.path("out/items.csv"), "--entity", "Item"] + place.key)
      try #require(imported.status == 0, "\(imported.messages)")
      try body(place)
    }
  }

  /// Every command that opens a store, with arguments for the place of a store.
  private func commands(_ place: Place) throws -> [[String]] {
    let (store, shop) = (place.store, Self.shop)
    try Data("CREATE TABLE secrets (x);".utf8).write(to: URL(fileURLWithPath: place.path("out/1_a.sql")))
    return [
      ["inspect", store], ["inspect", store, "--models", shop, "--json"], ["dump", store, "--json"],
      ["fetch", store, "Item"], ["count", store, "Item"], ["show", store, "Item/1"],
      ["explain", store, "Item where price > 1"], ["diagram", store, "--svg", place.path("out/picture.svg")],
      ["plan", store, "--models", shop], ["plan", store, "--models", shop, "--json"],
      ["check", store], ["check", store, "--models", shop], ["history", store], ["parked", store],
      ["export", store, place.path("out/all.jsonl")],
      ["copy", store, place.path("Copy.sqlite")],
      ["sql", "status", store, "--files", place.path("out")],
    ]
  }

  @Test("Every command works with the key, and refuses to without it and with another one, changing nothing")
  func doors() throws {
    try withPlace { place in
      for arguments in try commands(place) {
        let before = try FolderSnapshot(place.folder)
        for (key, words) in [([], "--key-file"), (place.otherKey, "can't be decrypted")] {
          let refused = try place.run(arguments + key)
          #expect(refused.status == 1, "\(arguments) \(key): \(refused.output) \(refused.messages)")
          let said = refused.messages + refused.output
          #expect(said.contains(words), "\(arguments) \(key): \(said)")
          #expect(!said.contains("OTHERPASSPHRASE"), "\(arguments)")
          #expect(try FolderSnapshot(place.folder) == before, "\(arguments) \(key)")
        }
        let done = try place.run(arguments + place.key)
        #expect(done.status == 0, "\(arguments): \(done.output) \(done.messages)")
        #expect(!(done.output + done.messages).contains("SECRETPASSPHRASE"), "\(arguments)")
        #expect(try place.findings() == [], "\(arguments)")
      }
    }
  }

  @Test("A store is migrated with a backup, repaired and given SQL migrations, and no file can be read")
  func changes() throws {
    try withPlace { place in
      try Data("CREATE TABLE secrets (x);".utf8).write(to: URL(fileURLWithPath: place.path("out/1_a.sql")))
      for arguments in [
        [
          "migrate", place.store, "--models", Self.shop, "--to", "Shop 2", "--allow-loss", "--backup",
          place.path("Before.sqlite"),
        ],
        ["migrate", place.store, "--models", Self.shop, "--allow-loss", "--copy"],
        ["check", place.store, "--repair"],
        ["sql", "migrate", place.store, "--files", place.path("out")],
        ["check", place.path("Before.sqlite")], ["parked", place.store],
      ] {
        let done = try place.run(arguments + place.key, environment: ["PERSIST_SQL_DEBUG": "4"])
        #expect(done.status == 0, "\(arguments): \(done.output) \(done.messages)")
        #expect(!(done.output + done.messages).contains("SECRETPASSPHRASE"), "\(arguments)")
        #expect(try place.findings() == [], "\(arguments)")
      }
      let rows = try place.run(["fetch", place.store, "Item where name = 'SECRETTEXT'", "--json"] + place.key)
      #expect(rows.output.contains("SECRETTEXT"))
    }
  }

  @Test("A plain store is encrypted by a copy, a copy has another key or none, and 'rekey' changes the key")
  func copies() throws {
    try withPlace { place in
      let dump = try place.run(["dump", place.store, "--json"] + place.key).output
      #expect(dump.contains("SECRETTEXT"))
      func expectSame(_ name: String, _ key: [String]) throws {
        let copied = try place.run(["dump", place.path(name), "--json"] + key)
        #expect(copied.output == dump, "\(name): \(copied.messages)")
      }
      func copy(_ arguments: [String], environment: [String: String] = [:]) throws {
        let outcome = try place.run(["copy"] + arguments, environment: environment)
        #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
      }
      try copy([place.store, place.path("Same.sqlite")] + place.key)
      try expectSame("Same.sqlite", place.key)
      let newRaw = ["--new-key-file", place.path("keys/raw.key"), "--new-raw-key"]
      try copy([place.store, place.path("Raw.sqlite")] + newRaw + place.key)
      let raw = ["--key-file", place.path("keys/raw.key"), "--raw-key"]
      try expectSame("Raw.sqlite", raw)
      let secret = "of the environment"
      try copy(
        [place.path("Raw.sqlite"), place.path("Env.sqlite"), "--new-key-env", "NEW"] + raw,
        environment: ["NEW": secret])
      let read = try place.run(
        ["dump", place.path("Env.sqlite"), "--json", "--key-env", "OLD"], environment: ["OLD": secret])
      #expect(read.output == dump, "\(read.messages)")
      #expect(try place.findings() == [])
      try copy([place.store, place.path("out/Plain.sqlite"), "--plain"] + place.key)
      try expectSame("out/Plain.sqlite", [])
      #expect(DatabaseHeader.isDatabase(URL(fileURLWithPath: place.path("out/Plain.sqlite"))))
      let newOther = ["--new-key-file", place.path("keys/other.key")]
      try copy([place.path("out/Plain.sqlite"), place.path("Again.sqlite")] + newOther)
      try expectSame("Again.sqlite", place.otherKey)
      // A store that can't be read isn't replaced.
      let refused = try place.run(
        ["copy", place.path("Again.sqlite"), place.path("Same.sqlite"), "--force"] + place.otherKey)
      #expect(refused.status == 1 && refused.messages.contains("can't be decrypted"))
      try expectSame("Same.sqlite", place.key)
      try copy([place.store, place.path("Same.sqlite"), "--force"] + place.key)
      try expectSame("Same.sqlite", place.key)
      #expect(try place.findings() == [])
      let changed = try place.run(["rekey", place.store] + newRaw + place.key)
      #expect(changed.status == 0, "\(changed.messages)")
      try expectSame("Shop.sqlite", raw)
      #expect(try place.run(["dump", place.store] + place.key).status == 1)
      #expect(try place.findings() == [])
    }
  }

  @Test("A key is never an argument, and files and variables that aren't there are named")
  func arguments() throws {
    try withPlace { place in
      for (arguments, status, words) in [
        (["--key", "abc"], 2, "--key"), (["--key-file", place.path("keys/none")], 1, "none"),
        (["--key-env", "NO_SUCH_VARIABLE"], 1, "NO_SUCH_VARIABLE"),
        (["--key-env", "X", "--key-file", "y"], 2, "--key-file"), (["--raw-key"], 2, "--key-file"),
        (["--key-file", place.path("keys/right.key"), "--raw-key"], 1, "32 bytes"),
      ] as [([String], Int32, String)] {
        let outcome = try place.run(["inspect", place.store] + arguments)
        #expect(outcome.status == status && outcome.messages.contains(words), "\(arguments): \(outcome.messages)")
        #expect(!outcome.messages.contains("SECRETPASSPHRASE"))
      }
      for arguments in [
        ["rekey", place.store], ["rekey", place.store] + place.key,
        ["copy", place.store, "x", "--plain", "--new-key-env", "X"],
      ] {
        #expect(try place.run(arguments).status == 2, "\(arguments)")
      }
      let plain = place.path("out/Plain.sqlite")
      #expect(try place.run(["copy", place.store, plain, "--plain"] + place.key).status == 0)
      let refused = try place.run(["inspect", plain] + place.key)
      #expect(refused.status == 1 && refused.messages.contains("isn't encrypted"), "\(refused.messages)")
    }
  }

  @Test("Stores with different keys are synchronized through a hub, which needs no key")
  func synchronization() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let place = Place(folder: folder)
      for name in ["keys", "out"] {
        try FileManager.default.createDirectory(atPath: place.path(name), withIntermediateDirectories: true)
      }
      try Data("one".utf8).write(to: URL(fileURLWithPath: place.path("keys/right.key")))
      try Data("two".utf8).write(to: URL(fileURLWithPath: place.path("keys/other.key")))
      let model = #"{"format": 1, "entities": [{"name": "Tag", "attributes": [{"name": "title", "type": "string"}]}]}"#
      try Data(model.utf8).write(to: URL(fileURLWithPath: place.path("out/Tags.json")))
      for (name, key) in [("a", place.key), ("b", place.otherKey)] {
        let filled = try place.run(
          ["fill", place.path("\(name).sqlite"), "--models", place.path("out/Tags.json"), "--rows", "3"] + key)
        try #require(filled.status == 0, "\(filled.messages)")
      }
      for (name, key) in [("a", place.key), ("b", place.otherKey), ("a", place.key)] {
        let done = try place.run(["sync", place.path("\(name).sqlite"), place.path("out/hub")] + key)
        #expect(done.status == 0, "\(done.messages)")
      }
      for (name, key) in [("a", place.key), ("b", place.otherKey)] {
        let counted = try place.run(["count", place.path("\(name).sqlite"), "Tag", "--json"] + key)
        #expect(try counted.jsonLines().first?["count"] as? Int == 6, "\(counted.messages)")
      }
      #expect(try place.findings() == [])
    }
  }
}
