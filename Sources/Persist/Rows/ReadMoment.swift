/// A moment at which rows were the newest ones of a source.
///
/// Whether rows of that moment may be used a little later in place of reading them is for the source to say:
/// ``RowSource/isRecent(_:)``.
package struct ReadMoment: Sendable {
  /// The number of changes of the source that this program had made or noticed.
  let changeCount: UInt64
  let instant: ContinuousClock.Instant
}

extension RowSource {
  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) { (try rows(query), nil) }

  func isRecent(_ moment: ReadMoment) -> Bool { false }

  func relatedRows(
    by relationship: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? { nil }
}
