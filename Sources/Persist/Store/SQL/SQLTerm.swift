/// An SQL value or condition as data: the intermediate form between a predicate and SQL text.
///
/// A condition is true if its value is 1. If its value is null, it isn't true, but its negation is: ``not(_:)`` tests
/// whether the value differs from 1, so that logic is two-valued.
package indirect enum SQLTerm: Sendable, Equatable {
  /// A column of a row of a table in a query.
  case column(String, of: SQLRow)
  case value(SQLValue)
  case binary(Operator, SQLTerm, SQLTerm)
  case negative(SQLTerm)
  case complement(SQLTerm)
  /// Converted to a floating-point number.
  case real(SQLTerm)
  /// Converted to an integer, without the fraction.
  case whole(SQLTerm)
  case text(SQLTerm)
  case isNull(SQLTerm)
  case isPresent(SQLTerm)
  case not(SQLTerm)
  case all([SQLTerm])
  case any([SQLTerm])
  /// Between two values, inclusive.
  case between(SQLTerm, SQLTerm, SQLTerm)
  /// Equal to one of several values, none of them null.
  case isOne(SQLTerm, of: [SQLValue])
  /// Equal to one of the values of a JSON array of texts or integers.
  case isMember(SQLTerm, ofJSON: String)
  /// Equal to the value of one of the rows of a scan.
  case isSelected(SQLTerm, SQLTerm, of: SQLScan)
  /// Whether the text of the row with a key matches a full-text query.
  case hasText(SQLTerm, FullTextIndex, query: String)
  /// The relevance of the text of the row with a key to a full-text query: lower is better, and zero is no match.
  case relevance(SQLTerm, FullTextIndex, query: String)
  case call(SQLFunction, [SQLTerm])
  case choice(if: SQLTerm, then: SQLTerm, else: SQLTerm)
  /// The value of the only row of a scan.
  case only(SQLTerm, of: SQLScan)
  case count(SQLScan)
  case exists(SQLScan)
  case least(SQLTerm, of: SQLScan)
  case greatest(SQLTerm, of: SQLScan)
  case sum(SQLTerm, of: SQLScan)

  package static let never = SQLTerm.value(.integer(0))
  package static let always = SQLTerm.value(.integer(1))

  package enum Operator: Sendable, Equatable {
    case equal, less, lessOrEqual, greater, greaterOrEqual
    /// Equal, or both null.
    case same
    /// Neither equal nor both null.
    case different
    case add, subtract, multiply, divide, remainder, and, or, shiftLeft, shiftRight
  }
}

/// The rows of a table in a query, identified by a number.
package struct SQLRow: Sendable, Hashable {
  package let number: Int

  package init(number: Int) {
    self.number = number
  }
}

/// Tables joined in order, each by a condition, with a condition on the result.
package struct SQLScan: Sendable, Equatable {
  package struct Table: Sendable, Equatable {
    package let name: String
    package let row: SQLRow
    /// Nil if there is none.
    package let condition: SQLTerm?
  }

  package var tables: [Table]
  package var condition: SQLTerm?

  package init(tables: [Table], condition: SQLTerm? = nil) {
    self.tables = tables
    self.condition = condition
  }
}

/// A function that Persist registers on each connection, or one of SQLite's own.
package enum SQLFunction: Sendable, Equatable {
  /// `text, options`: the folded form for comparison; see ``TextComparison``.
  case fold
  /// `text, options, part`: whether the text has the suffix.
  case endsWith
  /// `text, options, pattern`: whether a wildcard pattern matches.
  case like
  /// `text, options, pattern`: whether a regular expression matches.
  case matches
  /// `text`
  case uppercase, lowercase, canonical
  /// `text`: the length in UTF-16 code units.
  case length
  /// `number`: the absolute value; that of the least integer becomes floating-point.
  case absolute
  /// `integer, integer`
  case bitwiseXor
  /// `number, number`: -1, 0 or 1, for comparisons with a decimal column; see ``DecimalColumn``.
  case decimalOrder
  /// `number`: bytes in the order of the numbers in a decimal column, whose digits SQLite doesn't all compare.
  case decimalKey
  /// `operator, number, number`: the result of `+`, `-`, `*` or `/` on decimals, or `abs` of the first, in the form of
  /// a decimal column.
  case decimalResult
  /// `text, part`: the position of the part, from 1; 0 if it doesn't occur.
  case position
  /// `value, value`: null if they are equal, otherwise the first.
  case nullIf
  /// `value, value`: the second if the first is null, otherwise the first.
  case ifNull

  /// Names that can't be columns and that no store's own function has.
  package var name: StaticString {
    switch self {
    case .fold: "PERSIST_FOLD"
    case .endsWith: "PERSIST_ENDS"
    case .like: "PERSIST_LIKE"
    case .matches: "PERSIST_MATCHES"
    case .uppercase: "PERSIST_UPPERCASE"
    case .lowercase: "PERSIST_LOWERCASE"
    case .canonical: "PERSIST_CANONICAL"
    case .length: "PERSIST_LENGTH"
    case .absolute: "PERSIST_ABSOLUTE"
    case .bitwiseXor: "PERSIST_XOR"
    case .decimalOrder: "PERSIST_DECIMAL_ORDER"
    case .decimalKey: "PERSIST_DECIMAL_KEY"
    case .decimalResult: "PERSIST_DECIMAL"
    case .position: "INSTR"
    case .nullIf: "NULLIF"
    case .ifNull: "IFNULL"
    }
  }
}

extension SQLTerm {
  /// The rows that the term refers to, other than those of its own subqueries.
  var outerRows: Set<SQLRow> {
    switch self {
    case .column(_, let row): [row]
    case .value: []
    case .binary(_, let left, let right): left.outerRows.union(right.outerRows)
    case .negative(let part), .complement(let part), .real(let part), .whole(let part), .text(let part),
      .isNull(let part), .isPresent(let part), .not(let part), .isOne(let part, _), .isMember(let part, _),
      .hasText(let part, _, _), .relevance(let part, _, _):
      part.outerRows
    case .all(let parts), .any(let parts), .call(_, let parts):
      parts.reduce(into: []) { $0.formUnion($1.outerRows) }
    case .between(let first, let second, let third), .choice(let first, let second, let third):
      first.outerRows.union(second.outerRows).union(third.outerRows)
    case .isSelected(let part, let value, let scan): part.outerRows.union(scan.outerRows(with: value))
    case .only(let value, let scan), .least(let value, let scan), .greatest(let value, let scan),
      .sum(let value, let scan):
      scan.outerRows(with: value)
    case .count(let scan), .exists(let scan): scan.outerRows
    }
  }
}

extension SQLScan {
  /// The rows of the query around it that the scan refers to.
  var outerRows: Set<SQLRow> { outerRows(with: nil) }

  fileprivate func outerRows(with value: SQLTerm?) -> Set<SQLRow> {
    let terms = tables.compactMap(\.condition) + [condition, value].compactMap { $0 }
    return terms.reduce(into: Set<SQLRow>()) { $0.formUnion($1.outerRows) }.subtracting(tables.map(\.row))
  }
}
