import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("SQLite connection", .aboutFiles("SQLite's connections"))
struct SQLiteConnectionTests {
  private func makeTable(_ connection: SQLiteConnection) throws {
    try connection.execute("CREATE TABLE T (A INTEGER PRIMARY KEY, B, UNIQUE (B))")
  }

  @Test("Values of every type and size are read back as they were bound")
  func values() throws {
    let connection = try SQLiteConnection(nil, mode: .memory)
    try makeTable(connection)
    let long = String(repeating: "ä€😀", count: 50_000)
    let values: [SQLValue] = [
      .null, .integer(.min), .integer(.max), .double(.greatestFiniteMagnitude), .double(-0.1), .text(""), .text("a\0b"),
      .text(long), .blob(Data()), .blob(Data([0, 1, 255])), .blob(Data(repeating: 7, count: 1_000_000)),
    ]
    for value in values { try connection.execute("INSERT INTO T (B) VALUES (\(value: value))") }
    #expect(try connection.all("SELECT B FROM T ORDER BY A") { $0.value(0) } == values)
    #expect(connection.counts.prepared < 30)
  }

  @Test("SQL with the same text is prepared once")
  func cache() throws {
    let connection = try SQLiteConnection(nil, mode: .memory)
    try makeTable(connection)
    let before = connection.counts
    for number in Int64(1)...100 { try connection.execute("INSERT INTO T VALUES (\(value: .integer(number)), NULL)") }
    #expect(connection.counts.prepared - before.prepared == 1)
    #expect(connection.counts.executed - before.executed == 100)
    for number in Int64(1)...300 { try connection.query("SELECT \(number: number) FROM T WHERE A = 1") { _ in } }
    #expect(try connection.first("SELECT COUNT(*) FROM T") { $0.integer(0) } == 100)
  }

  @Test("The same SQL can be read while it is already being read")
  func nested() throws {
    let connection = try SQLiteConnection(nil, mode: .memory)
    try makeTable(connection)
    for number in Int64(1)...3 { try connection.execute("INSERT INTO T VALUES (\(value: .integer(number)), NULL)") }
    var pairs = 0
    try connection.query("SELECT A FROM T") { _ in try connection.query("SELECT A FROM T") { _ in pairs += 1 } }
    #expect(pairs == 9)
  }

  @Test("A transaction whose body throws is rolled back; a nested one rolls back only itself")
  func transactions() throws {
    struct Stop: Error {}
    let connection = try SQLiteConnection(nil, mode: .memory)
    try makeTable(connection)
    #expect(throws: Stop.self) {
      try connection.transaction {
        try connection.execute("INSERT INTO T VALUES (1, 1)")
        throw Stop()
      }
    }
    #expect(!connection.isInTransaction)
    try connection.transaction {
      try connection.execute("INSERT INTO T VALUES (2, 2)")
      try? connection.transaction {
        try connection.execute("INSERT INTO T VALUES (3, 3)")
        throw Stop()
      }
    }
    #expect(try connection.all("SELECT A FROM T") { $0.integer(0) } == [2])
  }

  @Test("SQLite's errors become errors with a code, the SQL and a fix")
  func errors() throws {
    let connection = try SQLiteConnection(nil, mode: .memory)
    try makeTable(connection)
    try connection.execute("INSERT INTO T VALUES (1, 1)")
    let unique = #expect(throws: PersistenceError.self) { try connection.execute("INSERT INTO T VALUES (2, 1)") }
    #expect(unique?.code == .constraintConflict)
    #expect(unique?.place.sql == "INSERT INTO T VALUES (2, 1)")
    let syntax = #expect(throws: PersistenceError.self) { try connection.execute("SELEC") }
    #expect(syntax?.code == .sqlite)
    #expect(throws: PersistenceError.self) { try connection.execute("SELECT 1; SELECT 2") }
    #expect(throws: PersistenceError.self) { try connection.execute("") }
  }

  @Test("A writer that has to wait too long reports that the store is busy")
  func busy() throws {
    try withTemporaryStore { url in
      let first = try SQLiteConnection(url, mode: .create)
      try makeTable(first)
      let second = try SQLiteConnection(
        url, mode: .readWrite, options: StoreOptions(busyTimeout: .milliseconds(20)))
      try first.transaction {
        try first.execute("INSERT INTO T VALUES (1, 1)")
        let error = #expect(throws: PersistenceError.self) { try second.transaction {} }
        #expect(error?.code == .storeBusy)
      }
      try second.transaction { try second.execute("INSERT INTO T VALUES (2, 2)") }
    }
  }

  @Test("Switching a file to WAL mode waits for a writer with a rollback journal")
  func switching() throws {
    try withTemporaryStore { url in
      let first = try SQLiteConnection(url, mode: .create, options: StoreOptions(pragmas: ["journal_mode": "DELETE"]))
      try makeTable(first)
      first.close()
      let (isWriting, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let writer = Thread {
        defer { ended.signal() }
        let connection = try? SQLiteConnection(url, mode: .readWrite)
        _ = try? connection?.transaction {
          try connection?.execute("INSERT INTO T VALUES (1, 1)")
          isWriting.signal()
          Thread.sleep(forTimeInterval: 0.3)
        }
        connection?.close()
      }
      writer.start()
      try #require(isWriting.wait(timeout: .now() + 60) == .success)
      let second = try SQLiteConnection(url, mode: .readWrite)
      try second.setFileUp(StoreOptions())
      try #expect(second.first(.journalMode) { $0.text(0) } == "wal")
      ended.wait()
    }
  }

  @Test("A statement can be interrupted from another thread")
  func interrupt() throws {
    let connection = try SQLiteConnection(nil, mode: .memory)
    let interruption = connection.interruption
    Thread.detachNewThread {
      for _ in 0..<200 {
        Thread.sleep(forTimeInterval: 0.01)
        interruption.interrupt()
      }
    }
    let error = #expect(throws: PersistenceError.self) {
      try connection.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n") { _ in }
    }
    #expect(error?.code == .interrupted)
    connection.close()
    interruption.interrupt()
  }

  @Test("File names with characters that are special in URIs", arguments: [
    "a b?c.sqlite", "50%25.sqlite", "x#y&z=1.sqlite", "Größe 文書.sqlite", "+plus;semi.sqlite", "mode=ro?vfs=none",
  ])
  func fileNames(name: String) throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent(name)
      let connection = try SQLiteConnection(url, mode: .create)
      try makeTable(connection)
      try connection.execute("INSERT INTO T VALUES (1, 1)")
      #expect(FileManager.default.fileExists(atPath: url.path))
      connection.close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
      let reader = try SQLiteConnection(url, mode: .readOnly)
      #expect(try reader.first("SELECT COUNT(*) FROM T") { $0.integer(0) } == 1)
    }
  }

  #if os(Linux)
    @Test("A file that isn't a database is closed again", arguments: ["", "not a database"])
    func refused(content: String) throws {
      try withTemporaryStore { url in
        try Data(content.utf8).write(to: url)
        let error = persistError { _ = try SQLiteConnection(url, mode: .readWrite) }
        #expect(error?.code == .storeDamaged)
        let descriptors = URL(fileURLWithPath: "/proc/self/fd")
        let open = try FileManager.default.contentsOfDirectory(atPath: descriptors.path).filter { number in
          let link = descriptors.appendingPathComponent(number).path
          return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == SQLiteFileName.resolved(url).path
        }
        #expect(open.isEmpty)
      }
    }
  #endif

  @Test(
    "A new file has the page size, encoding and kind of auto-vacuum of the options",
    .aboutPlainFiles("sizes of pages, which a key's settings determine"), arguments: 0...2)
  func newFileOfOptions(autoVacuum: Int) throws {
    try withTemporaryStore { url in
      let options = StoreOptions(
        pragmas: ["page_size": "8192", "encoding": "UTF-16le", "auto_vacuum": "\(autoVacuum)"])
      let connection = try SQLiteConnection(url, mode: .create, options: options)
      defer { connection.close() }
      try makeTable(connection)
      #expect(try connection.first("PRAGMA auto_vacuum") { $0.integer(0) } == Int64(autoVacuum))
      #expect(try connection.first("PRAGMA page_size") { $0.integer(0) } == 8192)
      #expect(try connection.first("PRAGMA encoding") { $0.text(0) } == "UTF-16le")
    }
  }

  @Test("A new file has the settings of Core Data's stores")
  func newFile() throws {
    try withTemporaryStore { url in
      let connection = try SQLiteConnection(url, mode: .create)
      try makeTable(connection)
      #expect(try connection.first("PRAGMA auto_vacuum") { $0.integer(0) } == 2)
      #expect(try connection.first("PRAGMA page_size") { $0.integer(0) } == 4096)
      #expect(try connection.first("PRAGMA journal_mode") { $0.text(0) } == "wal")
    }
  }
}
