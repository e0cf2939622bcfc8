/// Human-readable rows of text in columns.
struct TextTable {
  private let columns: Int
  private var rows: [[String]] = []

  init(columns: Int) { self.columns = columns }

  var isEmpty: Bool { rows.isEmpty }

  mutating func add(_ cells: String...) {
    precondition(cells.count == columns, "A row of this table has \(columns) cells, not \(cells.count).")
    rows.append(cells)
  }

  /// The lines, each with `indent` before it. The last column isn't padded.
  func text(indent: String = "") -> String {
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
