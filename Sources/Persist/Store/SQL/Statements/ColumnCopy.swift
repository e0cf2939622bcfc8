/// Columns of a table that a copy of it gets too, though its model has nothing that they stand for.
struct ColumnCopy: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let old: String
    let new: String
  }

  let source: String
  let target: String
  let columns: [Column]
  /// `Z_ENT` in the source of the rows that have the same key in the copy.
  let entityNumbers: [Int]
}
