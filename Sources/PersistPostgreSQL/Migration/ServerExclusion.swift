import Foundation
import Persist

/// A transaction that holds a lock on all tables of a store: others can read, and wait to write.
final class ServerExclusion: StoreExclusion {
  private let session: ServerSession
  private let address: ServerAddress
  private let options: StoreOptions
  private let outcome: ServerOutcome
  private let number: TransactionNumber
  /// The names of the store's tables on the server.
  private var tables: [String]
  private var hasEnded = false

  /// - Throws: ``PersistenceError/Code/storeBusy`` if another program writes and the timeout expires.
  init(_ address: ServerAddress, options: StoreOptions) throws {
    (self.address, self.options) = (address, options)
    let url = address.url(showingSecrets: false)
    outcome = ServerOutcome(address: address, wait: options.busyTimeout)
    do {
      session = ServerSession(
        connection: try ServerDrivers.current.connect(to: address, waitingAtMost: options.busyTimeout),
        schema: address.schema, url: url)
      let milliseconds = ServerText.lockTimeout(options.busyTimeout)
      let begin = try session.run([
        ServerTransaction.begin, "SET LOCAL search_path TO \(schema: ()), pg_temp", ServerText.plainNames,
        "SET LOCAL lock_timeout = \(number: milliseconds)", ServerText.exactTexts,
        ServerText.lock(address.schema), TransactionNumber.reading,
      ])
      number = TransactionNumber(begin.last)
      let objects = try ServerStoreObjects(session)
      // Checked before anything is copied.
      try objects.requireReplaceable()
      tables = objects.tables
      var locks = TableLocks()
      locks.add(tables, .exclusive)
      try session.lock(locks, within: options.busyTimeout)
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url, during: .migrating)
    }
  }

  deinit { end() }

  func isCurrent(_ catalog: StoreCatalog) throws -> Bool { try ServerInspector(session).isCurrent(catalog) }

  func changingParkedValues<T>(_ body: (any MigrationConnection) throws -> T) throws -> T {
    let result = try body(ServerMigrationConnection(session, address, options: options))
    tables = try mapped { try ServerStoreObjects(session).tables }
    return result
  }

  func replaceStore(
    withCopyAt copy: StoreLocation, _ finish: (any MigrationConnection) throws -> Void
  ) throws {
    guard case .server(let place) = copy, !hasEnded else { return }
    do {
      var locks = TableLocks()
      locks.add(tables)
      try session.lock(locks, within: outcome.wait)
      try session.moveParkedValues(to: place.schema)
      try session.replaceStore(withCopyIn: place.schema)
      try finish(ServerMigrationConnection(session, address, options: options))
      // Only now, because the proof belongs to the copy's tables.
      let evidence = try session.evidence(CommitProofs().next(), or: number)
      try outcome.committing(evidence) { try session.run(["COMMIT"]) }
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: session.url, during: .migrating)
    }
    hasEnded = true
    session.connection.close()
  }

  private func mapped<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: session.url, during: .migrating)
    }
  }

  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    session.rollBack()
    session.connection.close()
  }
}
