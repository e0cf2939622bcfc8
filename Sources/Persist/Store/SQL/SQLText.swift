/// SQL with its bound values: the only way to make SQL text.
///
/// A `String` doesn't fit in. What stands in the source code is a `StaticString`; a name is quoted and a value is
/// bound, never pasted.
///
/// ```swift
/// let sql: SQLText = "SELECT COUNT(*) FROM \(name: table) WHERE Z_ENT = \(value: .integer(3))"
/// ```
struct SQLText: Sendable, ExpressibleByStringInterpolation {
  private(set) var text: String
  /// The values of the `?` in ``text``, in order.
  private(set) var values: [SQLValue]

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var values: [SQLValue] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    mutating func appendLiteral(_ literal: StaticString) {
      literal.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
    }

    /// The name of a table, column, index or trigger, quoted where it has to be.
    mutating func appendInterpolation(name: String) { text += SQLText.quoted(name) }

    /// Names with commas between them.
    mutating func appendInterpolation(names: some Sequence<String>) {
      text += names.map(SQLText.quoted).joined(separator: ", ")
    }

    mutating func appendInterpolation(value: SQLValue) {
      text += "?"
      values.append(value)
    }

    /// Values with commas between them.
    mutating func appendInterpolation(values list: some Collection<SQLValue>) {
      text += repeatElement("?", count: list.count).joined(separator: ", ")
      values += list
    }

    /// A `?` whose value is bound each time that the statement runs.
    mutating func appendInterpolation(parameter: Void) { text += "?" }

    /// A whole number, for places where SQLite takes no parameter.
    mutating func appendInterpolation(number: Int64) { text += String(number) }

    /// Whole numbers with commas between them.
    mutating func appendInterpolation(numbers: some Sequence<Int>) {
      text += numbers.map { String($0) }.joined(separator: ", ")
    }

    /// A number with a fraction, which reads back as the same one; what isn't a number is no value.
    mutating func appendInterpolation(real: Double) { text += real.isNaN ? "NULL" : String(real) }

    /// Bytes as a literal.
    mutating func appendInterpolation(bytes: some Sequence<UInt8>) {
      let digits = Array("0123456789ABCDEF".utf8)
      let hex = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
      text += "x'" + String(decoding: hex, as: UTF8.self) + "'"
    }

    /// A text literal, for places where SQLite takes no parameter, as in the definition of a column or a trigger.
    mutating func appendInterpolation(literal: String) {
      text += "'" + literal.replacing("'", with: "''") + "'"
    }

    /// The name that a query has for the rows of one of its tables.
    mutating func appendInterpolation(row: SQLRow) { text += "r\(row.number)" }

    mutating func appendInterpolation(collation: FetchSortDescriptor.Comparison) { text += "\(collation.collation)" }

    mutating func appendInterpolation(function: SQLFunction) { text += "\(function.name)" }

    mutating func appendInterpolation(_ part: SQLText) {
      text += part.text
      values += part.values
    }
  }

  init(stringLiteral literal: StaticString) {
    text = literal.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
    values = []
  }

  init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    values = stringInterpolation.values
  }

  /// SQL that the store itself holds: the definition of an object, read from `sqlite_schema`.
  init(storedIn definition: StoredDefinition) {
    text = definition.sql
    values = []
  }

  /// For the few types in this folder that check their parts themselves.
  init(checked text: String) {
    self.text = text
    values = []
  }

  /// SQL that gives SQLite's plan for other SQL.
  static func plan(of sql: String) -> String { "EXPLAIN QUERY PLAN " + sql }

  static func + (left: SQLText, right: SQLText) -> SQLText {
    var sum = left
    sum += right
    return sum
  }

  static func += (left: inout SQLText, right: SQLText) {
    left.text += right.text
    left.values += right.values
  }

  /// Nothing but letters, digits and underscores behind a `Z` needs no quotes: no keyword of SQL begins so, and all
  /// names that Core Data gives do.
  fileprivate static func quoted(_ name: String) -> String {
    let isPlain =
      (name.utf8.first == UInt8(ascii: "Z"))
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
  }
}

extension Sequence where Element == SQLText {
  func joined(separator: SQLText) -> SQLText {
    var result: SQLText = ""
    var isFirst = true
    for part in self {
      if !isFirst { result += separator }
      result += part
      isFirst = false
    }
    return result
  }
}

/// The text with which an index, trigger, view or table was made, as `sqlite_schema` keeps it.
struct StoredDefinition: Sendable, Hashable {
  let sql: String
}
