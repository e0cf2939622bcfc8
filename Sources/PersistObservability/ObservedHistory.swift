import Foundation
import Persist

/// A store's history whose reads and purges are observed.
struct ObservedHistory: StoreHistory {
  private let base: any StoreHistory
  private let store: ObservedStore

  init(_ base: any StoreHistory, _ store: ObservedStore) { (self.base, self.store) = (base, store) }

  private func observe<T>(counting count: (T) -> Int? = { _ in nil }, _ body: () throws -> T) throws -> T {
    try store.observe(.history, nil, describe: { result, _ in count(result) }, body)
  }

  var isTracking: Bool { base.isTracking }
  func disable(keepingPast: Bool) throws { try observe { try base.disable(keepingPast: keepingPast) } }

  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    var transactions = 0
    try observe(counting: { transactions }) {
      try base.forEachTransaction(query) {
        transactions += 1
        try body($0)
      }
    }
  }

  func forEachTransaction(
    _ query: HistoryQuery, provided isAcceptable: (HistoryExtent) throws -> Bool,
    _ body: (HistoryTransaction) throws -> Void
  ) throws {
    var transactions = 0
    try observe(counting: { transactions }) {
      try base.forEachTransaction(query, provided: isAcceptable) {
        transactions += 1
        try body($0)
      }
    }
  }

  func lastNumber() throws -> Int64 { try base.lastNumber() }
  func extent() throws -> HistoryExtent { try base.extent() }
  func lastPosition() throws -> HistoryPosition { try base.lastPosition() }
  var life: UInt64 { base.life }
  func contains(_ number: Int64, _ mark: HistoryMark) throws -> Bool { try base.contains(number, mark) }
  func contains(_ number: Int64) throws -> Bool { try base.contains(number) }

  func delete(before number: Int64) throws -> Int { try observe { try base.delete(before: number) } }
  func delete(before date: Date) throws -> Int { try observe { try base.delete(before: date) } }
  func purge(_ purge: HistoryPurge, now: Date) throws -> Int { try observe { try base.purge(purge, now: now) } }

  func readers() throws -> [HistoryReaderRecord] { try base.readers() }
  func setReader(_ record: HistoryReaderRecord) throws { try base.setReader(record) }
  func removeReader(_ name: String) throws { try base.removeReader(name) }

  func attachedEntries(_ ranges: [AttachedRange], limit: Int) throws -> [[AttachedEntry]] {
    try observe { try base.attachedEntries(ranges, limit: limit) }
  }

  func attachedValues(of keys: ByteList) throws -> AttachedValues {
    try observe { try base.attachedValues(of: keys) }
  }

  func write(_ entries: AttachedEntries) throws { try observe { try base.write(entries) } }
}
