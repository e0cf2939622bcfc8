import Foundation

/// Notices that an open store isn't any more what it was when it was opened: another program migrated it, or put
/// another store's content into its file.
///
/// A program that went on with the tables and entity numbers that it knows would write rows which nobody reads, and
/// read others' rows as its own. So a writing transaction looks at the store where others have written since; and a
/// reader looks where SQLite itself had to read the schema anew, which every migration makes it do.
final class StoreWatch: Sendable {
  private let url: URL
  private let identifier: String
  private let map: TableMap
  private let hashes: [String: Data]
  private let known: Guarded<StoreMark>

  /// - Parameters:
  ///   - mark: of the state in which the map was made.
  ///   - hashes: Core Data's hashes in the metadata.
  init(_ url: URL, mark: StoreMark, identifier: String, hashes: [String: Data], map: TableMap) {
    (self.url, self.identifier, self.hashes, self.map) = (url, identifier, hashes, map)
    known = Guarded(mark)
  }

  /// - Throws: ``PersistenceError/Code/incompatibleModel`` where the store has another model or layout now,
  ///   ``PersistenceError/Code/storeExchanged`` where it is another store.
  /// - Complexity: one statement where nothing has changed but rows.
  func check(_ connection: SQLiteConnection) throws {
    let mark: StoreMark
    do {
      mark = try StoreMark(connection)
    } catch let error as PersistenceError where [.sqlite, .storeDamaged].contains(error.code) {
      throw exchanged("Its content isn't that of a store any more.", engineMessage: error.engineMessage)
    }
    guard mark != known.withLock({ $0 }) else { return }
    try connection.readTransaction {
      let catalog = try StoreCatalog(connection)
      guard catalog.metadata.identifier == identifier else {
        throw exchanged("It has the content of the store \(catalog.metadata.identifier) now.")
      }
      try checkModel(catalog)
      known.withLock { $0 = catalog.mark }
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
      fix: "Open it again, with the model that it has now. What wasn't saved is still in the context.")
  }

  /// The error for a file that isn't the one that was opened.
  var moved: PersistenceError {
    exchanged(FileState(url) == nil ? "There is no such file any more." : "Another file has its name now.")
  }

  private func exchanged(_ how: String, engineMessage: String? = nil) -> PersistenceError {
    PersistenceError(
      .storeExchanged, at: .store(url),
      "The store was deleted or exchanged while it was open here. \(how)",
      engineMessage: engineMessage,
      fix: "Remove it from the coordinator, and open the store that is there now. What wasn't saved is still in the "
        + "context.")
  }
}

extension TableMap {
  /// Whether a row of any entity of the model is written alike into both.
  fileprivate func hasSamePlaces(as other: TableMap) -> Bool {
    numbers.byIndex == other.numbers.byIndex && absent == other.absent && layout == other.layout
      && joinTables == other.joinTables
      && zip(tables, other.tables).allSatisfy { one, two in
        one.table == two.table && one.columns == two.columns && one.orderColumns == two.orderColumns
          && one.toMany == two.toMany
      }
  }
}
