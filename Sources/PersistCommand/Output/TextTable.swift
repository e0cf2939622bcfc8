/// Rows of text in columns, for people.
struct TextTable {
  enum Alignment { case left, right }

  private let alignments: [Alignment]
  private var rows: [[String]] = []

  /// - Parameter columns: titles with the alignment of the cells below them.
  init(_ columns: [(String, Alignment)]) {
    alignments = columns.map(\.1)
    rows = [columns.map(\.0)]
  }

  mutating func add(_ cells: String...) { rows.append(cells) }

  /// The lines, each with `indent` before it. The last column isn't padded.
  func text(indent: String = "") -> String {
    let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        if alignments[column] == .right { return padding + cell }
        return column == row.count - 1 ? cell : cell + padding
      }
      return indent + cells.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
