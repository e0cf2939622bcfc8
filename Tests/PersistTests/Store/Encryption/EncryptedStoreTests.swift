import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Encrypted stores", .needsEncryption)
struct EncryptedStoreTests {
  @Test("After every operation, nothing in any file of the store can be read", arguments: ["raw", "passphrase"])
  func operations(form: String) throws {
    let key: StoreEncryption.KeyProvider = {
      form == "raw" ? .raw(TestKey.bytes(of: "first")) : .passphrase("correct horse")
    }
    try withTemporaryFolder { folder in
      let options = Notes.options(key)
      func step(_ name: String, _ body: () throws -> Void) throws {
        try body()
        #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [], "\(name)")
      }
      let store = folder.appendingPathComponent("A.sqlite")
      let backup = folder.appendingPathComponent("Backup.sqlite")
      let other = folder.appendingPathComponent("B.sqlite")
      let moved = folder.appendingPathComponent("C.sqlite")
      try step("created") { try Notes.make(store, options) }
      try step("read") { try Notes.expectAll(store, options) }
      try step("read only") {
        var readOnly = options
        readOnly.isReadOnly = true
        try Notes.expectAll(store, readOnly)
      }
      try step("open") {
        let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v1))
        let info = try coordinator.addStore(at: store, options: options)
        let context = ManagedObjectContext(coordinator)
        let note = try context.create("Note")
        note["title"] = "SECRETTEXT"
        try context.save()
        // The log contains the new row.
        #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [])
        context.delete(note)
        try context.save()
        try coordinator.backUp(info, to: backup)
        let new = try coordinator.migratePersistentStore(info, to: moved)
        try coordinator.remove(new)
      }
      try step("moved") {
        try Notes.expectAll(backup, options)
        try Notes.expectAll(moved, options)
      }
      try step("metadata") {
        try StoreEncryption.using(key) {
          var metadata = try PersistentStoreCoordinator.metadata(at: store)
          metadata.values["note"] = .string("SECRETTEXT")
          try PersistentStoreCoordinator.setMetadata(metadata, at: store)
        }
      }
      try step("checked") {
        try StoreEncryption.using(key) {
          try StoreLocation.file(store).check { Issue.record("\($0.detail)") }
        }
      }
      try step("migrated in place") {
        try Notes.expectAll(store, Notes.options(key, .automaticMigration), of: Notes.v2)
      }
      try step("migrated by copying") {
        try Notes.make(other, options)
        var copying = Notes.options(key, StoreOptions(migrator: AutomaticMigrator(alwaysCopies: true)))
        copying.backup = .kept(at: folder.appendingPathComponent("Before.sqlite"))
        try Notes.expectAll(other, copying, of: Notes.v2)
      }
      try step("replaced and destroyed") {
        let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v2))
        try StoreEncryption.using(key) {
          try coordinator.replacePersistentStore(at: moved, withPersistentStoreFrom: other)
        }
        try Notes.expectAll(moved, options, of: Notes.v2)
        try coordinator.destroyPersistentStore(at: moved)
        #expect(FileState(moved) == nil)
      }
      try step("vacuumed") {
        var options = options
        options.pragmas["cache_size"] = "10"
        let connection = try SQLiteConnection(other, mode: .readWrite, options: options)
        try connection.execute("VACUUM")
        // A sort that is larger than the cache.
        _ = try connection.all("SELECT ZNAME FROM ZNOTE ORDER BY ZPICTURE DESC") { $0.text(0) }
        connection.close()
      }
    }
  }

  @Test("A store that is created and given no rows is created again after an interruption")
  func interruptedCreation() throws {
    try withTemporaryFile { url in
      LostLog.markCreation(ofStoreAt: url)
      try SQLiteConnection(url, mode: .create, options: Notes.options()).close()
      // As a killed process leaves it.
      #expect(FileState(url) != nil)
      try Notes.make(url)
      #expect(try Notes.titles(url) == Notes.names())
    }
  }

  // MARK: The wrong key

  @Test("A wrong key, a missing one and a superfluous one are errors at every door, and change nothing")
  func doors() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      let encrypted = folder.appendingPathComponent("Encrypted.sqlite")
      let plain = folder.appendingPathComponent("Plain.sqlite")
      try Notes.make(encrypted)
      try StoreEncryption.using(nil) { try Notes.make(plain, StoreOptions(), picture: 100) }
      let before = try FolderSnapshot(folder)
      for (url, key) in [(encrypted, Notes.otherKey), (encrypted, nil), (plain, Notes.key)] {
        for (name, door) in try doors(in: folder) {
          let error = #expect(throws: PersistenceError.self, "\(name) of \(url.lastPathComponent)") {
            try StoreEncryption.using(key) { try door(url, Notes.options(key)) }
          }
          #expect(error?.code == .wrongKey, "\(name) of \(url.lastPathComponent): \(error.map { "\($0)" } ?? "none")")
          #expect(try FolderSnapshot(folder) == before, "\(name)")
        }
      }
    }
  }

  private typealias Door = (URL, StoreOptions) throws -> Void

  private func doors(in folder: URL) throws -> [(String, Door)] {
    let version = ModelVersion(name: "2", model: try #require(Notes.v2))
    let registry = ModelRegistry(versions: [ModelVersion(name: "1", model: try #require(Notes.v1)), version])
    let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v1))
    return [
      ("opening", { _ = try coordinator.addStore(at: $0, options: $1) }),
      ("opening for reading", { url, options in
        var options = options
        options.isReadOnly = true
        _ = try coordinator.addStore(at: url, options: options)
      }),
      ("metadata", { url, _ in _ = try PersistentStoreCoordinator.metadata(at: url) }),
      ("identification", { url, _ in _ = try StoreIdentification.identify(storeAt: url) }),
      ("the plan", { url, _ in _ = try MigrationPlan(storeAt: url, to: version, registry: registry) }),
      ("a migration", { url, options in
        try AutomaticMigrator().migrate(storeAt: url, to: version, registry: nil, options: options)
      }),
      ("a migration by copying", { url, options in
        try AutomaticMigrator(alwaysCopies: true).migrate(storeAt: url, to: version, registry: nil, options: options)
      }),
      ("a copy", { url, _ in try StoreBackup.copy(storeAt: url, to: folder.appendingPathComponent("New.sqlite")) }),
      ("a replacement", { url, _ in
        try coordinator.replacePersistentStore(
          at: folder.appendingPathComponent("New.sqlite"), withPersistentStoreFrom: url)
      }),
      ("a check", { url, _ in try StoreLocation.file(url).check { Issue.record("\($0)") } }),
      ("a repair", { url, _ in _ = try StoreRepair.repair(storeAt: url) }),
    ]
  }

  @Test("A damaged file and one that was never encrypted are told apart from a wrong key where the bytes show it")
  func damage() throws {
    try withTemporaryFile { url in
      for content in [Data(repeating: 0, count: 8192), Data("no database".utf8), Data(repeating: 65, count: 4096)] {
        try content.write(to: url)
        let error = #expect(throws: PersistenceError.self) { try Notes.titles(url) }
        #expect(error?.code == .storeDamaged)
      }
    }
  }

  @Test("An empty passphrase and a raw key of another length are refused, and nothing is written")
  func invalidKeys() throws {
    try withTemporaryFile { url in
      let keys: [StoreEncryption.KeyProvider] = [{ .passphrase("") }, { .raw([1, 2, 3]) }, { .raw([]) }]
      for key in keys {
        let error = #expect(throws: PersistenceError.self) { try Notes.make(url, Notes.options(key)) }
        #expect(error?.code == .wrongKey)
        #expect((FileState(url)?.size ?? 0) == 0)
      }
    }
  }

  @Test("Pragmas can neither carry a key nor move temporary data to files")
  func pragmas() throws {
    try withTemporaryFile { url in
      for (name, value) in [("key", "abc"), ("rekey", "abc"), ("temp_store", "FILE"), ("hexkey", "00")] {
        var options = Notes.options()
        options.pragmas[name] = value
        let error = #expect(throws: PersistenceError.self) { try Notes.make(url, options) }
        #expect(error?.code == .invalidRequest)
        #expect(error.map { "\($0)".contains("abc") } == false)
      }
    }
  }

  @Test("The key is in no description, no mirror, no error and no logged statement")
  func secrecy() throws {
    try withTemporaryFile { url in
      let key = TestKey.bytes(of: "first")
      let hex = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let lines = LockProtected<[String]>([])
      try Notes.make(url)
      var shown = "\(Notes.options())"
      dump(Notes.options(), to: &shown)
      let connection = try SQLiteConnection(url, mode: .readOnlyWritingAttached, options: Notes.options())
      let log = SQLiteDebugLog(attachedTo: connection.handle, name: "a", level: 4) { line in
        lines.withLock { $0.append(line) }
      }
      let copy = url.appendingPathExtension("copy")
      try Data().write(to: copy)
      try connection.attachNewCopy(copy, Notes.options().encryption)
      withExtendedLifetime(log) { connection.close() }
      do { _ = try Notes.titles(url, Notes.options(Notes.otherKey)) } catch { shown += "\(error)" }
      shown += lines.withLock { $0.joined() }
      for secret in [hex, hex.uppercased(), key.description] { #expect(!shown.contains(secret)) }
    }
  }
}

@Suite("Keys without a library that encrypts", .needsPlainLibrary)
struct UnavailableEncryptionTests {
  @Test("A key is refused, and nothing is written in plain text")
  func refusal() throws {
    try withTemporaryFile { url in
      let error = #expect(throws: PersistenceError.self) { try Notes.make(url) }
      #expect(error?.code == .encryptionUnavailable)
      #expect((FileState(url)?.size ?? 0) == 0)
      try Notes.make(url, StoreOptions())
      let again = #expect(throws: PersistenceError.self) { try Notes.titles(url) }
      #expect(again?.code == .encryptionUnavailable)
    }
  }

  @Test("A file that looks encrypted is named as such")
  func encryptedFile() throws {
    try withTemporaryFile { url in
      var random = SeededRandom(seed: 1)
      try Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: url)
      let error = #expect(throws: PersistenceError.self) { try Notes.titles(url, StoreOptions()) }
      #expect(error?.code == .wrongKey)
    }
  }
}
