import Foundation

/// Detects that an open store has changed fundamentally since it was opened: another program migrated it, or replaced
/// the content of its file with another store's.
///
/// A program that continued with outdated tables and entity numbers would write rows that are never read, and read
/// others' rows as its own. Therefore a write transaction checks the store if others have written to it, and a reader
/// checks it if SQLite had to reload the schema, which every migration causes.
final class StoreWatch: Sendable {
  private let url: URL
  private let opened: OpenedStore
  private let known: LockProtected<StoreMark>
  private let observer = LockProtected<(@Sendable (StoreCatalog) -> Void)?>(nil)

  /// - Parameter mark: The mark of the state that the opened store was read from.
  init(_ url: URL, mark: StoreMark, _ opened: OpenedStore) {
    self.url = url
    self.opened = opened
    known = LockProtected(mark)
  }

  /// Calls `body` when others have changed the store's metadata or schema, but not its model.
  func whenChanged(_ body: @escaping @Sendable (StoreCatalog) -> Void) { observer.withLock { $0 = body } }

  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store now has another model or layout,
  ///   ``PersistenceError/Code/storeExchanged`` if it is another store.
  /// - Complexity: One statement if only rows have changed.
  func check(_ connection: SQLiteConnection) throws {
    guard try hasChanged(connection) else { return }
    try connection.readTransaction {
      let catalog = try checkedCatalog(connection)
      // The mark is last: whoever finds it known also finds what the observer has made of it.
      observer.withLock { $0 }?(catalog)
      known.withLock { $0 = catalog.mark }
    }
  }

  /// Checks the state that a transaction reads, without reporting it to the observer: the state may be an earlier one
  /// than the observer's.
  ///
  /// - Returns: The catalog if it isn't the known one.
  /// - Throws: As ``check(_:)``.
  /// - Complexity: One statement if only rows have changed.
  func changedCatalog(_ connection: SQLiteConnection) throws -> StoreCatalog? {
    try hasChanged(connection) ? checkedCatalog(connection) : nil
  }

  private func hasChanged(_ connection: SQLiteConnection) throws -> Bool {
    do {
      return try StoreMark(connection) != known.withLock { $0 }
    } catch let error as PersistenceError where [.sqlite, .storeDamaged].contains(error.code) {
      throw opened.exchanged("It is no longer a store.", engineMessage: error.engineMessage)
    }
  }

  private func checkedCatalog(_ connection: SQLiteConnection) throws -> StoreCatalog {
    let catalog = try StoreCatalog(connection)
    try opened.check(catalog)
    return catalog
  }

  /// The error for a file that isn't the one opened.
  var moved: PersistenceError {
    opened.exchanged(FileState(url) == nil ? "The file no longer exists." : "Another file has its name now.")
  }
}
