import Foundation
import Persist

extension PostgreSQLEngine: MigrationEngine {
  /// The types of the columns whose values are computed are only known in the store.
  func shownStatements(of change: SchemaChange) -> [String] {
    ServerText.statements(change, kinds: { _ in [:] }).map(\.shown)
  }

  // MARK: Reading and writing

  func inspect<T>(
    _ location: StoreLocation, options: StoreOptions, _ body: (any StoreInspector) throws -> T
  ) throws -> T {
    try withPool(of: location, options: options) { try $0.readTransaction { try body(ServerInspector($0)) } }
  }

  func connect(to location: StoreLocation, options: StoreOptions) throws -> any MigrationConnection {
    let address = try address(location)
    do {
      let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: options.busyTimeout)
      return ServerMigrationConnection(
        ServerSession(connection: connection, schema: address.schema, url: address.url(showingSecrets: false)),
        address, options: options)
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: address.url(showingSecrets: false))
    }
  }

  /// The metadata, which every migration changes.
  func state(of location: StoreLocation) -> AnyHashable { AnyHashable(try? metadata(ofStoreAt: location)) }

  func size(of location: StoreLocation) -> Int {
    guard let address = try? address(location) else { return 0 }
    let sql: ServerText = """
      SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = \(text: address.schema)
      """
    let size = try? withPool(of: location) { try $0.read { try $0.first(sql) { Int(clamping: $0.integer($1, 0)) } } }
    return (size ?? nil) ?? 0
  }

  /// A server doesn't report its free space; if it runs out, the migration is rolled back.
  func requireDiskSpace(for location: StoreLocation, bytes: Int) throws {}

  func withBackup<T>(
    of location: StoreLocation, _ backup: MigrationBackup, waitingAtMost wait: Duration, _ body: () throws -> T
  ) throws -> T {
    throw PersistenceError(
      .invalidRequest, at: .store(location.url),
      "A store on a server can't be copied to a file before its migration.",
      fix: "Open it without a backup, and use the server's own, such as pg_dump.")
  }

  // MARK: Copying

  func exclusion(of location: StoreLocation, options: StoreOptions) throws -> (any StoreExclusion)? {
    try ServerExclusion(address(location), options: options)
  }

  func workspace(for location: StoreLocation, waitingAtMost wait: Duration) throws -> any MigrationWorkspace {
    guard let url = location.url else { throw needsCopy(location) }
    return ServerWorkspace(store: url, failure: needsCopy(location))
  }

  func duplicate(_ source: StoreLocation, to destination: StoreLocation) throws { throw needsCopy(source) }

  func copy(
    _ source: StoreLocation, to destination: StoreLocation, model: ManagedObjectModel, isNew: Bool
  ) throws -> any StoreCopy { throw needsCopy(source) }

  func recordMigrationInHistory(
    of location: StoreLocation, from former: TableMap, to model: ManagedObjectModel, renames: PropertyRenames
  ) throws {
    try withPool(of: location) { pool in
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        let map = try StoreCatalog(transaction.session).tableMap(of: model)
        try ServerHistoryConnection(transaction.session).adaptHistory(from: former, to: map, renames: renames)
      }
    }
  }

  func changeMetadata(
    of location: StoreLocation, completingFile: Bool, _ change: (inout StoreMetadata) -> Void
  ) throws {
    try withPool(of: location) { pool in
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        let stored = try transaction.all(StoreMetadata.query) { try StoreMetadata($0, $1, at: pool.url) }.first
        guard var metadata = stored else { return }
        change(&metadata)
        transaction.runLast([try metadata.update()])
      }
    }
  }

  private func needsCopy(_ location: StoreLocation) -> PersistenceError {
    PersistenceError(
      .migrationFailed, at: .store(location.url),
      "A store on a server is copied only as a whole. It is unchanged.",
      fix: "Migrate it with AutomaticMigrator.")
  }
}

/// The workspace of a migration in place, which needs none: the server's transaction holds everything.
private struct ServerWorkspace: MigrationWorkspace {
  let store: URL
  let failure: PersistenceError

  func hold(options: StoreOptions) throws -> any HeldStore { throw failure }
  func file(_ number: Int) throws -> URL { throw failure }
  func announceRemoval(of largeValues: [String], after logEntry: PropertyList) throws {}
  func remove() {}
}
