import Foundation
import Persist

/// Stores in schemas of PostgreSQL databases.
struct PostgreSQLEngine: StoreEngine {
  /// - Throws: ``PersistenceError/Code/storeTypeMismatch`` for a location that isn't on a server;
  ///   ``PersistenceError/Code/invalidRequest`` for a name that no schema can have.
  func address(_ location: StoreLocation) throws -> ServerAddress {
    if case .server(let address) = location {
      try address.requireValidSchema()
      return address
    }
    throw PersistenceError(
      .storeTypeMismatch, at: .store(location.url), "The location isn't on a server.",
      fix: "Create it with .postgreSQL(…).")
  }

  /// Runs code with a pool that is closed afterward.
  func withPool<T>(
    of location: StoreLocation, options: StoreOptions = StoreOptions(), _ body: (ServerPool) throws -> T
  ) throws -> T {
    let pool = ServerPool(try address(location), options: options)
    defer { pool.close() }
    return try body(pool)
  }

  // MARK: Opening

  func canCreateStore(at location: StoreLocation) throws -> Bool {
    try withPool(of: location) { try $0.read { try $0.tableCount() == 0 } }
  }

  func createStore(
    at location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
  ) throws -> any PersistentStore {
    try requireSupported(options, at: location)
    let pool = ServerPool(try address(location), options: options)
    do {
      try pool.write { transaction in
        // Programs that start at the same moment wait for each other here, before the first definition.
        try transaction.run([ServerText.lock(pool.address.schema)])
        guard try transaction.session.tableCount() == 0 else { return }
        // Not with IF NOT EXISTS, which requires the right to create schemas even if the schema exists.
        let hasSchema = try transaction.session.schemaExists()
        try transaction.run((hasSchema ? [] : ["CREATE SCHEMA \(schema: ())"]) + Self.definitions(model))
        let map = TableMap.forNewStore(model, names: .snakeCase)
        try ServerTableDescription(transaction.session, map).write(waitingAtMost: nil)
      }
      return try Self.store(in: pool, try OpenedCatalog(pool, model), model: model)
    } catch {
      pool.close()
      throw error
    }
  }

  /// The statements that make a store in an empty schema.
  private static func definitions(_ model: ManagedObjectModel) throws -> [ServerText] {
    let map = TableMap.forNewStore(model, names: .snakeCase)
    var statements = [ServerText.createDateType] + ServerText.storeTables
    for table in map.tableDefinitions { statements += ServerText.make(table) }
    statements += map.indexDefinitions.flatMap { ServerText.make($0) }
    statements += map.foreignKeys.map { ServerText.create($0) }
    statements += ServerText.derivedFunctions
    statements += try map.derivedColumns().serverTriggers(in: map.layout, partitioned: []).flatMap(\.statements)
    for table in map.tables {
      let parent = table.entity.superentity.map { map.numbers[$0] } ?? 0
      statements.append(
        """
        INSERT INTO \(table: "Z_PRIMARYKEY") \
        VALUES (\(number: Int64(table.number)), \(text: table.entity.name), \(number: Int64(parent)), 0)
        """)
    }
    let metadata = StoreMetadata(
      newStore: UUID(), versionHashes: model.fingerprints.mapValues(\.bytes),
      versionIdentifiers: model.versionIdentifiers, type: StoreType.postgreSQL.rawValue)
    return statements + [try metadata.update()] + (try metadata.record(model)) + [ServerLife.certificate]
  }

  func openStore(
    at location: StoreLocation, model: ManagedObjectModel, options: StoreOptions, allowsGaps: Bool
  ) throws -> any PersistentStore {
    try requireSupported(options, at: location)
    let pool = ServerPool(try address(location), options: options)
    do {
      return try Self.store(in: pool, try OpenedCatalog(pool, model), model: model, allowsGaps: allowsGaps)
    } catch {
      pool.close()
      throw error
    }
  }

  func openStore(
    at location: StoreLocation, ifOf model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws -> StoreOpening {
    try requireSupported(options, at: location)
    let pool = ServerPool(try address(location), options: options)
    do {
      let (match, mark, history) = try pool.readTransaction {
        session -> (StoreMatch, ServerMark, HistoryExpansion?) in
        let (match, mark) = (try Self.match(session, to: model, registry: registry), try ServerMark(in: session))
        guard case .same(let catalog, _) = match else { return (match, mark, nil) }
        return (match, mark, try HistoryExpansion(session, catalog, for: catalog.tableMap(of: model)))
      }
      switch match {
      case .same(let catalog, let isStamped):
        var opened = OpenedCatalog(catalog: catalog, mark: mark, history: history)
        if !isStamped, options.migrator != nil, try pool.stamp(model, ifMarked: mark) {
          opened = try OpenedCatalog(pool, model)
        }
        return .opened(try Self.store(in: pool, opened, model: model))
      case .different(let difference):
        pool.close()
        return .differs(difference)
      }
    } catch {
      pool.close()
      throw error
    }
  }

  private static func match(
    _ session: ServerSession, to model: ManagedObjectModel, registry: ModelRegistry?
  ) throws -> StoreMatch {
    do {
      let catalog = try StoreCatalog.read(session, for: model)
      if catalog.isExpanded, catalog.record?.isOne(of: model) == true { return .same(catalog, isStamped: true) }
      let found = try session.identify(among: StoreMatch.registry(registry, with: model), known: catalog)
      return StoreMatch(found, at: session.url, of: model)
    } catch let error as PersistenceError where error.code == .missingSourceModel {
      return StoreMatch(unknown: error, at: session.url, try StoreMetadata(session))
    }
  }

  /// A catalog with the mark of the same state.
  private struct OpenedCatalog {
    let catalog: StoreCatalog
    let mark: ServerMark
    /// The form of the history in a store that serves two models; nil for others.
    let history: HistoryExpansion?

    init(catalog: StoreCatalog, mark: ServerMark, history: HistoryExpansion?) {
      (self.catalog, self.mark, self.history) = (catalog, mark, history)
    }

    init(_ pool: ServerPool, _ model: ManagedObjectModel) throws {
      self = try pool.readTransaction { session in
        let catalog = try StoreCatalog.read(session, for: model)
        return OpenedCatalog(
          catalog: catalog, mark: try ServerMark(in: session),
          history: try HistoryExpansion(session, catalog, for: catalog.tableMap(of: model)))
      }
    }
  }

  private static func store(
    in pool: ServerPool, _ opened: OpenedCatalog, model: ManagedObjectModel, allowsGaps: Bool = false
  ) throws -> PostgreSQLStore {
    var opened = opened
    if opened.mark.life != .own, !pool.options.isReadOnly, try pool.certify() {
      opened = try OpenedCatalog(pool, model)
    }
    let catalog = opened.catalog
    if catalog.isExpanded { try pool.announce(model) }
    let map = catalog.tableMap(of: model)
    let missing = pool.options.isReadOnly ? [] : map.missingKeys(in: catalog.schema)
    guard missing.isEmpty else {
      throw StoreSchema.MissingKey.error(missing, at: .store(pool.url)) { ServerText.name($0) }
    }
    guard allowsGaps || map.differences.isEmpty else {
      throw PersistenceError(
        .incompatibleModel, at: .store(pool.url),
        "The store lacks tables or columns for parts of the model: \(map.differences.joined(separator: " "))",
        fix: "Open it with the model that it was written with, or migrate it.")
    }
    try pool.makeProofTable(ifMissingIn: catalog.schema)
    let derived = map.possibleDerivedColumns
    // The online migration has made everything that a second model needs.
    let isSecond = try catalog.isExpanded && isSecond(model, in: pool)
    let isMaintained = !pool.options.isReadOnly && !isSecond
    if isMaintained {
      try pool.maintain(derived, in: map.layout, catalog.schema)
    }
    if pool.options.enforcesValidation, !pool.options.isReadOnly {
      if catalog.isExpanded { throw refusal(of: "Validation rules can't be enforced", in: pool) }
      try pool.enforceRules(of: map)
    }
    var mark = opened.mark
    let history = try HistoryMap.opening(
      catalog, in: map, options: pool.options, isReadOnly: pool.options.isReadOnly, expansion: opened.history
    ) {
      if catalog.isExpanded { throw refusal(of: "A history can't be begun or changed", in: pool) }
      let history = try pool.write { transaction in
        // Programs that open the store at the same moment set its history up one after the other.
        try transaction.run([ServerText.lock(pool.address.schema)])
        return try ServerHistoryConnection(transaction.session).setUpHistory(
          in: map, keeping: pool.options.historyKeeps)
      }
      // The history's tables came with another mark.
      mark = try pool.read { try ServerMark(in: $0) }
      return history
    }
    if history?.oldValues != nil, isMaintained { try pool.maintainOldValues(in: map) }
    let store = PostgreSQLStore(
      pool, catalog: catalog, life: mark.life.number(catalog.metadata.life), map: map, history: history)
    if !isSecond {
      try store.makeMissingIndexes(catalog, defersWork: pool.options.migrator?.defersWork == true)
    }
    pool.setWatch(store.watch(catalog.metadata, mark, of: pool))
    pool.countAsOpen()
    return store
  }

  /// The error for something that depends on one of two models.
  private static func refusal(of what: String, in pool: ServerPool) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: .store(pool.url), "\(what) while the store serves two models.",
      fix: "Open the store without it until its online migration is complete.")
  }

  /// Whether a model is the second one of a store that serves two.
  private static func isSecond(_ model: ManagedObjectModel, in pool: ServerPool) throws -> Bool {
    try pool.read { try StoreCatalog($0).record?.isOne(of: model) != true }
  }

  /// - Throws: ``PersistenceError/Code/invalidRequest`` for options that only files have.
  private func requireSupported(_ options: StoreOptions, at location: StoreLocation) throws {
    for replica in options.readsFrom {
      guard case .server = replica else {
        throw PersistenceError(
          .invalidRequest, at: .store(location.url), "A replica of a store on a server must be on a server too.",
          fix: "Create the locations in readsFrom with .postgreSQL(…).")
      }
    }
  }

  /// The server itself completes or rolls back what a program left.
  func recoverStore(at location: StoreLocation, options: StoreOptions) throws -> Bool { false }

  // MARK: Identifying

  func identifyStore(at location: StoreLocation, registry: ModelRegistry?) throws -> IdentifiedStore {
    try withPool(of: location) { try $0.readTransaction { try $0.identify(among: registry) } }
  }

  func metadata(ofStoreAt location: StoreLocation) throws -> StoreMetadata {
    try withPool(of: location) { try $0.readTransaction { try StoreCatalog($0).metadata } }
  }

  func setMetadata(_ metadata: StoreMetadata, ofStoreAt location: StoreLocation) throws {
    try withPool(of: location) { pool in
      try pool.write { transaction in
        // A migration in progress may be replacing what would be read here.
        try transaction.run([ServerText.lock(pool.address.schema)])
        let stored = try transaction.all(StoreMetadata.query) { try StoreMetadata($0, $1, at: pool.url) }.first
        transaction.runLast([try (stored ?? metadata).replacingApplicationValues(by: metadata).update()])
      }
    }
  }

  func replaceMetadata(_ metadata: StoreMetadata, ofStoreAt location: StoreLocation) throws {
    try withPool(of: location) { pool in
      var metadata = metadata
      metadata.values[StoreMetadata.Key.storeType] = .string(StoreType.postgreSQL.rawValue)
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        let store = try transaction.session.identify(among: nil)
        metadata.placeNames = store.metadata.placeNames
        let model = store.model
        transaction.runLast(try [metadata.update()] + metadata.record(model))
      }
    }
  }

  // MARK: Removing and replacing

  func openCount(ofStoreAt location: StoreLocation) -> Int {
    (try? address(location)).map { ServerPool.openCount(of: $0) } ?? 0
  }

  func destroyStore(at location: StoreLocation) throws {
    try withPool(of: location) { pool in
      guard try pool.read({ try $0.tableCount() }) > 0 else { return }
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        // A schema of another program is never deleted, nor is what others put into the store's.
        try transaction.run(ServerStoreObjects(transaction.session).deletion)
        try transaction.session.dropEmptySchema()
      }
    }
  }

  func createStore(at location: StoreLocation, fromCopyAt copy: StoreLocation) throws {
    try putStore(at: location, fromCopyAt: copy) { session in
      guard try session.tableCount() > 0 else { return }
      throw PersistenceError(
        .fileAccess, at: .store(location.url), "The store already exists.",
        fix: "Choose another location, or delete it.")
    }
  }

  func replaceStore(at location: StoreLocation, withCopyAt copy: StoreLocation) throws {
    try putStore(at: location, fromCopyAt: copy) { _ in }
  }

  /// - Parameter check: Called before anything is changed, while no other program creates or replaces the store.
  private func putStore(
    at location: StoreLocation, fromCopyAt copy: StoreLocation, after check: (ServerSession) throws -> Void
  ) throws {
    let schema = try address(copy).schema
    try withPool(of: location) { pool in
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        try check(transaction.session)
        try transaction.session.replaceStore(withCopyIn: schema)
      }
    }
  }

  // MARK: Searching texts

  func textSearcher(_ search: FullTextSearch) throws -> any TextSearcher {
    try SQLiteEngine().textSearcher(search)
  }
}
