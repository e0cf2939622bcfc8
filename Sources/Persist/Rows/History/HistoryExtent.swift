/// The extent of a store's history in one state of the store.
package struct HistoryExtent: Sendable, Equatable {
  /// The smallest number after which every transaction is still there.
  package let oldestPosition: Int64
  /// The number of the last transaction; 0 before the first.
  package let lastNumber: Int64
  /// Whether changes are recorded; false if the history was switched off and its past kept.
  package let isTracking: Bool
  /// Whether the position of the query belongs to this history, as far as its mark shows.
  package var isOfPosition = true

  package init(oldestPosition: Int64, lastNumber: Int64, isTracking: Bool, isOfPosition: Bool = true) {
    self.oldestPosition = oldestPosition
    self.lastNumber = lastNumber
    self.isTracking = isTracking
    self.isOfPosition = isOfPosition
  }

  /// Whether the history contains every transaction after a number, which is one of its own.
  package func isComplete(after number: Int64) -> Bool { oldestPosition <= number && number <= lastNumber }
}
