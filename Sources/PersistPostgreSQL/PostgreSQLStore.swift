import Foundation
import Persist
import Synchronization

/// A store in a schema of a PostgreSQL database.
///
/// It has the same tables as a store in an SQLite file, with the types of PostgreSQL, so that both have the same plans
/// of migrations, and a store can move from one to the other without a change.
final class PostgreSQLStore: PersistentStore {
  let identifier: String
  /// See ``StoreLife``.
  let life: UInt64
  let model: ManagedObjectModel
  let map: TableMap
  let configuration: String?
  private let connections: LockProtected<Connections>
  var pool: ServerPool { connections.withLock { $0.pool } }
  /// The types of the columns.
  let kinds: Lazy<[String: [String: ServerTerms.Kind]]>
  let readColumns: Lazy<[String: [String: ServerReadColumn]]>
  let plans: StorePlans
  /// The number of saves that run at once; others wait, and share transactions.
  static let savesAtOnce = 4
  let saves = SaveQueue(capacity: savesAtOnce)
  /// Pending metadata, written with the next save.
  let pendingMetadata = PendingMetadata()
  /// Keys that this process took and hasn't used, by index of the root entity.
  let freeKeys = LockProtected<[Int: Range<Int64>]>([:])
  /// See ``ReadMoment/maximumAge``.
  private let maximumAge = ReadMoment.maximumAge
  /// The meaning of the store's history; nil if it has none.
  let historyMap: LockProtected<HistoryMap?>

  /// The parts that depend on the place of the store.
  private struct Connections {
    let pool: ServerPool
    let replicas: ServerReplicas
    /// The number of changes by this program to the store, which its views share.
    let changes: ChangeCount

    init(_ pool: ServerPool) {
      self.pool = pool
      replicas = ServerReplicas(of: pool.address, pool.options)
      changes = .of(pool.address)
    }

    init(reading pool: ServerPool, of store: Connections) {
      self.pool = pool
      (replicas, changes) = (store.replicas, store.changes)
    }
  }

  private final class ChangeCount: Sendable {
    /// One for each store, however often this program has it open.
    private static let counts = LockProtected<[ServerAddress: ChangeCount]>([:])

    static func of(_ address: ServerAddress) -> ChangeCount {
      counts.withLock { counts in
        if let count = counts[address] { return count }
        let count = ChangeCount()
        counts[address] = count
        return count
      }
    }

    private let count = Atomic<UInt64>(0)
    var value: UInt64 { count.load(ordering: .acquiring) }
    func increment() { count.add(1, ordering: .acquiringAndReleasing) }
  }

  var url: URL? { pool.url }
  var type: String { StoreType.postgreSQL.rawValue }
  var isReadOnly: Bool { pool.options.isReadOnly }
  var postsRemoteChanges: Bool { pool.options.postsRemoteChangeNotifications }
  var busyTimeout: Duration { pool.options.busyTimeout }
  var holdsNullCharacters: Bool { false }
  var statistics: StoreStatistics {
    var statistics = pool.statistics
    statistics.waitingWriters += saves.waitingCount
    return statistics
  }

  /// - Parameter life: The number of the store's life.
  init(_ pool: ServerPool, catalog: StoreCatalog, life: UInt64, map: TableMap, history: HistoryMap?) {
    connections = LockProtected(Connections(pool))
    historyMap = LockProtected(history)
    self.map = map
    model = map.model
    identifier = catalog.metadata.identifier
    self.life = life
    configuration = pool.options.configuration
    kinds = Lazy { map.serverKinds }
    readColumns = Lazy { map.serverReadColumns }
    plans = StorePlans(in: map)
  }

  /// Creates a view that reads from elsewhere, and shares the store's plans.
  init(reading pool: ServerPool, of store: PostgreSQLStore) {
    connections = LockProtected(Connections(reading: pool, of: store.connections.withLock { $0 }))
    // The store's watch keeps it up to date.
    historyMap = store.historyMap
    (identifier, model, map, configuration) = (store.identifier, store.model, store.map, store.configuration)
    life = store.life
    (kinds, readColumns, plans) = (store.kinds, store.readColumns, store.plans)
  }

  func close() throws {
    let connections = connections.withLock { $0 }
    connections.pool.close()
    connections.replicas.close()
  }

  private var replicas: ServerReplicas { connections.withLock { $0.replicas } }
  private var changes: ChangeCount { connections.withLock { $0.changes } }

  func replicaRows() -> (any SharedRowSource)? {
    replicas.take().map { replica in
      let pool = pool
      return PostgreSQLStore(reading: pool.reading(from: ReplicaReads(replica, or: pool)), of: self)
    }
  }

  func advanceReplicas() throws { try pool.recordSeenPosition() }

  /// A number that every transaction of the server changes, including those of other stores, which only cause a
  /// needless check.
  func foreignChangeCount() throws -> Int64? {
    try pool.readUnwatched { session in
      try session.first(HeldServerState.countChanges) { $0.integer($1, 0) }
    }
  }

  // MARK: Moments

  func recordChange() { changes.increment() }

  /// The time counts from the arrival of the answer: the way from the server isn't the program's.
  func readingWithMoment<T>(_ body: () throws -> T) rethrows -> (T, ReadMoment?) {
    let count = changes.value
    let result = try body()
    let isUnchanged = changes.value == count
    return (result, isUnchanged ? ReadMoment(changeCount: count) : nil)
  }

  /// Each statement takes a round trip.
  var readAhead: ReadAhead { .distant }

  func isRecent(_ moment: ReadMoment) -> Bool {
    changes.value == moment.changeCount && moment.age <= maximumAge
  }

  // MARK: Values in files

  func externalData(named name: String) throws -> Data {
    throw PersistenceError(
      .fileAccess, at: .store(url),
      "The value's file '\(name)' can't be read, because a store on a server has no files.",
      fix: "Read it from the store that the value was read from.")
  }

  /// Detects fundamental changes by other programs, and follows those of the history.
  ///
  /// - Parameter mark: The mark in the state that the store was read from.
  func watch(_ metadata: StoreMetadata, _ mark: ServerMark, of pool: ServerPool) -> ServerWatch {
    ServerWatch(OpenedStore(at: pool.url, metadata, map: map), ofLife: life, mark) {
      [historyMap, map, weak pool] catalog, expansion in
      historyMap.withLock { $0 = HistoryMap(catalog, in: map, expansion) }
      pool?.follow(isExpanded: catalog.isExpanded, map.model)
    }
  }

  // MARK: Copies

  func reopen(at url: URL, didReplace: () -> Void) throws {
    guard case .server(let address) = StoreLocation(url) else {
      throw PersistenceError(
        .storeTypeMismatch, at: .store(url), "An open store on a server can't continue in a file.",
        fix: "Remove the store, and add the other one.")
    }
    let (old, new) = (connections.withLock { $0 }, ServerPool(address, options: pool.options))
    do {
      let (catalog, mark, expansion) = try new.readTransaction { session in
        let catalog = try StoreCatalog.read(session, for: model)
        return (catalog, try ServerMark(in: session), try HistoryExpansion(session, catalog, for: map))
      }
      guard catalog.metadata.identifier == identifier, catalog.tableMap(of: model).hasPlaces(of: map) else {
        throw PersistenceError(
          .invalidRequest, at: .store(url), "The schema contains a store other than the open one.",
          fix: "Remove the open store and add this one.")
      }
      new.setWatch(watch(catalog.metadata, mark, of: new))
      // No save may run meanwhile, since the statements of a save depend on the schema.
      try old.pool.closing {
        historyMap.withLock { $0 = HistoryMap(catalog, in: map, expansion) }
        freeKeys.withLock { $0 = [:] }
        new.countAsOpen()
        connections.withLock { $0 = Connections(new) }
        didReplace()
      }
    } catch {
      new.close()
      throw error
    }
    old.replicas.close()
  }
}
