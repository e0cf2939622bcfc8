/// The rows at the other end of a to-many relationship of many rows.
struct RelatedRows: Sendable {
  /// By owner, and in the relationship's order; a row that several owners have stands once for each.
  var batch: RowBatch
  /// For each row of the batch the key of its owner.
  var owners: [Int64]
}
