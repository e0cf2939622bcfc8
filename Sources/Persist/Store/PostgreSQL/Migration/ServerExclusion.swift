import Foundation

/// A transaction that holds a lock on all tables of a store: others can read, and wait to write.
final class ServerExclusion: StoreExclusion {
  private let session: ServerSession
  private var hasEnded = false

  /// - Throws: ``PersistenceError/Code/storeBusy`` if another program writes and the timeout expires.
  init(_ address: ServerAddress, options: StoreOptions) throws {
    let url = address.url(showingSecrets: false)
    do {
      session = ServerSession(
        connection: try ServerDrivers.current.connect(to: address), schema: address.schema, url: url)
      let milliseconds = max(1, Int64(options.busyTimeout / .milliseconds(1)))
      try session.run([
        "BEGIN", "SET LOCAL search_path TO \(schema: ()), pg_temp", "SET LOCAL lock_timeout = \(number: milliseconds)",
        ServerText.lock(address.schema),
      ])
      let tables = try StoreCatalog(session).schema.tables.map { "\(table: $0.name)" as ServerText }
      try session.run(["LOCK TABLE \(tables.joined(separator: ", ")) IN EXCLUSIVE MODE"])
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url)
    }
  }

  deinit { end() }

  func isCurrent(_ catalog: StoreCatalog) throws -> Bool { try ServerInspector(session).isCurrent(catalog) }

  func replaceStore(withCopyAt copy: StoreLocation) throws {
    guard case .server(let address) = copy, !hasEnded else { return }
    do {
      try session.run([
        "DROP SCHEMA \(schema: ()) CASCADE", "ALTER SCHEMA \(schemaNamed: address.schema) RENAME TO \(schema: ())",
        "COMMIT",
      ])
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: session.url)
    }
    hasEnded = true
    session.connection.close()
  }

  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    session.rollBack()
    session.connection.close()
  }
}
