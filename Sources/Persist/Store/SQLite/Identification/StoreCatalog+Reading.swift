import Foundation

/// Reading the catalog of an SQLite file.
extension StoreCatalog {
  /// - Throws: ``PersistenceError/Code/notAStore`` for a database that isn't a store,
  ///   ``PersistenceError/Code/storeDamaged`` for unreadable metadata and missing columns.
  ///
  /// - Parameters:
  ///   - known: The schema in an earlier state, whose tables aren't read again if their definitions are the same.
  ///   - head: The part of the catalog that was read before in the same transaction.
  package convenience init(
    _ connection: SQLiteConnection, knowing known: StoreSchema? = nil, head: Head? = nil
  ) throws {
    let schema = try StoreSchema(connection, knowing: known)
    let place = PersistenceError.Place.store(connection.url)
    for (table, _) in Self.ownColumns where !schema.hasTable(named: table) {
      if schema.tables.isEmpty, let error = try connection.lostLog { throw error }
      let first = schema.tables.first.map { "'\($0.name)' is its first table" } ?? "it has no table"
      throw PersistenceError(
        .notAStore, at: place, "This SQLite database isn't a store: it has no table '\(table)'.",
        fix: "Check that it is the right file; \(first).")
    }
    for (table, columns) in Self.ownColumns {
      guard let missing = columns.first(where: { !schema.hasColumn($0, of: table) }) else { continue }
      throw PersistenceError(
        .storeDamaged, at: place, "The table '\(table)' has no column '\(missing)'.",
        fix: "Restore the store from a backup.")
    }
    let mark = try head?.mark ?? StoreMark(connection)
    let metadata = try StoreMetadata(mark, at: connection.url)
    try self.init(
      metadata: metadata, mark: mark, schema: schema, numberRows: head?.numberRows ?? Self.numberRows(connection),
      record: ModelRecord(connection, schema: schema, metadata: metadata),
      canDropColumns: SQLiteConnection.canDropColumns)
  }

  /// The tables that every store has, with the columns that are read.
  private static let ownColumns = [
    ("Z_METADATA", ["Z_VERSION", "Z_UUID", "Z_PLIST"]), ("Z_PRIMARYKEY", ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]),
  ]

  /// Whether the catalog still matches the store: its schema version, its metadata, its entity numbers and the record
  /// of its model.
  ///
  /// - Complexity: Three statements, which don't read the schema.
  func isCurrent(_ connection: SQLiteConnection) throws -> Bool {
    do {
      guard try StoreMark(connection) == mark, try Self.numberRows(connection) == numberRows else { return false }
      return try record?.isCurrent(connection) ?? true
    } catch let error as PersistenceError where [.sqlite, .storeDamaged].contains(error.code) {
      // The file is no longer a store; reading it completely reports the reason.
      return false
    }
  }

  static func numberRows(_ connection: SQLiteConnection) throws -> [EntityNumbers.Row] {
    var rows: [EntityNumbers.Row] = []
    try connection.query(.entityNumbers) { row in
      rows.append(
        EntityNumbers.Row(
          number: Int(clamping: row.integer(0)), name: row.text(1), parent: Int(clamping: row.integer(2)),
          maximum: row.isNull(3) ? nil : row.integer(3)))
    }
    return rows
  }
}

extension StoreMetadata {
  /// The metadata of an open database.
  ///
  /// - Throws: ``PersistenceError/Code/notAStore`` if the database has no metadata,
  ///   ``PersistenceError/Code/storeDamaged`` if they can't be read.
  package init(_ connection: SQLiteConnection) throws { try self.init(StoreMark(connection), at: connection.url) }

  /// Writes the metadata; the caller holds the transaction.
  func write(to connection: SQLiteConnection) throws {
    let bytes = try PropertyList.dictionary(values).binaryData()
    try connection.execute(.setMetadata(identifier: identifier, propertyList: .blob(bytes)))
  }
}

extension StoreSchema {
  /// The schema of an open database.
  ///
  /// - Parameter known: The schema in an earlier state, whose tables aren't read again if their definitions are the
  ///   same.
  package init(_ connection: SQLiteConnection, knowing known: StoreSchema? = nil) throws {
    var columns: [String: [Column]] = Dictionary()
    if known == nil {
      try connection.query(.columns) { row in
        columns[row.text(0), default: []].append(Column(name: row.text(1), declaredType: row.text(2)))
      }
    }
    var tables: [Table] = []
    var indexes: [Index] = []
    var triggers: [Trigger] = []
    var views: [(name: String, sql: String)] = []
    try connection.query(.catalog) { row in
      let (name, table, sql) = (row.text(1), row.text(2), row.isNull(3) ? nil : row.text(3))
      switch row.text(0) {
      case "table":
        if let known {
          tables.append(try Table(name, sql: sql ?? "", knowing: known, on: connection))
        } else {
          tables.append(Table(name: name, columns: columns[name] ?? [], sql: sql ?? ""))
        }
      case "index": indexes.append(Index(name: name, table: table, sql: sql))
      case "view": views.append((name, sql ?? ""))
      default: triggers.append(Trigger(name: name, table: table, sql: sql ?? ""))
      }
    }
    let schema = StoreSchema(
      tables: tables, indexes: indexes, triggers: triggers,
      views: views.map { View(name: $0, sql: $1, columns: connection.columns(readBy: $0)) })
    self = schema.showingConvertedTables()
  }
}

extension StoreSchema.Table {
  /// A table of an open database, whose columns are only read if its definition differs from the known one.
  fileprivate init(_ name: String, sql: String, knowing known: StoreSchema, on connection: SQLiteConnection) throws {
    if let table = known.table(named: name), table.name == name, table.sql == sql {
      self = table
      return
    }
    // The modules of virtual tables may be missing.
    let isVirtual = sql.uppercased().hasPrefix("CREATE VIRTUAL")
    let columns = try isVirtual ? [] : connection.all(.columns(of: name)) { row in
      StoreSchema.Column(name: row.text(0), declaredType: row.text(1))
    }
    self.init(name: name, columns: columns, sql: sql)
  }
}

extension SQLiteConnection {
  /// The error for a file that contains nothing without its log; nil for any other.
  package var lostLog: PersistenceError? {
    get throws {
      guard let url, try first(.isUnused, { $0.integer(0) }) == 1 else { return nil }
      return encryption == nil ? LostLog.error(storeAt: url) : LostLog.errorIfEncrypted(storeAt: url)
    }
  }
}
