/// A value or a condition of SQL as data: what a predicate becomes before it is text.
///
/// A condition is true where it gives 1. Where it gives null it isn't true, and its negation is: ``not(_:)`` asks
/// whether the value is other than 1, so that logic has two values.
indirect enum SQLTerm: Sendable, Hashable {
  /// A column of the row of a table in a query.
  case column(String, of: SQLRow)
  case value(SQLValue)
  case binary(Operator, SQLTerm, SQLTerm)
  case negative(SQLTerm)
  case complement(SQLTerm)
  /// As a floating-point number.
  case real(SQLTerm)
  /// As a whole number, without what is behind the point.
  case whole(SQLTerm)
  case text(SQLTerm)
  case isNull(SQLTerm)
  case isPresent(SQLTerm)
  case not(SQLTerm)
  case all([SQLTerm])
  case any([SQLTerm])
  /// A condition that is expected to hold for few rows, so that an index is used for it.
  case rare(SQLTerm)
  /// From one value to another, both included.
  case between(SQLTerm, SQLTerm, SQLTerm)
  /// One of several values, none of them null.
  case isOne(SQLTerm, of: [SQLValue])
  /// One of the values of a JSON array of texts or whole numbers.
  case isMember(SQLTerm, ofJSON: String)
  /// Whether the row with a key is one whose text has what a full-text query looks for.
  case hasText(SQLTerm, FullTextIndex, query: String)
  /// How well the text of the row with a key fits a full-text query: the lower the better, and zero for not at all.
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

  static let never = SQLTerm.value(.integer(0))
  static let always = SQLTerm.value(.integer(1))

  enum Operator: Sendable, Hashable {
    case equal, less, lessOrEqual, greater, greaterOrEqual
    /// Equal, or both null.
    case same
    /// Neither equal nor both null.
    case different
    case add, subtract, multiply, divide, remainder, and, or, shiftLeft, shiftRight
  }
}

/// The rows of a table in a query, told from others by a number.
struct SQLRow: Sendable, Hashable {
  let number: Int
}

/// Tables joined in order, each by a condition, and a condition on the whole.
struct SQLScan: Sendable, Hashable {
  struct Table: Sendable, Hashable {
    let name: String
    let row: SQLRow
    let condition: SQLTerm
  }

  var tables: [Table]
  var condition: SQLTerm?
}

/// A function that Persist defines on each connection, or SQLite's own.
enum SQLFunction: Sendable, Hashable {
  /// `text, options`: the form in which texts are compared; see ``TextComparison``.
  case fold
  /// `text, options, part`: whether the text ends so.
  case endsWith
  /// `text, options, pattern`: whether wildcards match.
  case like
  /// `text, options, pattern`: whether a regular expression matches.
  case matches
  /// `text`
  case uppercase, lowercase, canonical
  /// `text`: in UTF-16 units.
  case length
  /// `number`: without its sign; the least whole number has no whole counterpart and becomes floating-point.
  case absolute
  /// `whole number, whole number`
  case bitwiseXor
  /// `number, number`: -1, 0 or 1, where one of them is of a decimal column; see ``DecimalColumn``.
  case decimalOrder
  /// `operator, number, number`: what `+`, `-`, `*` or `/` of decimals gives, or `abs` of the first, as a decimal
  /// column holds it.
  case decimalResult
  /// `text, part`: where the part begins, from 1; 0 for nowhere.
  case position
  /// `value, value`: null where they are equal, else the first.
  case nullIf
  /// `value, value`: the second where the first is null.
  case ifNull

  /// Names that no column can have and no store's own function has.
  var name: StaticString {
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
    case .decimalResult: "PERSIST_DECIMAL"
    case .position: "INSTR"
    case .nullIf: "NULLIF"
    case .ifNull: "IFNULL"
    }
  }
}
