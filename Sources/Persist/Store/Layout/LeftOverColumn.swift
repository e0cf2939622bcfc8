/// A column that a migration left in its table.
enum LeftOverColumn {
  /// What the names of all such columns begin with; no attribute's column does.
  static let prefix = "PERSIST_LEFT"

  static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) }
}
