import Foundation

extension StoreMark {
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the store has no metadata.
  init(_ connection: SQLiteConnection) throws {
    guard let mark = try connection.first(.metadata, { StoreMark($0) }) else {
      throw PersistenceError(
        .storeDamaged, at: .store(connection.url), "The store has no metadata.",
        fix: "Restore the store from a backup.")
    }
    self = mark
  }

  /// - Parameter row: A row that begins with the columns of ``SQLText/metadata``.
  init(_ row: SQLiteStatement) {
    self.init(schemaVersion: row.integer(2), identifier: row.text(0), propertyList: row.data(1))
  }
}
