import Persist

extension SharedSQL {
  /// The number of rows with a key whose column has another value: 0 or 1.
  static func countOthers(than value: SQLValue, inRow key: Int64, of table: String, column: String) -> SharedSQL {
    """
    SELECT COUNT(*) FROM \(name: table) \
    WHERE \(.key) = \(number: key) AND \(name: column) \(.isNot) \(value: value)
    """
  }
}
