import Foundation

/// One attempt to write a save, inside a transaction.
///
/// The caller performs the steps in order; this holds their shared state.
struct CommitPass: ~Copyable {
  let store: SQLiteStore
  let connection: SQLiteConnection
  let writes: RowWrites
  /// The key of each inserted row, in the order of the inserts.
  private(set) var insertedKeys: [Int64] = []
  private var temporaryKeys = TemporaryKeys()
  var files: LargeValueFiles
  var conflicts: [RowConflict] = []
  /// The indexes of touched rows that others had changed.
  var overtakenTouches: [Int] = []
  /// Records the save in the history; nil if changes aren't recorded.
  var history: HistoryWriter?
  /// New members of ordered relationships that have no position yet.
  var withoutPlace: [OrderedOwner: [Int64]] = Dictionary()
  /// The greatest positions of members of ordered many-to-many relationships that get new ones.
  var lastPlaces: [OrderedOwner: Int64] = Dictionary()

  init(_ writes: RowWrites, store: SQLiteStore, connection: SQLiteConnection) {
    self.writes = writes
    self.store = store
    self.connection = connection
    files = LargeValueFiles(store.folderForNewValues)
  }

  /// - Parameter historyNumber: The number of the transaction in the history, if any.
  func receipt(historyNumber: Int64?) -> CommitReceipt {
    var receipt = CommitReceipt(
      insertedKeys: insertedKeys, overtakenTouches: overtakenTouches, historyNumber: historyNumber)
    receipt.historyMark = history.map { HistoryMark(life: store.life, time: $0.time) }
    return receipt
  }

  func plan(_ entity: Entity) throws -> WritePlan { try store.plans.plan(forWriting: entity) }

  // MARK: Keys

  /// Assigns every inserted row its key; the counter of each hierarchy is read and written once.
  mutating func assignKeys() throws {
    let inserts = writes.inserts
    guard !inserts.isEmpty else { return }
    var next: [Int64?] = Array(repeating: nil, count: store.model.entities.count)
    insertedKeys.reserveCapacity(inserts.count)
    var temporary: [(number: UInt64, key: Int64)] = []
    temporary.reserveCapacity(inserts.count)
    var lastEntity: Entity?
    var root = 0
    // By index, because copies of the elements would cost reference counts.
    for index in inserts.indices {
      if inserts[index].entity !== lastEntity {
        let entity = inserts[index].entity
        lastEntity = entity
        root = try plan(entity).entity.root.index
        if next[root] == nil { next[root] = try greatestKey(root) }
      }
      let greatest = next[root] ?? 0
      switch inserts[index].key {
      case .permanent(let key):
        insertedKeys.append(key)
        next[root] = max(greatest, key)
      case .temporary(let number):
        let (key, overflow) = greatest.addingReportingOverflow(1)
        guard !overflow else {
          throw PersistenceError.noKeyLeft(for: inserts[index].entity, at: store.url)
        }
        insertedKeys.append(key)
        temporary.append((number, key))
        next[root] = key
      }
    }
    temporaryKeys = TemporaryKeys(temporary)
    for (root, key) in next.enumerated() {
      guard let key else { continue }
      let entity = store.model.entities[root]
      try connection.execute(.setGreatestKey(key, entity: store.map.numbers[entity], name: entity.name))
    }
  }

  func greatestKey(_ root: Int) throws -> Int64 {
    let entity = store.model.entities[root]
    let table = store.plans.writes[root].table
    return try connection.first(.greatestKey(of: table, entity: store.map.numbers[entity])) { $0.integer(0) } ?? 0
  }

  /// The key of a row that another row refers to; see ``TemporaryKeys``.
  func key(of id: ManagedObjectID) throws -> Int64 {
    try temporaryKeys.key(of: id, inStore: store.identifier, at: store.url)
  }

  /// The key of a row to update or delete; see ``TemporaryKeys``.
  func key(of key: ManagedObjectID.Key, _ entity: Entity) throws -> Int64 {
    try temporaryKeys.key(of: key, entity, at: store.url)
  }

  // MARK: Conflicts

  /// - Throws: ``RowConflicts`` if rows had changed.
  func throwConflicts() throws {
    if !conflicts.isEmpty { throw RowConflicts(conflicts: conflicts) }
  }
}
