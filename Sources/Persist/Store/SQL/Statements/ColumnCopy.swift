/// Columns unknown to the model that are preserved in a copy of their table.
struct ColumnCopy: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let old: String
    let new: String
  }

  let source: String
  let target: String
  let columns: [Column]
  /// `Z_ENT` in the source of the rows that keep their key in the copy.
  let entityNumbers: [Int]
}
