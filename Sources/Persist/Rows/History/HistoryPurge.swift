package import Foundation

/// A rule by which old transactions of a history are deleted.
///
/// ```swift
/// try coordinator.purgeHistory(HistoryPurge(olderThan: .seconds(7 * 86_400), keepingAtMost: 100_000))
/// ```
///
/// All limits that are given apply. Without any, a purge deletes everything that all named readers have read. A purge
/// never deletes a transaction that a named reader hasn't read yet, unless the reader has been silent for longer than
/// ``readerTimeout``.
public struct HistoryPurge: Sendable, Hashable {
  /// The age above which transactions are deleted; nil for no limit.
  public var maximumAge: Duration?
  /// The number of transactions that remain; nil for no limit.
  public var maximumCount: Int?
  /// The time after which a silent reader no longer prevents deletion; nil to wait for every reader indefinitely.
  public var readerTimeout: Duration?

  /// - Parameters:
  ///   - maximumAge: The age above which transactions are deleted.
  ///   - maximumCount: The number of transactions that remain.
  ///   - readerTimeout: The time after which a silent reader no longer prevents deletion, 30 days by default; nil to
  ///     wait indefinitely.
  public init(
    olderThan maximumAge: Duration? = nil, keepingAtMost maximumCount: Int? = nil,
    waitingForReaders readerTimeout: Duration? = .seconds(30 * 86_400)
  ) {
    self.maximumAge = maximumAge
    self.maximumCount = maximumCount
    self.readerTimeout = readerTimeout
  }
}

/// A named reader of a history, as its store records it.
package struct HistoryReaderRecord: Sendable, Equatable {
  package let name: String
  /// The number of the last transaction that the reader has read.
  package let number: Int64
  /// The mark of this transaction; nil if it isn't known.
  package let mark: HistoryMark?
  /// The time when the reader recorded it.
  package let date: Date

  package init(name: String, number: Int64, mark: HistoryMark?, date: Date) {
    (self.name, self.number, self.mark, self.date) = (name, number, mark, date)
  }
}

extension HistoryPurge {
  /// The number before which transactions are deleted.
  ///
  /// - Parameters:
  ///   - last: The number of the last transaction.
  ///   - byAge: The number of the last transaction that is too old; nil if there is none, or no limit.
  ///   - byCount: The number of the first of the newest transactions within the limit; nil if there is none.
  package func bound(
    last: Int64, byAge: Int64?, byCount: Int64?, readers: [HistoryReaderRecord], now: Date
  ) -> Int64 {
    var bound: Int64 = 0
    if maximumAge != nil { bound = max(bound, byAge?.saturatingAdding(1) ?? 0) }
    if maximumCount != nil { bound = max(bound, byCount ?? 0) }
    let alive = readers.filter { reader in
      readerTimeout.map { now.timeIntervalSince(reader.date) <= TimeInterval($0.components.seconds) } ?? true
    }
    let unread = (alive.map(\.number).min() ?? last).saturatingAdding(1)
    if maximumAge == nil, maximumCount == nil { return alive.isEmpty ? 0 : unread }
    return min(bound, unread)
  }
}
