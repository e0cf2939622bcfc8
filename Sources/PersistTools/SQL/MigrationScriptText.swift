import Persist

/// A migration as text for the program `sqlite3`.
///
/// Everything is one transaction. A check is a row that violates a constraint, whose name is the message: the program
/// then stops, and SQLite rolls the transaction back.
struct MigrationScriptText: Sendable {
  /// A condition on the database, before or after the statements.
  struct Check: Sendable {
    /// The kind of a check, which determines its message.
    enum Kind: Sendable {
      case identity, version, content
    }

    let kind: Kind
    /// An expression that is 1 or 0.
    let condition: SQLText
  }

  /// The comment at the beginning, line by line.
  var comment: [String]
  var before: [Check]
  var statements: [SQLText]
  var after: [Check]

  init(comment: [String], before: [Check], statements: [SQLText], after: [Check]) {
    self.comment = comment
    self.before = before
    self.statements = statements
    self.after = after
  }

  /// The commands of the program itself, which only it understands.
  private static let commands = [".bail on", ".timeout 60000", ".dbconfig enable_trigger off"]

  /// The whole script.
  var text: String {
    let lines = comment.map { "-- " + $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
    return (lines + [""] + Self.commands).joined(separator: "\n") + "\n" + sql
  }

  /// The SQL, which other programs can run.
  var sql: String {
    ([
      "PRAGMA foreign_keys = OFF", "PRAGMA legacy_alter_table = OFF", "PRAGMA synchronous = FULL", "BEGIN IMMEDIATE",
      """
      CREATE TEMP TABLE persist_check (
        is_store CONSTRAINT "This is another store than the script was written for." CHECK (is_store),
        is_version CONSTRAINT "The store doesn't have the version that the script migrates from." CHECK (is_version),
        is_same CONSTRAINT "The store has changed since the script was written." CHECK (is_same),
        is_done CONSTRAINT "The migrated store isn't as expected." CHECK (is_done)
      )
      """,
    ] as [SQLText] + before.map { Self.insertion($0, isAfter: false) } + statements
      + after.map { Self.insertion($0, isAfter: true) } + ["DROP TABLE temp.persist_check", "COMMIT"])
      .map { Self.terminated($0.withLiterals) }.joined()
  }

  /// SQLite stores the definition of an index up to the semicolon, space included; a comment would hide one.
  private static func terminated(_ statement: String) -> String {
    let lastLine = statement.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    return statement + (lastLine.contains("--") ? "\n;\n" : ";\n")
  }

  private static func insertion(_ check: Check, isAfter: Bool) -> SQLText {
    let column: SQLText =
      switch check.kind {
      case .identity: "is_store"
      case .version: "is_version"
      case .content: isAfter ? "is_done" : "is_same"
      }
    return "INSERT INTO temp.persist_check (\(column)) VALUES (\(check.condition))"
  }
}

extension MigrationScriptText.Check {
  /// The store has an identifier.
  static func identifier(_ identifier: String) -> Self {
    Self(
      kind: .identity,
      condition: "EXISTS (SELECT 1 FROM main.Z_METADATA WHERE Z_UUID = \(value: .text(identifier)))")
  }

  /// A table has these columns, in order.
  static func columns(_ columns: String, of table: String) -> Self {
    Self(kind: .content, condition: "(\(SQLText.columnNames(of: table))) IS \(value: .text(columns))")
  }

  /// A table has a row with exactly these values.
  static func row(_ values: [(column: String, value: SQLValue)], of table: String, isOfVersion: Bool) -> Self {
    let conditions = values.map { "\(name: $0.column) IS \(value: $0.value)" as SQLText }
    return Self(
      kind: isOfVersion ? .version : .content,
      condition: "EXISTS (SELECT 1 FROM main.\(name: table) WHERE \(conditions.joined(separator: " AND ")))")
  }

  /// A table has this content, in condensed form: see ``SQLText/extent(of:columns:)``.
  static func extent(_ extent: String, of table: String, columns: [String]) -> Self {
    Self(
      kind: .content, condition: "(\(SQLText.extent(of: table, columns: columns))) IS \(value: .text(extent))")
  }
}

extension SQLText {
  /// The columns of a table as one text.
  static func columnNames(of table: String) -> SQLText {
    "SELECT group_concat(name, ', ') FROM pragma_table_info(\(value: .text(table)))"
  }

  /// All rows of a table, in a fixed order.
  static func contents(of table: String, columns: [String]) -> SQLText {
    "SELECT \(names: columns) FROM main.\(name: table) ORDER BY 1"
  }

  /// The number of rows of a table; with the columns of objects, also the greatest key, and the sum of all versions,
  /// which grows with every change of an object.
  static func extent(of table: String, columns: [String]) -> SQLText {
    let known = Set(columns.map(\.foldedIdentifier))
    let greatest: SQLText = known.contains("z_pk") ? " || ' ' || coalesce(max(Z_PK), 0)" : ""
    let versions: SQLText = known.contains("z_opt") ? " || ' ' || coalesce(sum(Z_OPT), 0)" : ""
    return "SELECT count(*) || ''\(greatest)\(versions) FROM main.\(name: table)"
  }

  /// The definitions that only one of two databases has.
  static let differingDefinitions: SQLText = """
    SELECT name FROM (SELECT type, name, tbl_name, sql FROM main.sqlite_master EXCEPT \
    SELECT type, name, tbl_name, sql FROM copy.sqlite_master) UNION ALL \
    SELECT name FROM (SELECT type, name, tbl_name, sql FROM copy.sqlite_master EXCEPT \
    SELECT type, name, tbl_name, sql FROM main.sqlite_master)
    """

  /// The number of rows that only one of two databases has.
  static func differingRows(of table: String) -> SQLText {
    """
    SELECT (SELECT count(*) FROM (SELECT * FROM main.\(name: table) EXCEPT SELECT * FROM copy.\(name: table))) + \
    (SELECT count(*) FROM (SELECT * FROM copy.\(name: table) EXCEPT SELECT * FROM main.\(name: table)))
    """
  }
}
