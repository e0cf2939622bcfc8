import Foundation
import Persist

/// The applied migrations according to the database.
struct SQLMigrationHistory: Sendable {
  /// Persist's record of a migration, in addition to the version.
  struct Record: Sendable, Hashable {
    var checksum: String?
    var appliedAt: Date?
  }

  let table: HistoryTable
  /// The contents of the table's key column, as text.
  let keys: Set<String>
  /// The ``keys`` that are numbers.
  let versions: Set<Int64>
  /// The version at which another tool stopped halfway.
  let unfinished: String?
  /// Persist's records, by version.
  let records: [Int64: Record]

  /// Creates the history of a database without applied migrations.
  init(newTable name: String?) {
    table = HistoryTable(new: name ?? HistoryTable.knownNames[0])
    (keys, versions, unfinished, records) = ([], [], nil, [:])
  }

  /// - Parameter name: the table of versions; nil for the first known one that exists.
  init(_ connection: SQLiteConnection, table name: String?) throws {
    let candidates = name.map { [$0] } ?? HistoryTable.knownNames
    let present = try candidates.first { try connection.first(.knows(table: $0)) { _ in true } == true }
    guard let present else {
      self = SQLMigrationHistory(newTable: name)
      return
    }
    let columns = try connection.all(.columns(of: present)) { row in
      HistoryTable.Column(
        name: row.text(0), declaredType: row.text(1), needsValue: row.integer(2) != 0 && row.integer(3) == 0)
    }
    let table = try HistoryTable(present, columns: columns)
    var keys: [String] = []
    var unfinished: String?
    switch table.form {
    case .everyVersion: keys = try connection.all(.values(of: [table.keyColumn], in: present)) { $0.text(0) }
    case .newestVersion(let dirtyColumn):
      try connection.query(.values(of: [table.keyColumn, dirtyColumn], in: present)) { row in
        keys.append(row.text(0))
        if row.integer(1) != 0 || row.text(1).lowercased() == "true" { unfinished = row.text(0) }
      }
    }
    self.table = table
    self.keys = Set(keys)
    versions = table.key == .name ? [] : Set(keys.compactMap { Int64($0) })
    self.unfinished = unfinished
    records = try Self.records(connection)
  }

  private static func records(_ connection: SQLiteConnection) throws -> [Int64: Record] {
    guard try connection.first(.knows(table: SQLText.fileRecordTable), { _ in true }) == true else { return [:] }
    var records: [Int64: Record] = [:]
    try connection.query(.fileRecords) { row in
      records[row.integer(0)] = Record(
        checksum: row.isNull(1) ? nil : row.text(1),
        appliedAt: row.isNull(2) ? nil : Date(timeIntervalSince1970: row.double(2)))
    }
    return records
  }

  /// The contents of the key column that identify a migration.
  func keys(of migration: SQLMigration) -> [String] {
    keys.filter { key in
      (table.key != .name && Int64(key) == migration.version)
        || (table.key != .number && (key == migration.description || key == migration.name))
    }
  }

  /// Whether a migration has been applied to the database.
  func includes(_ migration: SQLMigration) -> Bool {
    switch table.form {
    case .newestVersion: versions.contains { $0 >= migration.version }
    case .everyVersion:
      versions.contains(migration.version)
        || (table.key != .number && (keys.contains(migration.description) || keys.contains(migration.name)))
    }
  }
}
