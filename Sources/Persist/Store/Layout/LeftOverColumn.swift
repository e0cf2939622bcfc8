/// A column that a migration left in its table.
enum LeftOverColumn {
  /// The prefix of the names of all such columns; no attribute's column has it.
  static let prefix = "PERSIST_LEFT"

  static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) }
}
