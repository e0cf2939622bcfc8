import Foundation
import Persist

extension ServerPool {
  /// Runs code while no program writes to the store. Others can read, and wait to write.
  ///
  /// - Parameter body: Its writes continue the transaction that keeps the others waiting, and the first one that is to
  ///   end it does so. One that fails also ends it, and nothing is written. Within another such body, this one only
  ///   runs.
  func excludingWriters<T>(_ body: () throws -> T) throws -> T {
    if continued.transaction != nil { return try body() }
    return try write(once: true, excludingOthers: true) { transaction in
      try transaction.excludeOthers(within: options.busyTimeout)
      return try continued.with(transaction, body)
    }
  }

  /// Writes in the transaction of ``excludingWriters(_:)``. An error ends it, so that no part of the write remains.
  func write<T>(
    continuing transaction: ServerTransaction, ending ends: Bool, _ body: (ServerTransaction) throws -> T
  ) throws -> T {
    do {
      let result = try body(transaction)
      guard ends else { return result }
      continued.end()
      try transaction.commit(
        recording: seenPosition, ServerOutcome(address: address, wait: options.busyTimeout))
      return result
    } catch {
      continued.end()
      transaction.abandon()
      throw error
    }
  }
}

/// The transactions that the writes of threads continue.
///
/// `@unchecked Sendable`: the lock protects the list, and a transaction is only used by the thread that added it.
final class ContinuedTransactions: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [ObjectIdentifier: ServerTransaction] = [:]

  private var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

  /// The transaction of the calling thread; nil for none.
  var transaction: ServerTransaction? { lock.withLock { all.isEmpty ? nil : all[thread] } }

  /// Runs code whose writes continue a transaction.
  fileprivate func with<T>(_ transaction: ServerTransaction, _ body: () throws -> T) rethrows -> T {
    lock.withLock { all[thread] = transaction }
    defer { end() }
    return try body()
  }

  /// Lets the calling thread begin transactions of its own again.
  func end() { lock.withLock { all[thread] = nil } }
}
