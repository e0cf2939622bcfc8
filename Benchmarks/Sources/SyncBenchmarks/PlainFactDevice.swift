import CSQLiteForBenchmarks
import Foundation

/// The synchronization of single values written by hand over SQLite, with the same facts as Persist's: each value of an
/// object has the time and the replica of its last change, and a value that arrives overrules an earlier one.
///
/// It is as much as SQLite has to do for that: an object is found by its identifier, its facts and its row are read and
/// written, and a change is recorded in the history. It knows one table, no deletions, and no versions of the model.
final class PlainFactDevice: PlainDatabase {
  private static let valueCount = 6
  private static let stampSize = 24
  /// The place of the name's stamp among those of the values.
  private static let name = 1

  init(_ file: URL) throws {
    try super.init(
      file,
      creating: [
        """
        CREATE TABLE IF NOT EXISTS ITEM (
          KEY INTEGER PRIMARY KEY, ID BLOB, NAME TEXT, NOTE TEXT, PRICE REAL, QUANTITY INTEGER, ITEMGROUP BLOB)
        """,
        "CREATE TABLE IF NOT EXISTS FACTS (KEY INTEGER PRIMARY KEY, STAMPS BLOB)",
        "CREATE TABLE IF NOT EXISTS PLACE (ID BLOB PRIMARY KEY, KEY INTEGER) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS HISTORY (NUMBER INTEGER PRIMARY KEY, KEY INTEGER, COLUMNS INTEGER)",
      ])
  }

  func addItems(_ count: Int) throws {
    try run("BEGIN IMMEDIATE")
    let insertion = "INSERT INTO ITEM (ID, NAME, NOTE, PRICE, QUANTITY, ITEMGROUP) VALUES (?, ?, ?, ?, ?, ?)"
    let stamps = [UInt8](repeating: 0, count: Self.valueCount * Self.stampSize)
    try withStatement(insertion) { item in
      try withStatement("INSERT INTO FACTS (STAMPS) VALUES (?)") { facts in
        for number in 0..<count {
          bind(SyncSample.identifier(number, of: 0), 1, item)
          bind(SyncSample.name(number), 2, item)
          bind(SyncSample.note(number), 3, item)
          sqlite3_bind_double(item, 4, SyncSample.price(number))
          sqlite3_bind_int64(item, 5, Int64(number))
          bind(SyncSample.identifier(number / SyncSample.itemsPerGroup * SyncSample.itemsPerGroup, of: 1), 6, item)
          try finish(item)
          bind(stamps, 1, facts)
          try finish(facts)
        }
      }
    }
    try run("INSERT INTO PLACE (ID, KEY) SELECT ID, KEY FROM ITEM ORDER BY ID")
    try run("COMMIT")
  }

  func change(_ count: Int, of total: Int, _ spread: SyncSample.Spread, round: Int) throws {
    try run("BEGIN IMMEDIATE")
    try withStatement("UPDATE ITEM SET NAME = ? WHERE KEY = ?") { item in
      try withStatement("INSERT INTO HISTORY (KEY, COLUMNS) VALUES (?, 2)") { history in
        for index in 0..<count {
          let number = spread.place(index, count, of: total)
          bind("Changed \(round) \(number)", 1, item)
          sqlite3_bind_int64(item, 2, Int64(number + 1))
          try finish(item)
          sqlite3_bind_int64(history, 1, Int64(number + 1))
          try finish(history)
        }
      }
    }
    try run("COMMIT")
  }

  private func bind(_ bytes: [UInt8], _ place: Int32, _ statement: OpaquePointer?) {
    let isCopied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    _ = bytes.withUnsafeBytes { sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), isCopied) }
  }

  private func bytes(_ column: Int32, _ statement: OpaquePointer?) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column)))
  }

  /// Gives the changes of the history since a number stamps, and writes them to a file on the disk.
  func send(after number: Int, stamp: [UInt8], to file: URL) throws {
    var sent: [UInt8] = []
    let changes = """
      SELECT h.KEY, i.ID, i.NAME, f.STAMPS FROM HISTORY h JOIN ITEM i ON i.KEY = h.KEY JOIN FACTS f ON f.KEY = h.KEY
      WHERE h.NUMBER > \(number)
      """
    try run("BEGIN IMMEDIATE")
    try withStatement(changes) { change in
      try withStatement("UPDATE FACTS SET STAMPS = ? WHERE KEY = ?") { facts in
        while sqlite3_step(change) == SQLITE_ROW {
          var stamps = Array(bytes(3, change))
          stamps.replaceSubrange(Self.range, with: stamp)
          bind(stamps, 1, facts)
          sqlite3_bind_int64(facts, 2, sqlite3_column_int64(change, 0))
          try finish(facts)
          let name = bytes(2, change)
          sent += bytes(1, change)
          sent += stamp
          sent.append(UInt8(name.count))
          sent += name
        }
      }
    }
    try run("COMMIT")
    try write(sent, to: file)
  }

  private static let range = name * stampSize..<(name + 1) * stampSize

  /// Applies the values of a file, in one transaction.
  func apply(_ file: URL) throws {
    let data = try Data(contentsOf: file)
    try run("BEGIN IMMEDIATE")
    let known = "SELECT f.KEY, f.STAMPS FROM PLACE p JOIN FACTS f ON f.KEY = p.KEY WHERE p.ID = ?"
    try withStatement(known) { known in
      try withStatement("UPDATE ITEM SET NAME = ? WHERE KEY = ?") { item in
        try withStatement("UPDATE FACTS SET STAMPS = ? WHERE KEY = ?") { facts in
          try withStatement("INSERT INTO HISTORY (KEY, COLUMNS) VALUES (?, 2)") { history in
            try data.withUnsafeBytes { try apply($0, known, item, facts, history) }
          }
        }
      }
    }
    try run("COMMIT")
  }

  private func apply(
    _ sent: UnsafeRawBufferPointer, _ known: OpaquePointer?, _ item: OpaquePointer?, _ facts: OpaquePointer?,
    _ history: OpaquePointer?
  ) throws {
    var position = 0
    while position < sent.count {
      let stamp = sent[position + 16..<position + 16 + Self.stampSize]
      let start = position + 16 + Self.stampSize + 1
      let count = Int(sent[start - 1])
      sqlite3_bind_blob(known, 1, sent.baseAddress.map { $0 + position }, 16, nil)
      position = start + count
      guard sqlite3_step(known) == SQLITE_ROW else { throw SyncBenchmarkError("An item is missing.") }
      let key = sqlite3_column_int64(known, 0)
      var stamps = Array(bytes(1, known))
      sqlite3_reset(known)
      guard stamps[Self.range].lexicographicallyPrecedes(stamp) else { continue }
      stamps.replaceSubrange(Self.range, with: stamp)
      let name = sent.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
      sqlite3_bind_text(item, 1, name, Int32(count), nil)
      sqlite3_bind_int64(item, 2, key)
      try finish(item)
      bind(stamps, 1, facts)
      sqlite3_bind_int64(facts, 2, key)
      try finish(facts)
      sqlite3_bind_int64(history, 1, key)
      try finish(history)
    }
  }
}

/// Two devices that exchange facts written by hand.
final class PlainFactContest {
  private let contest: SyncContest
  private let one: PlainFactDevice
  private let two: PlainFactDevice
  private(set) var sends = SyncTimes()
  private(set) var applications = SyncTimes()

  init(_ contest: SyncContest) throws {
    self.contest = contest
    (one, two) = (try PlainFactDevice(contest.file("facts one")), try PlainFactDevice(contest.file("facts two")))
    for device in [one, two] where try device.integer("SELECT count(*) FROM ITEM") == 0 {
      try device.addItems(contest.items)
    }
  }

  func run(_ spread: SyncSample.Spread, round: Int) async throws {
    let sent = contest.folder.appendingPathComponent("sent facts")
    let last = try one.integer("SELECT ifnull(max(NUMBER), 0) FROM HISTORY")
    let known = try two.integer("SELECT count(*) FROM HISTORY")
    try one.change(contest.changes, of: contest.items, spread, round: round)
    var stamp = [UInt8](repeating: 7, count: 24)
    withUnsafeBytes(of: UInt64(round + 1).bigEndian) { stamp.replaceSubrange(0..<8, with: $0) }
    sends.add(try await SyncTime { try one.send(after: last, stamp: stamp, to: sent) })
    applications.add(try await SyncTime { try two.apply(sent) })
    let count = try two.integer("SELECT count(*) FROM HISTORY") - known
    guard count == contest.changes else {
      throw SyncBenchmarkError("\(count) facts were applied instead of \(contest.changes).")
    }
  }
}
