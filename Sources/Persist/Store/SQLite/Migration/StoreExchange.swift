import Foundation

/// Replaces a store's content with that of a file migrated beside it, including its large values.
///
/// First the intended changes are recorded. Then the new large values are added, which is harmless while no row refers
/// to them. A single transaction commits the exchange. Finally unreferenced large values are deleted. If the process is
/// killed in between, the store is complete, either the old or the new version, and the next process to open it
/// performs the remaining work.
struct StoreExchange: ~Copyable {
  /// The store to replace.
  let store: URL
  let tables: TableMap
  /// The new store: a single file without a log that no other connection has open.
  let replacement: URL
  /// The new store's model.
  let model: ManagedObjectModel
  /// The entry of this migration in the new store's log.
  let logEntry: PropertyList
  let folder: WorkingFolder

  /// - Parameters:
  ///   - hold: the hold of the old store; it ends.
  ///   - report: called with the written fraction; an error that it throws leaves the store unchanged.
  func perform(_ hold: StoreHold, reporting report: (Double) throws -> Void) throws {
    let connection = try SQLiteConnection(replacement, mode: .readOnly)
    defer { connection.close() }
    let record = try record(hold, connection)
    try record.write(in: folder.url)
    try moveIntoPlace(record.added)
    try hold.replaceContent(by: connection, reporting: report)
    try record.complete(store: store, in: folder.url)
  }

  // MARK: Large values

  private func record(_ hold: StoreHold, _ connection: SQLiteConnection) throws -> ExchangeRecord {
    let old = try names(in: tables, hold.connection)
    let new = try names(in: StoreCatalog(connection).tableMap(of: model), connection)
    let present = Set(ExternalDataFolder(storeAt: store).names())
    return try ExchangeRecord(
      logEntry: logEntry, added: new.subtracting(present).sorted(), removed: old.subtracting(new).sorted())
  }

  private func names(in map: TableMap, _ connection: SQLiteConnection) throws -> Set<String> {
    var names: Set<String> = []
    for table in map.tables where !map.absent.contains(table.entity.name) {
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, attribute.storesMarkedBytes,
          table.entity.property(named: column.property)?.declaringEntity == table.entity.name
        else { continue }
        names.formUnion(try connection.largeValueNames(in: table.table, column: column.name, .all))
      }
    }
    return names
  }

  private func moveIntoPlace(_ names: [String]) throws {
    guard !names.isEmpty else { return }
    let (new, old) = (ExternalDataFolder(storeAt: replacement), ExternalDataFolder(storeAt: store))
    let files = FileManager.default
    do {
      try old.make()
      let permissions = old.permissions
      for name in names {
        guard let file = try new.file(named: name) else { continue }
        permissions?.apply(to: file)
        try files.moveItem(at: file, to: old.url.appendingPathComponent(name))
      }
      try FileSynchronization.synchronize(old.url)
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(old.url), "The large values can't be transferred to the new store: "
          + error.localizedDescription, fix: "Check the free disk space and the permissions of the store's folder.")
    }
  }
}
