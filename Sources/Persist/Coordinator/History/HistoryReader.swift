import Foundation

/// A named reader of the history, which remembers in the stores how far it has read.
///
/// ```swift
/// let widget = coordinator.historyReader(named: "widget")
/// for transaction in try widget.unread() { … }
/// try widget.markAsRead(upTo: transactions.last?.token)
/// ```
///
/// The name belongs to one part of one program, such as an extension. A purge by
/// ``PersistentStoreCoordinator/purgeHistory(_:ofStores:)`` doesn't delete transactions that a reader hasn't read,
/// unless the reader was silent for too long.
public struct HistoryReader: Sendable {
  /// The name under which the stores remember the position.
  public let name: String
  private let coordinator: PersistentStoreCoordinator

  init(_ name: String, of coordinator: PersistentStoreCoordinator) {
    self.name = name
    self.coordinator = coordinator
  }

  /// The position up to which the reader has read; nil before it has marked anything.
  public var token: HistoryToken? {
    get throws {
      var positions: [String: HistoryPosition] = Dictionary()
      for (store, history) in try coordinator.storesWithHistory(nil) {
        if let record = try history.readers().first(where: { $0.name == name }) {
          positions[store.identifier] = HistoryPosition(number: record.number, mark: record.mark)
        }
      }
      return positions.isEmpty ? nil : HistoryToken(positions)
    }
  }

  /// Returns the transactions that the reader hasn't marked as read, with their changes, oldest first.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if some were deleted or not recorded, if the history is
  ///   switched off, or if the store was restored or replaced since the reader marked its position; in that case, read
  ///   the objects themselves and mark the current token as read.
  public func unread() throws -> [HistoryTransaction] {
    try coordinator.execute(.fetchHistory(after: token)).transactions
  }

  /// Records that the reader has read everything up to a position, and the current time as that of its last activity.
  ///
  /// - Parameter token: The token of the last transaction, or the current one; nil only records the time.
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` and ``PersistenceError/Code/storeBusy``;
  ///   ``PersistenceError/Code/historyTokenExpired`` for a token of another life of the store.
  public func markAsRead(upTo token: HistoryToken?) throws {
    for (store, history) in try coordinator.storesWithHistory(nil) {
      let present = try history.readers().first { $0.name == name }
      var position = present.map { ($0.number, $0.mark) }
      if let token, let number = try PersistentStoreCoordinator.number(of: token, in: store, history) {
        position = (number, token.marks[store.identifier] ?? HistoryMark(life: history.life, time: nil))
      }
      let (number, mark) = try position
        ?? (history.extent().oldestPosition, HistoryMark(life: history.life, time: nil))
      try history.setReader(HistoryReaderRecord(name: name, number: number, mark: mark, date: Date()))
    }
  }

  /// Forgets the reader, so that no purge waits for it.
  public func remove() throws {
    for (_, history) in try coordinator.storesWithHistory(nil) { try history.removeReader(name) }
  }
}

extension PersistentStoreCoordinator {
  /// Returns a reader of the stores' history that remembers its position under a name.
  public func historyReader(named name: String) -> HistoryReader { HistoryReader(name, of: self) }
}
