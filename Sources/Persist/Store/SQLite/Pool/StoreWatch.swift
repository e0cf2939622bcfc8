import Foundation

/// Detects that an open store has changed fundamentally since it was opened: another program migrated it, or replaced
/// the content of its file with another store's.
///
/// A program that continued with outdated tables and entity numbers would write rows that are never read, and read
/// others' rows as its own. Therefore a write transaction checks the store if others have written to it, and a reader
/// checks it if SQLite had to reload the schema, which every migration causes.
final class StoreWatch: Sendable {
  private let url: URL
  private let identifier: String
  private let map: TableMap
  private let hashes: [String: Data]
  private let known: LockProtected<StoreMark>
  private let observer = LockProtected<(@Sendable (StoreCatalog) -> Void)?>(nil)

  /// - Parameters:
  ///   - mark: The mark of the state that the map was created from.
  ///   - hashes: Core Data's hashes in the metadata.
  init(_ url: URL, mark: StoreMark, identifier: String, hashes: [String: Data], map: TableMap) {
    (self.url, self.identifier, self.hashes, self.map) = (url, identifier, hashes, map)
    known = LockProtected(mark)
  }

  /// Calls `body` when others have changed the store's metadata or schema, but not its model.
  func whenChanged(_ body: @escaping @Sendable (StoreCatalog) -> Void) { observer.withLock { $0 = body } }

  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store now has another model or layout,
  ///   ``PersistenceError/Code/storeExchanged`` if it is another store.
  /// - Complexity: One statement if only rows have changed.
  func check(_ connection: SQLiteConnection) throws {
    let mark: StoreMark
    do {
      mark = try StoreMark(connection)
    } catch let error as PersistenceError where [.sqlite, .storeDamaged].contains(error.code) {
      throw exchanged("It is no longer a store.", engineMessage: error.engineMessage)
    }
    guard mark != known.withLock({ $0 }) else { return }
    try connection.readTransaction {
      let catalog = try StoreCatalog(connection)
      guard catalog.metadata.identifier == identifier else {
        throw exchanged("It has the content of the store \(catalog.metadata.identifier) now.")
      }
      try checkModel(catalog)
      known.withLock { $0 = catalog.mark }
      observer.withLock { $0 }?(catalog)
    }
  }

  private func checkModel(_ catalog: StoreCatalog) throws {
    let isSameModel = catalog.record.map { $0.fingerprints == map.model.fingerprints } ?? false
      || catalog.metadata.versionHashes == hashes
    guard !isSameModel || !catalog.tableMap(of: map.model).hasSamePlaces(as: map) else { return }
    let names = catalog.metadata.versionIdentifiers.filter { !$0.isEmpty }
    let version = names.isEmpty ? "" : " Its version is \(names.map { "'\($0)'" }.joined(separator: ", ")) now."
    throw PersistenceError(
      .incompatibleModel, at: .store(url),
      "Another program migrated the store while it was open here.\(version)",
      fix: "Open it again with its current model. Unsaved changes are still in the context.")
  }

  /// The error for a file that isn't the one opened.
  var moved: PersistenceError {
    exchanged(FileState(url) == nil ? "The file no longer exists." : "Another file has its name now.")
  }

  private func exchanged(_ how: String, engineMessage: String? = nil) -> PersistenceError {
    PersistenceError(
      .storeExchanged, at: .store(url),
      "The store was deleted or replaced while it was open here. \(how)",
      engineMessage: engineMessage,
      fix: "Remove it from the coordinator, and open the store now at its path. Unsaved changes are still in the "
        + "context.")
  }
}

extension TableMap {
  /// Whether rows of all entities are written identically in both.
  fileprivate func hasSamePlaces(as other: TableMap) -> Bool {
    numbers.byIndex == other.numbers.byIndex && absent == other.absent && layout == other.layout
      && joinTables == other.joinTables
      && zip(tables, other.tables).allSatisfy { one, two in
        one.table == two.table && one.columns == two.columns && one.orderColumns == two.orderColumns
          && one.toMany == two.toMany
      }
  }
}
