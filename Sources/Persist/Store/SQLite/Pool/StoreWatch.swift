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
  private let state: LockProtected<State>
  private let place: StorePlace
  private let lastWrite = LockProtected<LastWrite?>(nil)
  /// See ``StoreLife``.
  var life: UInt64 { StoreLife.number(opened.life, file: place.numbers) }

  private struct State {
    var known: StoreMark
    var observer: (@Sendable (StoreCatalog) -> Void)?
    /// The number of times that the known state was replaced or superseded.
    var generation = 0
  }

  /// - Parameter mark: The mark of the state that the opened store was read from.
  init(_ url: URL, mark: StoreMark, _ opened: OpenedStore) {
    self.url = url
    self.opened = opened
    state = LockProtected(State(known: mark))
    place = StorePlace(url)
  }

  /// Calls `body` when others have changed the store's metadata or schema, but not its model.
  ///
  /// - Parameter body: Called for one state after another, never for an earlier one than before. Can't use the watch.
  func whenChanged(_ body: @escaping @Sendable (StoreCatalog) -> Void) { state.withLock { $0.observer = body } }

  /// Called before the observer's owner adopts a change of its own: a state that another thread is checking may be an
  /// earlier one, and is read again instead of being reported.
  func supersede() { state.withLock { $0.generation += 1 } }

  /// Records a completed save of this program.
  func record(_ write: LastWrite) { lastWrite.withLock { $0 = write } }

  /// Called within a write transaction, or outside of transactions: a read transaction may have an earlier state than
  /// the known one.
  ///
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store now has another model or layout,
  ///   ``PersistenceError/Code/storeExchanged`` if it is another store.
  /// - Complexity: One statement if only rows have changed.
  func check(_ connection: SQLiteConnection) throws {
    while true {
      let generation = state.withLock { $0.generation }
      guard try hasChanged(connection) else { return }
      // Before the transaction begins, whose state then contains the save.
      let last = lastWrite.withLock { $0 }
      let catalog = try connection.readTransaction {
        let catalog = try checkedCatalog(connection)
        guard try last?.isLost(in: connection) != true else {
          throw opened.replaced("An older backup was restored into its file.")
        }
        return catalog
      }
      if accept(catalog, ifStill: generation) { return }
    }
  }

  /// Makes a state the known one, unless another thread did so while it was read: that one may be later.
  private func accept(_ catalog: StoreCatalog, ifStill generation: Int) -> Bool {
    state.withLock { state in
      guard state.generation == generation else { return false }
      state.observer?(catalog)
      state.known = catalog.mark
      state.generation += 1
      return true
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
      return try StoreMark(connection) != state.withLock { $0.known }
    } catch let error as PersistenceError where [.sqlite, .storeDamaged].contains(error.code) {
      throw opened.replaced("It is no longer a store.", engineMessage: error.engineMessage)
    }
  }

  private func checkedCatalog(_ connection: SQLiteConnection) throws -> StoreCatalog {
    let catalog = try StoreCatalog(connection)
    try opened.check(catalog)
    return catalog
  }

  /// Requires that the store's files are still those that the connections have open, and that nobody wrote to them
  /// except as a database.
  ///
  /// - Parameter isThorough: Whether to look in any case, and not only if the last look was some time ago.
  /// - Throws: ``PersistenceError/Code/storeExchanged``.
  func requireSameFiles(_ connection: SQLiteConnection, isThorough: Bool) throws {
    switch place.look(connection, isThorough: isThorough) {
    case .same: return
    case .moved: throw moved
    case .otherLog: throw opened.replaced("Its log was deleted or replaced.")
    case .overwritten: throw opened.replaced("The file was overwritten with another one.")
    }
  }

  /// Whether the content of the log may no longer be moved into the file, which has become another one.
  var mustKeepLog: Bool { place.isOverwritten }

  /// The error for a file that isn't the one opened.
  var moved: PersistenceError {
    opened.replaced(FileState(url) == nil ? "The file no longer exists." : "Another file has its name now.")
  }
}
