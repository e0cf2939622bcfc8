import Persist

extension SQLText {
  /// The number of rows with a key whose column has another value: 0 or 1.
  static func countOthers(than value: SQLValue, inRow key: Int64, of table: String, column: String) -> SQLText {
    "SELECT COUNT(*) FROM \(name: table) WHERE Z_PK = \(number: key) AND \(name: column) IS NOT \(value: value)"
  }
}
