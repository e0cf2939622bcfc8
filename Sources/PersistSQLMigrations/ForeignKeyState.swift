import Persist

/// The number of rows with dangling foreign keys in a database.
///
/// Keys that were dangling before a migration don't prevent it: SQLite only enforces foreign keys if a program requests
/// it, so many databases have some.
struct ForeignKeyState: Sendable, Hashable {
  /// By table and parent table, the number of rows and the row number of one of them.
  private var broken: [Pair: (count: Int, row: Int64?)] = [:]

  private struct Pair: Sendable, Hashable {
    var table: String
    var parent: String
  }

  static func == (left: ForeignKeyState, right: ForeignKeyState) -> Bool {
    left.broken.mapValues(\.count) == right.broken.mapValues(\.count)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(broken.mapValues(\.count)) }

  /// - Complexity: linear in the rows of all tables with foreign keys.
  init(_ connection: SQLiteConnection) throws {
    guard try connection.first(.hasForeignKeys, { _ in true }) == true else { return }
    try connection.query(.brokenForeignKeys) { row in
      broken[Pair(table: row.text(0), parent: row.text(1))] = (
        Int(clamping: row.integer(2)), row.isNull(3) ? nil : row.integer(3)
      )
    }
  }

  private var total: Int { broken.values.reduce(0) { $0 + $1.count } }

  /// A description of the foreign keys that a migration broke; nil if no more rows have dangling keys than before.
  func damage(since before: ForeignKeyState) -> String? {
    guard total > before.total else { return nil }
    let found = broken.filter { pair, rows in rows.count > before.broken[pair]?.count ?? 0 }
    return found.sorted { ($0.key.table, $0.key.parent) < ($1.key.table, $1.key.parent) }.map { pair, rows in
      let example = rows.row.map { ", such as row \($0)," } ?? ""
      let verb = rows.count == 1 ? "refers" : "refer"
      return "\(Measure.count(rows.count, "row")) of '\(pair.table)'\(example) \(verb) to missing rows of "
        + "'\(pair.parent)'."
    }.joined(separator: " ")
  }
}
