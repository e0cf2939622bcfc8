import Foundation

/// A mark, read with one statement, that shows whether the model or the layout of a store may have changed.
struct StoreMark: Sendable, Hashable {
  /// SQLite's schema version.
  let schemaVersion: Int64
  /// The identifier in the metadata's own column.
  let identifier: String
  /// The metadata as a property list, which identify the model.
  let propertyList: Data

  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the store has no metadata.
  init(_ connection: SQLiteConnection) throws {
    let mark = try connection.first(.metadata) { row in
      (schemaVersion: row.integer(2), identifier: row.text(0), propertyList: row.data(1))
    }
    guard let mark else {
      throw PersistenceError(
        .storeDamaged, at: .store(connection.url), "The store's table Z_METADATA is empty.",
        fix: "Restore the store from a backup.")
    }
    (schemaVersion, identifier, propertyList) = mark
  }
}
