import Foundation
import Persist

/// A source that a store reads instead of using any of its connections.
protocol ServerReadSource: AnyObject, Sendable {
  /// Whether all reads see the same state.
  var isOneState: Bool { get }
  /// - Parameter watch: Checks that the tables are still those of the open store.
  func read<T>(_ watch: ServerWatch?, _ body: (ServerSession) throws -> T) throws -> T
}

/// One state of a store, held by a transaction on a connection of its own that reads.
///
/// `@unchecked Sendable`: the lock lets one thread use the connection at a time.
final class HeldServerState: ServerReadSource, @unchecked Sendable {
  private let lock = NSLock()
  private let session: ServerSession
  private var ending: PersistenceError?
  /// The number of ``countChanges`` when the state was taken.
  let changeCount: Int64

  /// - Throws: ``ServerFailure``.
  init(_ address: ServerAddress, waitingAtMost wait: Duration) throws {
    let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: wait, limitingLocks: true)
    session = ServerSession(connection: connection, schema: address.schema, url: address.url(showingSecrets: false))
    // The first statement takes the snapshot.
    let results = try session.run([
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL search_path TO \(schema: ()), pg_temp",
      Self.countChanges, "SAVEPOINT held",
    ])
    changeCount = results[2].integer(0, 0)
  }

  /// Reads a number that the end of every transaction of the server changes, including those of other stores.
  ///
  /// Transactions don't end in the order of their numbers, so the number comes from all of those that are visible. A
  /// replica doesn't list them, but has a position.
  static let countChanges: ServerText = """
    SELECT hashtextextended(concat(pg_current_snapshot(), ' ', pg_last_wal_replay_lsn()), 0)
    """

  deinit { session.connection.close() }

  var isOneState: Bool { true }

  func read<T>(_ watch: ServerWatch?, _ body: (ServerSession) throws -> T) throws -> T {
    lock.lock()
    defer { lock.unlock() }
    if let ending { throw ending }
    var session = session
    session.watch = watch
    do { return try body(session) } catch {
      // A failed statement would otherwise leave the transaction unusable.
      if session.connection.isInTransaction { _ = try? session.connection.run([ServerStatement("ROLLBACK TO held")]) }
      throw error
    }
  }

  /// Releases the state; reading throws the error from now on.
  func end(_ error: PersistenceError) {
    lock.lock()
    defer { lock.unlock() }
    guard ending == nil else { return }
    ending = error
    session.connection.close()
  }
}

/// A transaction that writes, and that has to see the rows as they are within it.
///
/// `@unchecked Sendable`: only the thread that runs the transaction reads.
final class OwnTransaction: ServerReadSource, @unchecked Sendable {
  private let session: ServerSession

  init(_ transaction: ServerTransaction) { session = transaction.session }

  var isOneState: Bool { true }

  /// The transaction has checked the store when it began.
  func read<T>(_ watch: ServerWatch?, _ body: (ServerSession) throws -> T) throws -> T { try body(session) }
}
