import Foundation
import Synchronization

extension SQLiteStore {
  /// Opens a store with a known model.
  ///
  /// - Parameter allowsGaps: Whether to open a store that has no place for parts of the model, which then read as null:
  ///   for displaying its contents, never for writing.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the file has no place for parts of the model, and the
  ///   errors of files that aren't stores.
  static func open(
    _ url: URL, model: ManagedObjectModel, options: StoreOptions = StoreOptions(), allowsGaps: Bool = false
  ) throws -> SQLiteStore {
    precondition(!allowsGaps || options.isReadOnly, "A store with gaps is only read.")
    let pool = try SQLiteConnectionPool(url, options: options)
    do {
      return try attached(to: pool, model: model, options: options, allowsGaps: allowsGaps)
    } catch {
      pool.close()
      throw error
    }
  }

  /// The store of an open database.
  ///
  /// - Parameter catalog: The database's catalog; nil to read it.
  static func attached(
    to pool: SQLiteConnectionPool, _ catalog: StoreCatalog? = nil, model: ManagedObjectModel, options: StoreOptions,
    allowsGaps: Bool = false
  ) throws -> SQLiteStore {
    let catalog = try catalog ?? pool.readBeforeOthers { connection in
      try connection.readTransaction { try StoreCatalog(connection) }
    }
    let map = catalog.tableMap(of: model)
    let missing = options.isReadOnly ? [] : map.missingKeys(in: catalog.schema)
    guard missing.isEmpty else { throw StoreSchema.MissingKey.error(missing, at: .store(pool.url)) }
    guard allowsGaps || map.differences.isEmpty else {
      throw PersistenceError(
        .incompatibleModel, at: .store(pool.url),
        "The store lacks tables or columns for parts of the model: \(map.differences.joined(separator: " "))",
        fix: "Open it with the model that it was written with, or migrate it.")
    }
    try pool.setFileUp()
    if needsTriggers(on: catalog, map, options) { try pool.withWriter { try $0.finishConversions() } }
    let derived = map.possibleDerivedColumns
    if !pool.isReadOnly, !derived.areKept(by: catalog.schema, layout: map.layout) {
      try pool.write { try $0.updateDerivedTriggers(derived, in: map.layout) }
    }
    let fullText = try pool.updateFullTextIndexes(map.fullTextIndexes, schema: catalog.schema)
    let history = try HistoryMap.opening(catalog, in: map, options: options, isReadOnly: pool.isReadOnly) {
      try pool.write { try $0.setUpHistory(in: map, keeping: options.historyKeeps) }
    }
    if let url = pool.url {
      pool.setWatch(StoreWatch(url, mark: catalog.mark, OpenedStore(at: url, catalog.metadata, map: map)))
    }
    let store = SQLiteStore(
      pool, identifier: catalog.metadata.identifier, map: map, configuration: options.configuration,
      hasModelRecord: catalog.record?.fingerprints == model.fingerprints, fullText: fullText,
      history: history)
    store.mayConvertRows.store(catalog.metadata.hasConversions, ordering: .relaxed)
    return store
  }

  /// Whether triggers or indexes will be created for tables whose rows are being converted, and which are views.
  private static func needsTriggers(on catalog: StoreCatalog, _ map: TableMap, _ options: StoreOptions) -> Bool {
    guard !options.isReadOnly, catalog.metadata.hasConversions else { return false }
    return options.historyKeeps == .oldValues || !map.possibleDerivedColumns.isEmpty
      || map.fullTextIndexes.contains { catalog.metadata.isConverting($0.table) }
      || !map.missingUniqueIndexes(in: catalog.schema, besides: { !catalog.metadata.isConverting($0.table) }).isEmpty
  }

  /// Creates a new store; if another program created one at the same moment, opens that.
  ///
  /// - Parameters:
  ///   - url: The URL of the new file, which may only exist if it is empty; nil for an in-memory store.
  static func create(
    _ url: URL?, model: ManagedObjectModel, options: StoreOptions = StoreOptions()
  ) throws -> SQLiteStore {
    if let url { LostLog.markCreation(ofStoreAt: url) }
    let pool = try SQLiteConnectionPool(url, options: options, creates: true)
    do {
      let map = TableMap.forNewStore(model)
      var isNew = false
      var history: HistoryMap?
      var sealedSchema: Int64?
      let metadata = try pool.write { connection in
        isNew = try connection.first(.objectCount, { $0.integer(0) }) == 0
        guard isNew else { return try StoreMetadata(connection) }
        let metadata = try fill(connection, map: map, isInMemory: url == nil, identifier: options.identifier ?? UUID())
        if options.requestsHistory {
          history = try connection.setUpHistory(in: map, keeping: options.historyKeeps)
        }
        if url != nil { sealedSchema = try seal(connection, model: model) }
        return metadata
      }
      if let url { LostLog.removeMark(ofStoreAt: url) }
      if isNew {
        let fullText = try pool.updateFullTextIndexes(map.fullTextIndexes)
        if let url {
          pool.setWatch(
            StoreWatch(
              url, mark: try pool.withWriter { try StoreMark($0) }, OpenedStore(at: url, metadata, map: map)))
        }
        return SQLiteStore(
          pool, identifier: metadata.identifier, map: map, configuration: options.configuration, hasModelRecord: true,
          fullText: fullText, history: history, sealedSchema: sealedSchema)
      }
    } catch {
      pool.close()
      throw error
    }
    pool.close()
    guard let url else { preconditionFailure("A store in memory is new.") }
    return try open(url, model: model, options: options)
  }

  /// Whether a store can be created at a URL: there is no file, or an empty one.
  ///
  /// A database without a schema is empty too: it is the state of a new file before its first commit, where a process
  /// that creates a store may be killed.
  ///
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the database is empty because its log is missing.
  static func canCreate(at url: URL) throws -> Bool {
    guard let state = FileState(url) else { return true }
    guard state.isRegular else { return false }
    if state.size == 0 { return true }
    if let encryption = StoreEncryption.current {
      return try state.size <= max(2 * encryption.pageSize, 8192) && canCreateEncrypted(at: url)
    }
    // A schema may be in the log alone, which is rare, so the header is read first.
    guard let header = DatabaseHeader.read(url), DatabaseHeader.isWithoutSchema(header) else { return false }
    if let error = LostLog.error(storeAt: url) { throw error }
    return (try? SQLiteConnection.reading(url) { try $0.first(.isUnused) { $0.integer(0) } }) == 1
  }

  /// The same for an encrypted file, which only its key makes legible.
  private static func canCreateEncrypted(at url: URL) throws -> Bool {
    guard (try? SQLiteConnection.reading(url, { try $0.first(.isUnused) { $0.integer(0) } })) == 1 else { return false }
    if let error = LostLog.errorIfEncrypted(storeAt: url) { throw error }
    return true
  }

  /// Creates tables, indexes, key counters and metadata, in Core Data's form; the caller holds the transaction.
  private static func fill(
    _ connection: SQLiteConnection, map: TableMap, isInMemory: Bool, identifier: UUID
  ) throws -> StoreMetadata {
    for table in map.tableDefinitions { try connection.execute(.create(table)) }
    for index in map.indexDefinitions { try connection.execute(.create(index)) }
    for trigger in try map.derivedColumns().triggers(in: map.layout) { try connection.execute(.create(trigger)) }
    try connection.updateFullTextIndexes(map.fullTextIndexes)
    for table in SQLText.storeTables { try connection.execute(table) }
    for table in map.tables {
      let parent = table.entity.superentity.map { map.numbers[$0] } ?? 0
      try connection.execute(.addEntityNumber(table.number, name: table.entity.name, parent: parent))
    }
    let metadata = StoreMetadata(
      newStore: identifier, versionHashes: map.model.fingerprints.mapValues(\.bytes),
      versionIdentifiers: map.model.versionIdentifiers, type: isInMemory ? "InMemory" : "SQLite")
    try metadata.write(to: connection)
    try metadata.record(map.model, in: connection)
    return metadata
  }
}
