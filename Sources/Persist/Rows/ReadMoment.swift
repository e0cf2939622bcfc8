/// A moment at which rows were the newest ones of a source.
///
/// Whether rows of that moment may be used a little later in place of reading them is for the source to say:
/// ``RowSource/isRecent(_:)``.
package struct ReadMoment: Sendable {
  /// The time for which rows may be used after they were read, in place of reading them again. Within it, changes by
  /// other programs may go unnoticed. A source reads it once; tests lengthen it, so that what they count doesn't depend
  /// on the machine's speed.
  @TaskLocal package static var maximumAge = Duration.milliseconds(5)

  /// The number of changes of the source that this program had made or noticed.
  package let changeCount: UInt64
  package let instant: ContinuousClock.Instant

  package init(changeCount: UInt64, instant: ContinuousClock.Instant) {
    self.changeCount = changeCount
    self.instant = instant
  }
}

/// The extent of reading ahead when small reads follow each other closely.
package struct ReadAhead: Sendable {
  /// The maximum number of objects that one statement reads for.
  let maximumGroupSize: Int
  /// The number of consecutive keys that count as near; a power of two.
  let neighborhood: Int64
  /// The number of rows that one statement reads for several objects, at most about: those of a larger group would be
  /// too old before they are used up.
  var maximumRowCount = Int.max

  /// The first group is small, because it may not be used.
  static let firstGroupSize = 16

  /// For a source whose statements are cheap: reading 16 rows takes about twice the time of one, and more would save
  /// little.
  static let near = ReadAhead(maximumGroupSize: firstGroupSize, neighborhood: 64)
  /// For a source whose statements take a round trip, which is most of the cost of a thousand rows. Larger groups would
  /// often be too old before they are used up.
  package static let distant = ReadAhead(maximumGroupSize: 1024, neighborhood: 1024, maximumRowCount: 1024)

  /// The size of a group, four times that of the one before it.
  ///
  /// - Parameters:
  ///   - number: The number of groups already read in a run.
  ///   - rowsPerObject: The number of rows that the last group had for each object.
  func groupSize(_ number: Int, rowsPerObject: Int = 1) -> Int {
    let size = min(maximumGroupSize, Self.firstGroupSize << min(2 * number, 16))
    return min(size, max(maximumRowCount / max(rowsPerObject, 1), 1))
  }
}

extension RowSource {
  package var readAhead: ReadAhead { .near }

  package var readsConcurrently: Bool { false }

  package func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) {
    (try rows(query), nil)
  }

  package func isRecent(_ moment: ReadMoment) -> Bool { false }

  package func relatedRows(
    by relationship: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? { nil }
}
