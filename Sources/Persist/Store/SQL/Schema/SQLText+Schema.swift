extension SQLText {
  /// The definitions of all objects that may call functions: triggers, views, indexes over expressions, tables with
  /// generated columns or checks.
  static let definitions: SQLText = """
    SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL AND CASE type \
    WHEN 'table' THEN instr(sql, 'AS (') OR instr(sql, 'CHECK') \
    WHEN 'index' THEN sql LIKE '%(%(%' ELSE 1 END
    """

  static func knows(function name: String) -> SQLText {
    "SELECT 1 FROM pragma_function_list WHERE name = \(value: .text(name)) COLLATE NOCASE"
  }
}
