import Synchronization

/// A moment at which rows were the newest ones of a source.
///
/// Whether rows of that moment may be used a little later in place of reading them is for the source to say:
/// ``RowSource/isRecent(_:)``.
package struct ReadMoment: Sendable {
  /// The time for which rows may be used after they were read, in place of reading them again. Within it, changes by
  /// other programs may go unnoticed. A source reads it once.
  package static var maximumAge: Duration {
    (hasOtherAge.load(ordering: .relaxed) ? otherAge : nil) ?? .milliseconds(5)
  }
  @TaskLocal private static var otherAge: Duration?
  private static let hasOtherAge = Atomic(false)

  /// Runs code of a test with another maximum age, so that what it counts doesn't depend on the machine's speed.
  package static func withMaximumAge<T>(_ age: Duration, _ body: () throws -> T) rethrows -> T {
    hasOtherAge.store(true, ordering: .relaxed)
    return try $otherAge.withValue(age, operation: body)
  }

  /// The number of changes of the source that this program had made or noticed.
  package let changeCount: UInt64
  /// The time since ``start``: only Swift's library knows the size of an instant, and the first use of each class with
  /// one among its fields takes 20,000 instructions, in which the runtime finds the places of these.
  private let time: Duration
  private static let start = ContinuousClock.now

  /// The present moment.
  package init(changeCount: UInt64) {
    self.changeCount = changeCount
    time = Self.start.duration(to: .now)
  }

  /// The time since the moment.
  package var age: Duration { Self.start.duration(to: .now) - time }
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
