import Persist

/// Definitions of tables, indexes and sequences.
extension ServerText {
  /// The type of a column.
  ///
  /// Dates are seconds since 2001, as in SQLite, so that no date changes when a store moves, unless the attribute asks
  /// for the server's own; their type has a name of its own, which distinguishes them from other numbers. Texts are
  /// compared by their bytes, which is the order of Persist, and the only one that an index on a prefix can use.
  static func type(_ type: TableMap.ColumnType) -> ServerText {
    switch type {
    case .timestamp: "\(table: dateType)"
    case .float: "double precision"
    case .varchar: "text COLLATE \"C\""
    case .integer, .int32, .int16, .boolean, .decimal, .blob, .uuid, .moment:
      ServerTerms.Kind(type).typeName
    }
  }

  /// The name of the type of dates.
  static let dateType = "PERSIST_DATE"

  static let createDateType: ServerText = "CREATE DOMAIN \(table: dateType) AS double precision"

  /// The declared type of a column in SQLite's layout, by the type that the server names; an unknown one unchanged.
  static func declaredType(_ name: String) -> String {
    let type: TableMap.ColumnType? =
      switch name {
      case "bigint": .integer
      case "integer": .int32
      case "smallint": .int16
      case "boolean": .boolean
      case "uuid": .uuid
      case "timestamp with time zone": .moment
      case "double precision": .float
      case "numeric": .decimal
      case "text": .varchar
      case "bytea": .blob
      case let name where name.hasSuffix(self.name(dateType)): .timestamp
      default: nil
      }
    return type?.rawValue ?? name
  }

  static func create(_ table: TableDefinition, named name: String? = nil) -> [ServerText] {
    let columns = table.columns.map { column -> ServerText in
      let constraint: ServerText = column.name == "Z_OPT" ? " NOT NULL DEFAULT 1" : ""
      return "\(name: column.name) \(type(column.type))\(constraint)"
    }
    let create: ServerText = """
      CREATE TABLE \(table: name ?? table.name) \
      (\(columns.joined(separator: ", ")), PRIMARY KEY (\(names: table.primaryKey)))
      """
    return [create]
  }

  /// The sequence of a hierarchy's keys. A process takes ``keyBlockSize`` keys with each value.
  static func createKeySequence(of table: String) -> ServerText {
    "CREATE SEQUENCE IF NOT EXISTS \(table: keySequence(of: table)) INCREMENT BY \(number: Int64(keyBlockSize))"
  }

  static func dropKeySequence(of table: String) -> ServerText {
    "DROP SEQUENCE IF EXISTS \(table: keySequence(of: table))"
  }

  static func keySequence(of table: String) -> String { table + "_id_seq" }
  static let keyBlockSize = 64

  /// - Parameter concurrently: Whether others can write meanwhile, which requires that the statement runs alone.
  static func create(_ index: IndexDefinition, concurrently: Bool = false) -> ServerText {
    let columns = index.columns.map { column -> ServerText in
      // The order of nulls in Persist is that of SQLite; an index with another one serves no order.
      column.isAscending == false ? "\(name: column.name) DESC NULLS LAST" : "\(name: column.name) NULLS FIRST"
    }
    let unique: ServerText = index.isUnique ? "UNIQUE " : ""
    var conditions: [ServerText] = []
    if let numbers = index.entityNumbers { conditions.append("entity IN (\(numbers: numbers))") }
    if index.excludesNull, let first = index.columns.first { conditions.append("\(name: first.name) IS NOT NULL") }
    conditions += index.conditions.map { ServerText(.condition($0)) }
    let condition: ServerText = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    return """
      CREATE \(unique)INDEX \(concurrently ? "CONCURRENTLY " : "")\(name: index.name) ON \(table: index.table) \
      (\(columns.joined(separator: ", ")))\(condition)
      """
  }

  /// The tables that describe the store: see ``ServerNames``.
  static let storeTables: [ServerText] = [
    """
    CREATE TABLE \(table: "Z_METADATA") \
    (number bigint PRIMARY KEY, identifier text NOT NULL, metadata bytea NOT NULL)
    """,
    """
    CREATE TABLE \(table: "Z_PRIMARYKEY") \
    (entity bigint PRIMARY KEY, name text NOT NULL, parent bigint NOT NULL, greatest_key bigint)
    """,
    "CREATE TABLE \(table: "PERSIST_METADATA") (key text PRIMARY KEY, value bytea NOT NULL)",
    "CREATE TABLE \(table: "PERSIST_NAMES") (short text PRIMARY KEY, name text NOT NULL)", createProofTable,
  ]

  /// The name of the table of proofs that transactions were committed.
  static let proofTable = "PERSIST_COMMITS"

  static let createProofTable: ServerText = """
    CREATE TABLE \(table: proofTable) (writer uuid, number bigint, is_committed boolean NOT NULL, \
    at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (writer, number))
    """

  /// Records the complete name of an object whose name is too long for the server; nil if it isn't.
  static func record(name: String) -> ServerText? {
    let short = self.name(name)
    guard short != ServerNames.name(name) else { return nil }
    return """
      INSERT INTO \(table: "PERSIST_NAMES") VALUES (\(text: short), \(text: name)) \
      ON CONFLICT DO NOTHING
      """
  }
}

extension ServerText {
  /// All statements that make a table, with the sequence of its keys and the record of long names.
  static func make(_ table: TableDefinition) -> [ServerText] {
    let sequence = table.primaryKey == ["Z_PK"] ? [createKeySequence(of: table.name)] : []
    let names = [table.name] + table.columns.map(\.name)
    return create(table) + sequence + names.compactMap(record)
  }

  static func make(_ index: IndexDefinition) -> [ServerText] {
    [create(index)] + [record(name: index.name)].compactMap { $0 }
  }

  /// A lock that only programs which create or migrate the store hold, until the end of their transaction.
  static func lock(_ schema: String) -> ServerText {
    "SELECT pg_advisory_xact_lock(\(lockNumber(schema)))"
  }

  /// Takes a lock that keeps programs from migrating the store until the end of the transaction, and that many can
  /// hold: a value for a `SELECT`.
  static func sharedLock(_ schema: String) -> ServerText {
    "pg_advisory_xact_lock_shared(\(lockNumber(schema)))"
  }

  private static func lockNumber(_ schema: String) -> ServerText {
    "hashtextextended(\(text: lockName(schema)), 0)"
  }

  /// The text whose number identifies the locks.
  static func lockName(_ schema: String) -> String { "persist " + schema }

  /// The value of the server's `lock_timeout` for a wait, in milliseconds. 0 would mean no limit; the server rejects
  /// numbers of more than 31 bits.
  static func lockTimeout(_ wait: Duration) -> Int64 {
    Int64(min(max(1, wait / .milliseconds(1)), Double(Int32.max)))
  }
}
