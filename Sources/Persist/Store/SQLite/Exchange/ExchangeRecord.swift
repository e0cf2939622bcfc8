import Foundation

/// What a migration is about to do with the files of a store, written before it does: whoever finds it later knows what
/// is left to do.
///
/// One commit decides, which notes the migration in the store's log. Where it came, the large values that only the old
/// store named go; else those go that were brought for the new one.
struct ExchangeRecord: Codable, Hashable {
  /// The entry of the store's log of migrations, as a binary property list.
  var logEntry: Data
  /// Large values that come to the store's folder with the new store.
  var added: [String] = []
  /// Large values of the old store that the new one doesn't name.
  var removed: [String]

  private static func file(in folder: URL) -> URL { folder.appendingPathComponent("exchange.json") }

  init(logEntry: PropertyList, added: [String] = [], removed: [String]) throws {
    (self.logEntry, self.added, self.removed) = (try logEntry.binaryData(), added, removed)
  }

  /// The record in a working folder; nil where no exchange had begun.
  init?(in folder: URL) throws {
    let file = Self.file(in: folder)
    guard FileState(file) != nil else { return nil }
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    } catch {
      throw PersistenceError(
        .malformedFile, at: .file(file), "The record of an exchange can't be read: \(error.localizedDescription)",
        fix: "If the store opens without its folder '\(folder.lastPathComponent)', move that away.")
    }
  }

  /// Writes it so that it is on the disk before anything is done.
  func write(in folder: URL) throws {
    try FileSynchronization.write(self, to: Self.file(in: folder), what: "record of the exchange")
  }

  /// Does what is left to do, and forgets it.
  func settle(store: URL, in folder: URL) throws {
    let values = ExternalDataFolder(storeAt: store)
    for name in try isDecided(store) ? removed : added {
      if let value = try values.file(named: name) { try? FileManager.default.removeItem(at: value) }
    }
    values.removeIfEmpty()
    try? FileManager.default.removeItem(at: Self.file(in: folder))
  }

  private func isDecided(_ store: URL) throws -> Bool {
    guard FileState(store) != nil else { return false }
    // A writer, for there may be a journal to be rolled back first.
    let connection = try SQLiteConnection(store, mode: .readWrite)
    defer { connection.close() }
    let log = try StoreMetadata(connection).values[StoreMetadata.Key.migrationLog]?.arrayValue ?? []
    return try log.contains(PropertyList(data: logEntry))
  }
}
