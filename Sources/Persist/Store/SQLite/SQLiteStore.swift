import Foundation
import Synchronization

/// A store in an SQLite file in Core Data's layout; or an in-memory store, for tests.
final class SQLiteStore: PersistentStore {
  /// The files that the store has open, which change when it continues in a copy.
  struct Files {
    let pool: SQLiteConnectionPool
    /// The folder of large values; nil for an in-memory store, which keeps all of them in their rows.
    var externalFolder: ExternalDataFolder? { folder.value }
    private let folder: Lazy<ExternalDataFolder?>

    init(_ pool: SQLiteConnectionPool) {
      self.pool = pool
      folder = Lazy { [url = pool.url] in url.map { ExternalDataFolder(storeAt: $0) } }
    }
  }

  let identifier: String
  let model: ManagedObjectModel
  let map: TableMap
  /// The full-text indexes in the file: all of the model's, unless the store is read-only.
  let fullText: Set<FullTextIndex>
  let configuration: String?
  var busyTimeout: Duration { pool.options.busyTimeout }
  var postsRemoteChanges: Bool { pool.options.postsRemoteChangeNotifications }
  private let files: LockProtected<Files>
  let plans: StorePlans
  /// Whether Persist's record of the store's model has to be written with the first save.
  let needsModelRecord: Atomic<Bool>
  /// Whether the first save seals the store, if its layout is the predicted one.
  let needsSeal: Atomic<Bool>
  /// The schema version for which the store was last sealed; 0 if it isn't.
  let sealedSchema: Atomic<Int64>
  /// Whether rows may still be converted, after a migration before the store was opened.
  let mayConvertRows = Atomic(false)
  /// Whether an unclean end may have left unused files of large values.
  let needsSweep = Atomic(false)
  /// Pending metadata, written with the next save.
  let pendingMetadata = PendingMetadata()
  let templates = LockProtected(QueryTemplates())
  /// The number of translations to SQL so far.
  let translationCount = Atomic(0)
  let related = Lazy { RelatedStatements() }
  /// The plan of the store's history; nil if it has none.
  let historyPlan: LockProtected<HistoryPlan?>

  var pool: SQLiteConnectionPool { files.withLock { $0.pool } }
  var externalFolder: ExternalDataFolder? { files.withLock { $0.externalFolder } }
  /// Nil if new large values are in the rows: files wouldn't be encrypted.
  var folderForNewValues: ExternalDataFolder? { isEncrypted ? nil : externalFolder }
  var isEncrypted: Bool { pool.options.key != nil && pool.url != nil }
  var url: URL? { pool.url }
  var type: String { url == nil ? "InMemory" : "SQLite" }
  var isReadOnly: Bool { pool.isReadOnly }
  var statistics: StoreStatistics { pool.statistics }

  /// - Parameters:
  ///   - identifier: The UUID in the store's metadata.
  ///   - hasModelRecord: Whether the file already contains Persist's record of this model.
  ///   - map: The layout of its model in the file that `pool` has open.
  ///   - history: The meaning of its history; nil if it has none.
  ///   - sealedSchema: The schema version for which the store has a seal; nil if it has none.
  init(
    _ pool: SQLiteConnectionPool, identifier: String, map: TableMap, configuration: String?, hasModelRecord: Bool,
    fullText: Set<FullTextIndex>, history: HistoryMap?, sealedSchema: Int64? = nil
  ) {
    let canBeSealed = pool.url != nil && !pool.isReadOnly && history == nil && map.model.isSealable
    needsSeal = Atomic(canBeSealed && sealedSchema == nil)
    self.sealedSchema = Atomic(sealedSchema ?? 0)
    self.fullText = fullText
    historyPlan = LockProtected(history.map(HistoryPlan.init))
    needsModelRecord = Atomic(!hasModelRecord)
    files = LockProtected(Files(pool))
    self.identifier = identifier
    self.map = map
    self.configuration = configuration
    model = map.model
    plans = StorePlans(in: map)
    followHistory(in: pool)
  }

  /// Notices when another program creates, changes or deletes the history.
  private func followHistory(in pool: SQLiteConnectionPool) {
    pool.watch?.whenChanged { [historyPlan, map] catalog in
      historyPlan.withLock { $0 = HistoryMap(catalog, in: map).map(HistoryPlan.init) }
    }
  }

  /// Creates a view of a state that a store's pool holds, which shares the store's plans.
  init(reading pool: SQLiteConnectionPool, of store: SQLiteStore) {
    fullText = store.fullText
    historyPlan = LockProtected(nil)
    needsModelRecord = Atomic(false)
    needsSeal = Atomic(false)
    sealedSchema = Atomic(0)
    files = LockProtected(Files(pool))
    (identifier, map, configuration, model) = (store.identifier, store.map, store.configuration, store.model)
    plans = store.plans
  }

  func close() throws { pool.close() }

  func beforeEachCommit(_ body: @escaping @Sendable () throws -> Void) {
    precondition(pool.url == nil, "Only a store in memory waits for other work.")
    pool.commitHook = CommitHook(body)
  }

  func greatestKey(inHierarchyOf entity: Entity) throws -> Int64 {
    let (table, number) = (map[entity.root].table, map[entity.root].number)
    return try pool.readOnce { try $0.first(.greatestKey(of: table, entity: number)) { $0.integer(0) } ?? 0 }
  }

  /// Continues in another file that contains the same store.
  ///
  /// Reads and writes that wait meanwhile use the other file.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the file contains another store, and errors of opening it;
  ///   the store then remains unchanged.
  func reopen(at url: URL, didReplace: () -> Void) throws {
    let copy = try SQLiteStore.open(url, model: model, options: pool.options)
    guard copy.identifier == identifier, copy.map.hasPlaces(of: map) else {
      try copy.close()
      throw PersistenceError(
        .invalidRequest, at: .store(url), "The file contains a store other than the open one.",
        fix: "Remove the open store and add this one.")
    }
    do {
      // Nobody writes to the former file meanwhile, since what a save writes depends on its file.
      try pool.following { pool in
        try pool.closing(continuingIn: copy.pool) {
          take(copy)
          didReplace()
        }
      }
    } catch {
      try copy.close()
      throw error
    }
  }

  /// Adopts the open file of another instance, and everything that is known about it.
  private func take(_ other: SQLiteStore) {
    let (plan, opened) = (other.historyPlan.withLock { $0 }, other.files.withLock { $0 })
    historyPlan.withLock { $0 = plan }
    needsModelRecord.store(other.needsModelRecord.load(ordering: .acquiring), ordering: .releasing)
    needsSeal.store(other.needsSeal.load(ordering: .acquiring), ordering: .releasing)
    sealedSchema.store(other.sealedSchema.load(ordering: .acquiring), ordering: .releasing)
    followHistory(in: opened.pool)
    files.withLock { $0 = opened }
  }
}
