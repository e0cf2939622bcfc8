import Foundation

/// The record of a migration's changes to a store's files, written before they are made, so that a later process can
/// complete them.
///
/// A single commit, which adds the migration to the store's log, is decisive. If it took place, the large values that
/// only the old store named are deleted; otherwise those added for the new one are deleted.
struct ExchangeRecord: Codable, Equatable {
  /// The entry in the store's migration log, as a binary property list.
  var logEntry: Data
  /// The large values that are added to the store's folder with the new store.
  var added: [String] = []
  /// The large values of the old store that the new one doesn't name.
  var removed: [String]

  static func == (left: ExchangeRecord, right: ExchangeRecord) -> Bool {
    left.logEntry.hasSameBytes(as: right.logEntry) && left.added == right.added && left.removed == right.removed
  }

  private static func file(in folder: URL) -> URL { folder.appendingPathComponent("exchange.json") }

  init(logEntry: PropertyList, added: [String] = [], removed: [String]) throws {
    (self.logEntry, self.added, self.removed) = (try logEntry.binaryData(), added, removed)
  }

  /// The record in a working folder; nil if no exchange had started.
  init?(in folder: URL) throws {
    let file = Self.file(in: folder)
    guard FileState(file) != nil else { return nil }
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    } catch {
      throw PersistenceError(
        .malformedFile, at: .file(file),
        "The record of a store replacement can't be read: \(error.localizedDescription)",
        fix: "If the store opens without its folder '\(folder.lastPathComponent)', move that away.")
    }
  }

  /// Writes the record to disk before anything else is changed.
  func write(in folder: URL) throws {
    try FileSynchronization.write(self, to: Self.file(in: folder), what: "record of the replacement")
  }

  /// Completes the remaining changes and deletes the record.
  func complete(store: URL, in folder: URL) throws {
    let values = ExternalDataFolder(storeAt: store)
    values.discard(try isDecided(store) ? removed : added)
    values.removeIfEmpty()
    try? FileManager.default.removeItem(at: Self.file(in: folder))
  }

  private func isDecided(_ store: URL) throws -> Bool {
    guard FileState(store) != nil else { return false }
    // Opened for writing, since a journal may have to be rolled back first.
    let connection = try SQLiteConnection(store, mode: .readWrite)
    defer { connection.close() }
    let log = try StoreMetadata(connection).values[StoreMetadata.Key.migrationLog]?.arrayValue ?? []
    return try log.contains(PropertyList(data: logEntry))
  }
}
