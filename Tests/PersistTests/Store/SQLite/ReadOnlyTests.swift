import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Opening a store read-only changes no byte, no date and no list of files.
@Suite("Reading only", .aboutFiles("bytes and locks of files"))
struct ReadOnlyTests {
  /// Reads every row of every table.
  private func readAll(_ url: URL) throws -> [String: Int] {
    let connection = try SQLiteConnection(url, mode: .readOnly)
    defer { connection.close() }
    return try connection.readTransaction {
      let tables = try connection.all("SELECT name FROM sqlite_master WHERE type = 'table'") { $0.text(0) }
      var counts: [String: Int] = [:]
      for table in tables {
        try connection.query("SELECT * FROM \(name: table)") { row in
          for column in 0..<row.columnCount { _ = row.value(column) }
          counts[table, default: 0] += 1
        }
      }
      return counts
    }
  }

  @Test("Real stores are read without a trace", .needsSharedData, arguments: SharedData.stores)
  func realStores(store: URL) throws {
    try withCopy(ofStore: store) { url in
      let before = try FolderSnapshot(url.deletingLastPathComponent())
      let counts = try readAll(url)
      #expect(counts["Z_METADATA"] == 1)
      #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before)
    }
    #expect(try readAll(store)["Z_METADATA"] == 1)
  }

  /// Rows that are only in the `-wal` file, with or without the `-shm` file beside it.
  private func leaveWAL(at url: URL, withIndex: Bool) throws {
    try withTemporaryStore { other in
      let writer = try SQLiteConnection(other, mode: .create)
      try writer.execute("CREATE TABLE T (A)")
      try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      for number in Int64(1)...10 { try writer.execute("INSERT INTO T VALUES (\(value: .integer(number)))") }
      for suffix in ["", "-wal"] + (withIndex ? ["-shm"] : []) {
        try FileManager.default.copyItem(atPath: other.path + suffix, toPath: url.path + suffix)
      }
    }
  }

  @Test("Rows that are only in the WAL are read, with and without its index", arguments: [true, false])
  func wal(withIndex: Bool) throws {
    try withTemporaryStore { url in
      try leaveWAL(at: url, withIndex: withIndex)
      let before = try FolderSnapshot(url.deletingLastPathComponent())
      #expect(try readAll(url)["T"] == 10)
      #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before)
    }
  }

  @Test("While another connection writes, readers see the committed state")
  func besideWriter() throws {
    try withTemporaryStore { url in
      let writer = try SQLiteConnection(url, mode: .create)
      try writer.execute("CREATE TABLE T (A)")
      for number in Int64(1)...3 {
        try writer.execute("INSERT INTO T VALUES (\(value: .integer(number)))")
        #expect(try readAll(url)["T"] == Int(number))
      }
    }
  }

  @Test("Later writes by other programs are seen even without locks")
  func changesBetweenReads() throws {
    try withTemporaryStore { url in
      func write(_ number: Int64) throws {
        let writer = try SQLiteConnection(url, mode: .create)
        try writer.execute("CREATE TABLE IF NOT EXISTS T (A)")
        try writer.execute("INSERT INTO T VALUES (\(value: .integer(number)))")
        writer.close()
      }
      try write(1)
      let pool = try SQLiteConnectionPool(url, options: StoreOptions(isReadOnly: true))
      func count() throws -> Int64? { try pool.read { try $0.first("SELECT COUNT(*) FROM T") { $0.integer(0) } } }
      #expect(try count() == 1)
      try write(2)
      #expect(try count() == 2)
      #expect(throws: PersistenceError.self) {
        try pool.read { connection in
          try connection.query("SELECT A FROM T") { _ in }
          try write(3)
        }
      }
      #expect(try count() == 3)
      pool.close()
    }
  }

  @Test("A journal that needs to be rolled back is refused, and kept", arguments: ["DELETE", "WAL"])
  func hotJournal(mode: String) throws {
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.sqlite")
      let writer = try SQLiteConnection(
        source, mode: .create, options: StoreOptions(pragmas: ["journal_mode": "DELETE", "cache_size": "1"]))
      try writer.execute("CREATE TABLE T (A)")
      let copy = folder.appendingPathComponent("copy.sqlite")
      try? writer.transaction {
        for _ in 1...200 { try writer.execute("INSERT INTO T VALUES (\(value: .text(String(repeating: "x", count: 4000))))") }
        for suffix in ["", "-journal"] {
          try FileManager.default.copyItem(atPath: source.path + suffix, toPath: copy.path + suffix)
        }
        throw CancellationError()
      }
      writer.close()
      if mode == "WAL" {
        var bytes = try Data(contentsOf: copy)
        bytes[18] = 2
        bytes[19] = 2
        try bytes.write(to: copy)
      }
      let before = try FolderSnapshot(folder)
      let error = #expect(throws: PersistenceError.self) { try readAll(copy) }
      #expect(error?.code == .storeReadOnly)
      #expect(try FolderSnapshot(folder) == before)
    }
  }

  @Test("Writing through a read-only connection is refused")
  func refusesWrites() throws {
    try withTemporaryStore { url in
      let writer = try SQLiteConnection(url, mode: .create)
      try writer.execute("CREATE TABLE T (A)")
      writer.close()
      let reader = try SQLiteConnection(url, mode: .readOnly)
      let error = #expect(throws: PersistenceError.self) { try reader.execute("INSERT INTO T VALUES (1)") }
      #expect(error?.code == .storeReadOnly)
      let pool = try SQLiteConnectionPool(url, options: StoreOptions(isReadOnly: true))
      #expect(throws: PersistenceError.self) { try pool.write { _ in } }
    }
  }

  @Test("A file opened for writing, but not written, keeps every byte", arguments: ["DELETE", "WAL"])
  func openedForWriting(mode: String) throws {
    try withTemporaryStore { url in
      if mode == "WAL" {
        try leaveWAL(at: url, withIndex: false)
      } else {
        let writer = try SQLiteConnection(url, mode: .create, options: StoreOptions(pragmas: ["journal_mode": mode]))
        try writer.execute("CREATE TABLE T (A)")
        writer.close()
      }
      let before = try FolderSnapshot(url.deletingLastPathComponent()).entries
      let connection = try SQLiteConnection(url, mode: .readWrite)
      try connection.query("SELECT A FROM T") { _ in }
      try? connection.transaction {
        try connection.execute("INSERT INTO T VALUES (99)")
        throw CancellationError()
      }
      connection.close()
      let database = url.lastPathComponent
      let after = try FolderSnapshot(url.deletingLastPathComponent()).entries
      #expect(after[database]?.bytes == before[database]?.bytes)
      #expect(after[database + "-wal"]?.bytes == before[database + "-wal"]?.bytes)
    }
  }

  @Test("A database that isn't a store, or a store of another model, isn't put into WAL mode")
  func foreignDatabase() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("foreign.db")
      let writer = try SQLiteConnection(url, mode: .create, options: StoreOptions(pragmas: ["journal_mode": "DELETE"]))
      try writer.execute("CREATE TABLE T (A)")
      writer.close()
      let before = try FolderSnapshot(folder)
      let model = try StoreFixture().model
      let error = #expect(throws: PersistenceError.self) { try SQLiteStore.open(url, model: model) }
      #expect(error?.code == .notAStore)
      #expect(try FolderSnapshot(folder) == before)
    }
  }

  @Test(
    "A file that isn't a database is refused with a reason", .aboutPlainFiles("files that can't be encrypted stores"),
    arguments: ["", "short", "garbage", "folder"])
  func notADatabase(kind: String) throws {
    try withTemporaryStore { url in
      switch kind {
      case "": try Data().write(to: url)
      case "short": try Data("SQLite format 3\0".utf8).write(to: url)
      case "garbage": try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: url)
      default: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      }
      try Data("something".utf8).write(to: URL(fileURLWithPath: url.path + "-wal"))
      let before = try FolderSnapshot(url.deletingLastPathComponent())
      for mode in [SQLiteConnection.Mode.readOnly, .readWrite] {
        let error = #expect(throws: PersistenceError.self) { try SQLiteConnection(url, mode: mode) }
        #expect(error?.code == (kind == "folder" ? .storeOpenFailed : .storeDamaged))
      }
      #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before)
    }
    let missing = URL(fileURLWithPath: "/nowhere/at/all.sqlite")
    #expect(throws: PersistenceError.self) { try SQLiteConnection(missing, mode: .readOnly) }
  }

  @Test("Damage anywhere in a store causes an error or different rows, never a crash or a change", .needsSharedData)
  func damage() throws {
    try withCopy(ofStore: "posts/CoreDataMigration_Example_1.sqlite") { url in
      let original = try Data(contentsOf: url)
      var random = SystemRandomNumberGenerator()
      for round in 0..<200 {
        var bytes = original
        if round % 10 == 0 {
          bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
        } else {
          for _ in 0...(round % 5) {
            bytes[round % 2 == 0 ? Int.random(in: 0..<4096) : Int.random(in: 0..<bytes.count)] = .random(in: 0...255)
          }
        }
        try bytes.write(to: url)
        let before = try FolderSnapshot(url.deletingLastPathComponent())
        do { _ = try readAll(url) } catch { #expect(error is PersistenceError) }
        #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before)
      }
    }
  }
}
