/// The rows at the other end of a to-many relationship, for many owners.
struct RelatedRows: Sendable {
  /// Grouped by owner, in the relationship's order; a row with several owners appears once per owner.
  var batch: RowBatch
  /// The key of the owner of each row in the batch.
  var owners: [Int64]
}
