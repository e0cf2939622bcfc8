import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite(
  "Encrypted stores and SQLCipher's command", .needsEncryption,
  .enabled(if: TestKey.tool != nil, "The command sqlcipher isn't installed; Scripts/setup --sqlcipher unpacks it."))
struct EncryptedToolTests {
  /// The lines that the command prints.
  private func run(_ url: URL, _ statements: String...) throws -> [String] {
    let process = TestRun.newProcess()
    process.executableURL = TestKey.tool
    process.arguments = ["-batch", "-bail", url.path]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
    try process.run()
    // The command's own instructions end with the line.
    let lines = statements.map { $0 + ($0.hasPrefix(".") ? "\n" : ";\n") }
    try input.fileHandleForWriting.write(contentsOf: Data(lines.joined().utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map(String.init)
  }

  private static let digits = TestKey.bytes(of: "first").map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()

  /// A key, the command's statements for it, and the settings of both.
  struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let key: StoreEncryption.KeyProvider
    let statements: String
    var pragmas: [String: String] = [:]
  }

  static let samples: [Sample] = [
    Sample(
      testDescription: "passphrase", key: { .passphrase("correct 'horse'") },
      statements: "PRAGMA key = 'correct ''horse'''"),
    Sample(testDescription: "raw key", key: Notes.key, statements: "PRAGMA key = \"x'\(digits)'\""),
    Sample(
      testDescription: "raw key with salt", key: { .raw(TestKey.bytes(of: "first") + Array(0..<16)) },
      statements: "PRAGMA key = \"x'\(digits)000102030405060708090a0b0c0d0e0f'\""),
    Sample(
      testDescription: "plain header", key: { .raw(TestKey.bytes(of: "first") + Array(0..<16)) },
      statements: """
        PRAGMA key = \"x'\(digits)000102030405060708090a0b0c0d0e0f'\"; PRAGMA cipher_plaintext_header_size = 32
        """,
      pragmas: ["cipher_plaintext_header_size": "32"]),
    Sample(
      testDescription: "plain header, passphrase and salt", key: { .passphrase("horse") },
      statements: """
        PRAGMA key = 'horse'; PRAGMA cipher_plaintext_header_size = 32; \
        PRAGMA cipher_salt = \"x'00112233445566778899aabbccddeeff'\"
        """,
      pragmas: ["cipher_plaintext_header_size": "32", "cipher_salt": "00112233445566778899aabbccddeeff"]),
    Sample(
      testDescription: "files of version 3", key: { .passphrase("horse") },
      statements: "PRAGMA key = 'horse'; PRAGMA cipher_compatibility = 3", pragmas: ["cipher_compatibility": "3"]),
    Sample(
      testDescription: "files of version 2", key: { .passphrase("horse") },
      statements: "PRAGMA key = 'horse'; PRAGMA cipher_compatibility = 2", pragmas: ["cipher_compatibility": "2"]),
    Sample(
      testDescription: "large pages", key: { .passphrase("horse") },
      statements: "PRAGMA key = 'horse'; PRAGMA cipher_page_size = 16384", pragmas: ["cipher_page_size": "16384"]),
  ]

  private func options(_ sample: Sample) -> StoreOptions {
    var options = Notes.options(sample.key)
    options.pragmas = sample.pragmas
    return options
  }

  @Test("The command reads a store, writes to it, and finds no damage in it, migrated or not", arguments: samples)
  func storesOfPersist(sample: Sample) throws {
    try withTemporaryFolder { folder in
      if sample.pragmas["cipher_plaintext_header_size"] != nil { LegibleParts.allow(in: folder) }
      let url = folder.appendingPathComponent("Store.sqlite")
      try Notes.make(url, options(sample), picture: 3000)
      let rows = "SELECT COUNT(*) || ' ' || MIN(ZTITLE) || ' ' || MAX(LENGTH(ZPICTURE)) FROM ZNOTE"
      #expect(try run(url, sample.statements, rows).suffix(1) == ["20 SECRETTEXT0 3014"])
      let checks = ["PRAGMA cipher_integrity_check", "PRAGMA integrity_check"]
      #expect(try run(url, sample.statements, checks[0], checks[1]).suffix(1) == ["ok"])
      _ = try run(url, sample.statements, "UPDATE ZNOTE SET ZTITLE = 'SECRETTEXT19' WHERE ZTITLE = 'SECRETTEXT19'")
      #expect(try Notes.titles(url, options(sample)) == Notes.names())
      let copied = folder.appendingPathComponent("Copied.sqlite")
      try Notes.make(copied, options(sample), picture: 3000)
      for (store, copies) in [(url, false), (copied, true)] {
        var migrating = options(sample)
        migrating.migrator = AutomaticMigrator(alwaysCopies: copies)
        try Notes.migrate(store, migrating)
        #expect(
          try run(store, sample.statements, "SELECT COUNT(*) || ' ' || MIN(ZNAME) FROM ZNOTE").suffix(1)
            == ["20 SECRETTEXT0"])
      }
      let backup = folder.appendingPathComponent("Backup.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v2))
      let store = try coordinator.addStore(at: url, options: options(sample))
      try coordinator.backUp(store, to: backup)
      try coordinator.remove(store)
      #expect(try run(backup, sample.statements, "SELECT COUNT(*) FROM ZNOTE").suffix(1) == ["20"])
    }
  }

  @Test("Persist opens, migrates and backs up what the command encrypted, Core Data's layout in it", arguments: samples)
  func storesOfTheCommand(sample: Sample) throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let plain = folder.appendingPathComponent("Plain.sqlite")
      try StoreEncryption.using(nil) { try Notes.make(plain, StoreOptions(), picture: 50) }
      let script = folder.appendingPathComponent("store.sql")
      let dumped = try run(plain, ".output '\(script.path)'", ".dump")
      #expect(dumped == [])
      let url = folder.appendingPathComponent("Store.sqlite")
      #expect(try run(url, sample.statements, ".read '\(script.path)'").filter { $0.contains("rror") } == [])
      #expect(try Notes.titles(url, options(sample)) == Notes.names())
      var migrating = options(sample)
      migrating.migrator = AutomaticMigrator(alwaysCopies: true)
      try Notes.migrate(url, migrating)
      #expect(try Notes.titles(url, options(sample), of: Notes.v2) == Notes.names())
      #expect(try run(url, sample.statements, "SELECT COUNT(*) FROM ZNOTE").suffix(1) == ["20"])
    }
  }
}
