/// SQL with its bound values: the only way to create SQL text.
///
/// It doesn't accept a `String`. Literal parts are `StaticString`s from the source code; names are quoted, and values
/// are bound, never pasted.
///
/// ```swift
/// let sql: SQLText = "SELECT COUNT(*) FROM \(name: table) WHERE Z_ENT = \(value: .integer(3))"
/// ```
package struct SQLText: Sendable, ComposedSQL {
  package private(set) var text: String
  /// The values of the `?` parameters in ``text``, in order.
  package private(set) var values: [SQLValue]

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var values: [SQLValue] = []

    @inline(never)
    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    @inline(never)
    package mutating func appendLiteral(_ literal: StaticString) {
      literal.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
    }

    /// The name of a table, column, index or trigger, quoted if necessary.
    @inline(never)
    package mutating func appendInterpolation(name: String) { text += SQLText.quoted(name) }

    /// Names separated by commas.
    package mutating func appendInterpolation(names: some Sequence<String>) { appendInterpolation(names: Array(names)) }

    // An overload for arrays, which takes a sixth of the time of the one for all sequences.
    @inline(never)
    package mutating func appendInterpolation(names: [String]) {
      for (index, name) in names.enumerated() {
        if index > 0 { text += ", " }
        text += SQLText.quoted(name)
      }
    }

    @inline(never)
    package mutating func appendInterpolation(value: SQLValue) {
      text += "?"
      values.append(value)
    }

    /// Values separated by commas.
    package mutating func appendInterpolation(values list: some Collection<SQLValue>) {
      appendInterpolation(parameters: list.count)
      values += list
    }

    /// A `?` parameter whose value is bound each time the statement runs.
    package mutating func appendInterpolation(parameter: Void) { text += "?" }

    /// A list of `?` parameters, separated by commas.
    package mutating func appendInterpolation(parameters count: Int) {
      // Joining repeated elements takes 430,000 instructions when a process first does it.
      if count > 0 { text += "?" + String(repeating: ", ?", count: count - 1) }
    }

    /// A `?` parameter with a number, for a value that occurs several times.
    package mutating func appendInterpolation(parameter number: Int) { text += "?\(number)" }

    /// An integer literal, for places where SQLite accepts no parameter.
    @inline(never)
    package mutating func appendInterpolation(number: Int64) { text += String(number) }

    /// Integers separated by commas.
    package mutating func appendInterpolation(numbers: some Sequence<Int>) {
      appendInterpolation(numbers: Array(numbers))
    }

    @inline(never)
    package mutating func appendInterpolation(numbers: [Int]) {
      for (index, number) in numbers.enumerated() {
        if index > 0 { text += ", " }
        text += String(number)
      }
    }

    /// A floating-point literal that parses back to the same number; NaN becomes null.
    package mutating func appendInterpolation(real: Double) { text += real.isNaN ? "NULL" : String(real) }

    /// A blob literal.
    package mutating func appendInterpolation(bytes: some Sequence<UInt8>) {
      let digits = Array("0123456789ABCDEF".utf8)
      let hex = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
      text += "x'" + String(decoding: hex, as: UTF8.self) + "'"
    }

    /// A text literal, for places where SQLite accepts no parameter, such as the definition of a column or a trigger.
    @inline(never)
    package mutating func appendInterpolation(literal: String) {
      text += "'" + literal.doubling("'") + "'"
    }

    /// The alias of the rows of a table in a query.
    @inline(never)
    mutating func appendInterpolation(row: SQLRow) { text += "r\(row.number)" }

    mutating func appendInterpolation(collation: FetchSortDescriptor.Comparison) { text += "\(collation.collation)" }

    /// For the types in this folder that validate their parts themselves.
    mutating func append(checked part: String) { text += part }

    mutating func appendInterpolation(function: SQLFunction) { text += "\(function.name)" }

    package mutating func appendInterpolation(_ part: SQLText) {
      text += part.text
      values += part.values
    }
  }

  package init(stringLiteral literal: StaticString) {
    text = literal.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
    values = []
  }

  package init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    values = stringInterpolation.values
  }

  /// SQL from the store itself: the definition of an object, read from `sqlite_schema`.
  package init(storedIn definition: StoredDefinition) {
    text = definition.sql
    values = []
  }

  /// For the few types in this folder that validate their parts themselves.
  init(checked text: String) {
    self.text = text
    values = []
  }

  /// The same text with other values.
  package func binding(_ values: [SQLValue]) -> SQLText {
    var sql = self
    sql.values = values
    return sql
  }

  /// SQL that returns SQLite's query plan for other SQL.
  package static func plan(of sql: String) -> String { "EXPLAIN QUERY PLAN " + sql }

  @inline(never)
  package static func += (left: inout SQLText, right: SQLText) {
    left.text += right.text
    left.values += right.values
  }

  /// Omits the quotes if the name has only letters, digits and underscores after a `Z`: no SQL keyword begins with it,
  /// and all names assigned by Core Data do.
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
    return isPlain ? name : "\"" + name.doubling("\"") + "\""
  }
}

/// The SQL text of an index, trigger, view or table, as stored in `sqlite_schema`.
package struct StoredDefinition: Sendable, Equatable {
  package let sql: String

  package init(sql: String) {
    self.sql = sql
  }
}
