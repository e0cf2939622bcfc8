/// A row of the last save of this program, by which a store is recognized that another program has set back: SQLite's
/// own backup, as in `.restore` of its shell, writes older content into the same file, as a transaction like any other.
struct LastWrite: Sendable {
  private let table: String
  /// The number of the entity whose counter assigns the table's keys.
  private let entity: Int
  private let key: Int64
  /// The row's version; nil if the save deleted it.
  private let version: Int64?

  /// Returns nil for a save that wrote no row of an object.
  ///
  /// - Parameter unreadVersion: The present version of the last updated row if it wasn't read.
  init?(_ writes: RowWrites, insertedKeys: [Int64], unreadVersion: Int64?, in map: TableMap) {
    func row(of object: Entity, key: Int64, version: Int64?) -> LastWrite {
      LastWrite(table: map[object].table, entity: map[object.root].number, key: key, version: version)
    }
    if let update = writes.updates.last, case .permanent(let key) = update.key {
      // The greatest version has no successor.
      let next = update.version?.addingReportingOverflow(1)
      guard next?.overflow != true, let version = next?.partialValue ?? unreadVersion else { return nil }
      self = row(of: update.entity, key: key, version: version)
    } else if let insert = writes.inserts.last, let key = insertedKeys.last {
      self = row(of: insert.entity, key: key, version: insert.version)
    } else if let delete = writes.deletes.last, case .permanent(let key) = delete.key {
      self = row(of: delete.entity, key: key, version: nil)
    } else {
      return nil
    }
  }

  private init(table: String, entity: Int, key: Int64, version: Int64?) {
    (self.table, self.entity, self.key, self.version) = (table, entity, key, version)
  }

  /// Whether the store is in a state from before the save. Versions and counters only grow, and no key is used twice.
  func isLost(in connection: SQLiteConnection) throws -> Bool {
    let stored = try connection.first(.version(of: key, in: table)) { $0.integer(0) }
    switch (stored, version) {
    case (let stored?, let version?): return stored < version
    case (_?, nil): return true
    case (nil, nil): return false
    case (nil, _?):
      // Others may have deleted the row since.
      return try connection.first(.greatestKey(of: table, entity: entity)) { $0.integer(0) }.map { $0 < key } ?? true
    }
  }
}
