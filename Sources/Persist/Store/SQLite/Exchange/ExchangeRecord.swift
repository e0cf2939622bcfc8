import Foundation

/// What a migration is about to do with the files of a store, written before it does: whoever finds it later knows what
/// is left to do.
///
/// One step decides. Where it came, the store is the new one, and the large values that only the old one named go; else
/// those go that were brought for the new one.
struct ExchangeRecord: Codable, Hashable {
  enum Decision: Codable, Hashable {
    /// A file, by its path within the working folder, is given the store's name.
    case renaming(String)
    /// The store is committed with these fingerprints of its model.
    case commit([String: Data])
  }

  var decision: Decision
  /// Large values that come to the store's folder with the new store.
  var added: [String] = []
  /// Large values of the old store that the new one doesn't name.
  var removed: [String]

  private static func file(in folder: URL) -> URL { folder.appendingPathComponent("exchange.json") }

  init(_ decision: Decision, added: [String] = [], removed: [String]) {
    (self.decision, self.added, self.removed) = (decision, added, removed)
  }

  /// The record in a working folder; nil where no exchange had begun.
  init?(in folder: URL) throws {
    let file = Self.file(in: folder)
    guard FileState(file) != nil else { return nil }
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    } catch {
      throw PersistError(
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
    for name in try isDecided(store, folder) ? removed : added {
      if let value = try values.file(named: name) { try? FileManager.default.removeItem(at: value) }
    }
    values.removeIfEmpty()
    try? FileManager.default.removeItem(at: Self.file(in: folder))
  }

  private func isDecided(_ store: URL, _ folder: URL) throws -> Bool {
    switch decision {
    case .renaming(let path):
      let file = folder.appendingPathComponent(path)
      guard let replacement = FileState(file) else { return true }
      // A file system that doesn't rename in one step may have given the new name before it took the old one away,
      if let present = FileState(store) { return present.isSameFile(as: replacement) }
      // or the other way round.
      try FileSynchronization.rename(file, to: store)
      return true
    case .commit(let fingerprints):
      guard FileState(store) != nil else { return false }
      // A writer, for there may be a journal to be rolled back first.
      let connection = try SQLiteConnection(store, mode: .readWrite)
      defer { connection.close() }
      return try StoreCatalog(connection).record?.fingerprints.mapValues(\.bytes) == fingerprints
    }
  }
}
