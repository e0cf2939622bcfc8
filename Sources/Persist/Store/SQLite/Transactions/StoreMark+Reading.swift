import Foundation

extension StoreMark {
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the store has no metadata.
  init(_ connection: SQLiteConnection) throws {
    let mark = try connection.first(.metadata) { row in
      (schemaVersion: row.integer(2), identifier: row.text(0), propertyList: row.data(1))
    }
    guard let mark else {
      throw PersistenceError(
        .storeDamaged, at: .store(connection.url), "The store has no metadata.",
        fix: "Restore the store from a backup.")
    }
    self.init(schemaVersion: mark.schemaVersion, identifier: mark.identifier, propertyList: mark.propertyList)
  }
}
