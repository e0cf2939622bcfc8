import Foundation
import LinkedSQLite
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Copies of stores with another encryption", .needsEncryption)
struct EncryptedCopyTests {
  @Test("A plain store is encrypted by a copy, with its large values in the rows, and back")
  func encryptAndDecrypt() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let plain = folder.appendingPathComponent("plain", isDirectory: true)
      let secret = folder.appendingPathComponent("secret", isDirectory: true)
      for part in [plain, secret] {
        try FileManager.default.createDirectory(at: part, withIntermediateDirectories: true)
      }
      let original = plain.appendingPathComponent("Store.sqlite")
      try StoreEncryption.using(nil) { try Notes.make(original, StoreOptions()) }
      #expect(!ExternalDataFolder(storeAt: original).names().isEmpty)
      try ForeignPlain.run(
        original, "CREATE TABLE others (a TEXT)", "INSERT INTO others VALUES ('SECRETTEXT')",
        "PRAGMA user_version = 9")
      let encrypted = secret.appendingPathComponent("Store.sqlite")
      let outcome = try StoreEncryption.using(nil) {
        try VerifiedCopy(of: original, to: encrypted, encryptedLike: Notes.options().encryption).run()
      }
      #expect(outcome.objects == 20)
      #expect(try LegibleParts.find(in: secret, texts: Notes.texts) == [])
      #expect(ExternalDataFolder(storeAt: encrypted).names().isEmpty)
      #expect(try Notes.titles(encrypted) == Notes.names())
      let connection = try SQLiteConnection(encrypted, mode: .readOnly, options: Notes.options())
      #expect(try connection.first("SELECT a FROM others") { $0.text(0) } == "SECRETTEXT")
      #expect(try connection.first(.userVersion) { $0.integer(0) } == 9)
      connection.close()
      let back = plain.appendingPathComponent("Back.sqlite")
      _ = try StoreEncryption.using(Notes.key) {
        try VerifiedCopy(of: encrypted, to: back, encryptedLike: nil).run()
      }
      #expect(DatabaseHeader.isDatabase(back))
      #expect(try StoreEncryption.using(nil) { try Notes.titles(back, StoreOptions()) } == Notes.names())
    }
  }

  @Test("An open store moves to another key, to memory and from there, and to a plain file if that is requested")
  func moves() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let url = folder.appendingPathComponent("Store.sqlite")
      try Notes.make(url)
      let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v1))
      var store = try coordinator.addStore(at: url, options: Notes.options())
      let other = folder.appendingPathComponent("Other.sqlite")
      store = try coordinator.migratePersistentStore(store, to: other, options: Notes.options(Notes.otherKey))
      #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [])
      let context = ManagedObjectContext(coordinator)
      #expect(try context.count(for: FetchRequest("Note")) == 20)
      let plain = folder.appendingPathComponent("Plain.sqlite")
      store = try StoreEncryption.using(nil) { try coordinator.migratePersistentStore(store, to: plain) }
      try coordinator.remove(store)
      #expect(DatabaseHeader.isDatabase(plain))
      #expect(try Notes.titles(other, Notes.options(Notes.otherKey)) == Notes.names())
      store = try coordinator.addStore(at: url, options: Notes.options())
      store = try coordinator.migratePersistentStore(store, to: nil)
      context.reset()
      #expect(try context.count(for: FetchRequest("Note")) == 20)
      let again = folder.appendingPathComponent("Again.sqlite")
      store = try coordinator.migratePersistentStore(store, to: again, options: Notes.options(Notes.otherKey))
      try coordinator.remove(store)
      #expect(!DatabaseHeader.isDatabase(again))
      #expect(try Notes.titles(again, Notes.options(Notes.otherKey)) == Notes.names())
    }
  }

  @Test(
    "Stores with SQLCipher's settings are created, migrated by copying, backed up and read",
    arguments: [
      ["cipher_compatibility": "3"], ["cipher_page_size": "8192"], ["page_size": "1024"],
      ["cipher_hmac_algorithm": "HMAC_SHA256", "kdf_iter": "10000"], ["cipher_use_hmac": "OFF"],
      ["cipher_plaintext_header_size": "32", "cipher_salt": "000102030405060708090a0b0c0d0e0f"],
    ])
  func settings(pragmas: [String: String]) throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let url = folder.appendingPathComponent("Store.sqlite")
      var options = Notes.options { .passphrase("correct horse") }
      options.pragmas = pragmas
      try Notes.make(url, options)
      #expect(try Notes.titles(url, options) == Notes.names())
      let isLegible = pragmas["cipher_plaintext_header_size"] != nil
      #expect(DatabaseHeader.isDatabase(url) == isLegible)
      let texts = isLegible ? Array(Notes.texts.dropLast()) : Notes.texts
      if !isLegible {
        var other = options
        other.pragmas = [:]
        if pragmas["page_size"] == nil {
          #expect(throws: PersistenceError.self) { try Notes.titles(url, other) }
        }
      }
      let backup = folder.appendingPathComponent("Backup.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v1))
      let store = try coordinator.addStore(at: url, options: options)
      try coordinator.backUp(store, to: backup)
      try coordinator.remove(store)
      #expect(try Notes.titles(backup, options) == Notes.names())
      var copying = options
      copying.migrator = AutomaticMigrator(alwaysCopies: true)
      #expect(try Notes.titles(url, copying, of: Notes.v2) == Notes.names())
      #expect(try LegibleParts.find(in: folder, texts: texts).filter { $0.contains("contains") } == [])
    }
  }

  @Test("A plain header without a salt is refused, because the salt would be lost")
  func headerWithoutSalt() throws {
    try withTemporaryFile { url in
      LegibleParts.allow(in: url.deletingLastPathComponent())
      var options = Notes.options { .passphrase("correct horse") }
      options.pragmas = ["cipher_plaintext_header_size": "32"]
      let error = #expect(throws: PersistenceError.self) { try Notes.make(url, options) }
      #expect(error?.code == .invalidRequest)
      options = Notes.options { .raw(TestKey.bytes(of: "first") + Array(0..<16)) }
      options.pragmas = ["cipher_plaintext_header_size": "32"]
      try Notes.make(url, options)
      #expect(try Notes.titles(url, options) == Notes.names())
    }
  }

  @Test("SQLCipher's own connections read a store, and Persist reads a Core Data store that they encrypted")
  func foreignConnections() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let url = folder.appendingPathComponent("Store.sqlite")
      try Notes.make(url, Notes.options { .passphrase("correct horse") })
      #expect(
        try ForeignPlain.run(
          url, "PRAGMA key = 'correct horse'", "SELECT COUNT(*) || MAX(ZTITLE) FROM ZNOTE") == "20SECRETTEXT9")
      let plain = folder.appendingPathComponent("Plain.sqlite")
      try StoreEncryption.using(nil) { try Notes.make(plain, StoreOptions(), picture: 50) }
      let encrypted = folder.appendingPathComponent("Encrypted.sqlite")
      try ForeignPlain.run(
        plain, "ATTACH '\(encrypted.path)' AS other KEY 'correct horse'", "SELECT sqlcipher_export('other')",
        "DETACH other")
      #expect(try Notes.titles(encrypted, Notes.options { .passphrase("correct horse") }) == Notes.names())
    }
  }

  @Test("Large values that another program left in plain files are found by a check, and moved by a repair")
  func plainFiles() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let plain = folder.appendingPathComponent("Plain.sqlite")
      try StoreEncryption.using(nil) { try Notes.make(plain, StoreOptions()) }
      let secret = folder.appendingPathComponent("secret", isDirectory: true)
      try FileManager.default.createDirectory(at: secret, withIntermediateDirectories: true)
      let encrypted = secret.appendingPathComponent("Plain.sqlite")
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent(".Plain_SUPPORT"), to: secret.appendingPathComponent(".Plain_SUPPORT"))
      try ForeignPlain.run(
        plain, "ATTACH '\(encrypted.path)' AS other KEY 'correct horse'", "SELECT sqlcipher_export('other')",
        "DETACH other")
      let options = Notes.options { .passphrase("correct horse") }
      #expect(try Notes.titles(encrypted, options) == Notes.names())
      func problems() throws -> [StoreProblem.Kind] {
        var kinds: [StoreProblem.Kind] = []
        try options.encrypting { try StoreLocation.file(encrypted).check { kinds.append($0.kind) } }
        return kinds
      }
      #expect(try problems() == Array(repeating: .unencryptedValue, count: 20))
      let repairs = try StoreRepair.repair(storeAt: encrypted, options: options)
      #expect(repairs.map(\.kind) == [.unencryptedValue, .orphanFile])
      #expect(try problems() == [])
      #expect(try LegibleParts.find(in: secret, texts: Notes.texts) == [])
      #expect(try Notes.titles(encrypted, options) == Notes.names())
    }
  }
}

/// SQL of another program, with the library alone.
private enum ForeignPlain {
  struct Failure: Error { let description: String }

  @discardableResult
  static func run(_ url: URL, _ statements: String...) throws -> String {
    var connection: OpaquePointer?
    defer { sqlite3_close_v2(connection) }
    #expect(sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK)
    var result = ""
    for sql in statements {
      let code = withUnsafeMutablePointer(to: &result) { result in
        sqlite3_exec(
          connection, sql,
          { result, count, columns, _ in
            let text = columns?[0].map { String(cString: $0) } ?? ""
            result?.assumingMemoryBound(to: String.self).pointee = text
            return 0
          }, result, nil)
      }
      if code != SQLITE_OK { throw Failure(description: String(cString: sqlite3_errmsg(connection))) }
    }
    return result
  }
}
