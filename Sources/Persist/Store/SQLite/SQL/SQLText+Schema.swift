extension SQLText {
  /// The definitions of everything that may call functions: triggers, views, indexes and tables with generated columns.
  static let definitions: SQLText = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL"

  static func knows(function name: String) -> SQLText {
    "SELECT 1 FROM pragma_function_list WHERE name = \(value: .text(name)) COLLATE NOCASE"
  }
}
