/// A statement that every engine can run, or a part of one, as a value that each engine writes in its own dialect.
///
/// Its literal parts mean the same everywhere; everything that the dialects write differently is a part of its own. A
/// statement of one engine alone is an ``SQLText``, or the server's own text, and can't become a part of a shared one.
///
/// ```swift
/// let sql: SharedSQL = "SELECT COUNT(*) FROM \(name: table) WHERE \(.entity) = \(number: 3)"
/// ```
///
/// | part | SQLite | PostgreSQL |
/// |---|---|---|
/// | `\(name: table)` | the name, quoted if necessary | the name in lower case, or the server's own |
/// | `\(value: .integer(1))` | `?` and the value | `$1` with its type, and the value |
/// | `\(isOneOf: keys)` | `IN (SELECT value FROM json_each(?))` | `= ANY ($1)` and an array |
/// | `\(boolean: true)` | `1` | `true` |
/// | `\(byte: 1)` | `x'01'` | `'\x01'::bytea` |
/// | `\(.key)` and the other cases of ``Word`` | the raw value | see `ServerText+SharedSQL.swift` |
package struct SharedSQL: Sendable, ComposedSQL {
  package enum Part: Sendable {
    /// The same in every dialect.
    case text(StaticString)
    case word(Word)
    case name(String)
    case row(SQLRow)
    case number(Int64)
    case boolean(Bool)
    case literal(String)
    case byte(UInt8)
    /// The next of the statement's values.
    case value
    case keys([Int64])
  }

  /// A word that each engine spells in its own way, with SQLite's spelling as the raw value.
  package enum Word: String, Sendable {
    // Columns of every table
    case key = "Z_PK"
    case entity = "Z_ENT"
    case version = "Z_OPT"

    // The table of entities, with their greatest keys
    case entities = "Z_PRIMARYKEY"
    case greatestKey = "Z_MAX"

    // Columns of the history
    case transactionID = "ZTRANSACTIONID"
    case changedEntity = "ZENTITY"
    case changedKey = "ZENTITYPK"
    case changedColumns = "ZCOLUMNS"
    case changeType = "ZCHANGETYPE"
    case time = "ZTIMESTAMP"
    case historyText = "ZNAME"

    // Schemas, and the temporary tables of an import
    case store = "main"
    case temporary = "temp"
    case importedRows = "temp.Z_PERSIST_IMPORTED"
    case importedMembers = "temp.Z_PERSIST_MEMBERS"

    // Types
    case integer = "INTEGER"
    case bytes = "BLOB"

    // Functions and operators
    /// The present time in seconds since 2001-01-01: the Julian day of that midnight is 2451910.5.
    case now = "(julianday('now') - 2451910.5) * 86400.0"
    case ifNull = "IFNULL"
    case uppercase = "PersistUppercase"
    case lowercase = "PersistLowercase"
    case canonical = "PersistCanonical"
    case isNot = "IS NOT"
    /// A null in a column that contains keys or positions.
    case nullKey = "NULL"

    // Clauses
    /// Leaves rows out that violate a unique index.
    case insertNew = "INSERT OR IGNORE INTO"
    /// Keeps the order of the tables in SQLite, whose planner would scan the second one.
    case crossJoin = "CROSS JOIN"
    case withoutRowID = " WITHOUT ROWID"
    /// Identifies a row of a table without a key.
    case rowID = "rowid"
  }

  package private(set) var parts: [Part]
  /// The values of the parts that are values, in order.
  package private(set) var values: [SQLValue] = []
  /// SQLite's text of a statement that is run often with other values; nil if it is made for each run.
  package private(set) var fileText: String?

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []
    fileprivate var values: [SQLValue] = []

    @inline(never)
    package init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

    @inline(never)
    package mutating func appendLiteral(_ literal: StaticString) {
      if literal.utf8CodeUnitCount > 0 { parts.append(.text(literal)) }
    }

    @inline(never)
    package mutating func appendInterpolation(_ word: Word) { parts.append(.word(word)) }

    /// The name of a table, column, index or trigger.
    @inline(never)
    package mutating func appendInterpolation(name: String) { parts.append(.name(name)) }

    /// Names separated by commas.
    @inline(never)
    package mutating func appendInterpolation(names: [String]) { append(names.map { .name($0) }) }

    /// The alias of the rows of a table in a query.
    @inline(never)
    package mutating func appendInterpolation(row: SQLRow) { parts.append(.row(row)) }

    /// An integer literal.
    @inline(never)
    package mutating func appendInterpolation(number: Int64) { parts.append(.number(number)) }

    /// A truth value, as columns of Booleans contain it.
    @inline(never)
    package mutating func appendInterpolation(boolean: Bool) { parts.append(.boolean(boolean)) }

    /// Integers separated by commas.
    @inline(never)
    package mutating func appendInterpolation(numbers: [Int]) { append(numbers.map { .number(Int64($0)) }) }

    /// A text literal, for definitions, which accept no parameters.
    @inline(never)
    package mutating func appendInterpolation(literal: String) { parts.append(.literal(literal)) }

    /// A literal of one byte, with which the values of columns with external storage begin.
    @inline(never)
    package mutating func appendInterpolation(byte: UInt8) { parts.append(.byte(byte)) }

    @inline(never)
    package mutating func appendInterpolation(value: SQLValue) {
      parts.append(.value)
      values.append(value)
    }

    /// Values separated by commas.
    @inline(never)
    package mutating func appendInterpolation(values: [SQLValue]) {
      append(values.map { _ in .value })
      self.values += values
    }

    /// The condition, after a column, that it contains one of many keys.
    @inline(never)
    package mutating func appendInterpolation(isOneOf keys: [Int64]) { parts.append(.keys(keys)) }

    @inline(never)
    package mutating func appendInterpolation(_ sql: SharedSQL) {
      parts += sql.parts
      values += sql.values
    }

    private mutating func append(_ list: [Part]) {
      for (index, part) in list.enumerated() {
        if index > 0 { parts.append(.text(", ")) }
        parts.append(part)
      }
    }
  }

  package init(stringLiteral literal: StaticString) { parts = [.text(literal)] }

  package init(stringInterpolation: StringInterpolation) {
    (parts, values) = (stringInterpolation.parts, stringInterpolation.values)
  }

  /// The same statement with other values.
  package func binding(_ values: [SQLValue]) -> SharedSQL {
    var sql = self
    sql.values = values
    return sql
  }

  /// The same statement, for which files need no new text whenever other values are bound to it.
  package func keepingFileText() -> SharedSQL {
    var sql = self
    sql.fileText = SQLText(self).text
    return sql
  }

  @inline(never)
  package static func += (left: inout SharedSQL, right: SharedSQL) {
    left.parts += right.parts
    left.values += right.values
    left.fileText = nil
  }
}
