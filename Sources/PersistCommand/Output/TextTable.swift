/// Human-readable rows of text in columns.
struct TextTable {
  private let columns: Int
  private let header: [String]?
  private var rows: [[String]] = []

  init(columns: Int) {
    self.columns = columns
    header = nil
  }

  /// A table whose columns have names. Columns without any text are omitted.
  init(header: [String]) {
    columns = header.count
    self.header = header
  }

  var isEmpty: Bool { rows.isEmpty }

  mutating func add(_ cells: String...) {
    precondition(cells.count == columns, "A row of this table has \(columns) cells, not \(cells.count).")
    rows.append(cells)
  }

  /// The lines, each with `indent` before it. The last column isn't padded.
  func text(indent: String = "") -> String {
    guard let header else { return Self.lines(rows, indent) }
    let shown = (0..<columns).filter { column in column == 0 || rows.contains { !$0[column].isEmpty } }
    return Self.lines(([header] + rows).map { row in shown.map { row[$0] } }, indent)
  }

  /// The lines, of at most a number of characters where that is possible: if the table is wider, each row is a
  /// paragraph, with a line for each column that has a text.
  ///
  /// - Parameter width: The number of characters; nil for any.
  func text(indent: String, fitting width: Int?) -> String {
    let table = text(indent: indent)
    guard let header, let width, table.split(separator: "\n").contains(where: { $0.count > width }) else {
      return table
    }
    return rows.map { row in
      let cells = zip(header, row).dropFirst().filter { !$1.isEmpty }.map { [$0, $1] }
      return cells.isEmpty ? indent + row[0] : "\(indent)\(row[0])\n\(Self.lines(cells, indent + "  "))"
    }.joined(separator: "\n")
  }

  private static func lines(_ rows: [[String]], _ indent: String) -> String {
    let columns = rows.first?.count ?? 0
    let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        column == columns - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
      }
      let line = indent + cells.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }
}
