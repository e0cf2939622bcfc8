import Foundation
import LinkedSQLite
import Persist

extension MigrationScript {
  /// Runs SQL on a store as another program would, without functions of Persist.
  ///
  /// - Parameter expected: The store whose content it must have afterward.
  /// - Throws: ``PersistenceError/Code/migrationFailed`` if the SQL fails or has another result.
  static func tryScript(_ sql: String, onStoreAt url: URL, expecting expected: URL) throws {
    let connection = try SQLiteConnection(url, mode: .unassisted)
    defer { connection.close() }
    _ = SchemaChangeFlags(setOn: connection.handle)
    do {
      try SQLScript(sql).forEachStatement(on: connection) { statement, _ in while try statement.step() {} }
    } catch let error as PersistenceError {
      if let view = error.brokenView {
        throw PersistenceError(
          .migrationFailed, at: error.place,
          "The view '\(view)', which isn't the model's, doesn't work after the migration, so that SQLite refuses the "
            + "script: \(error.message)",
          fix: "Drop or change the view before writing the script, or migrate the store with 'persist migrate', which "
            + "drops it.", errors: [error])
      }
      guard error.isAboutUnknownFunction else { throw error }
      throw PersistenceError(
        .migrationFailed, at: error.place,
        "The migration needs Persist's own functions, so no other program can run it: \(error.message)",
        fix: "Migrate the store with 'persist migrate'.", errors: [error])
    }
    try connection.attachCopy(expected)
    var differences = try connection.all(.differingDefinitions) { $0.text(0) }
    for table in try StoreSchema(connection).tables where table.isOrdinary && differences.isEmpty {
      if try connection.firstNumber(.differingRows(of: table.name)) > 0 { differences.append(table.name) }
    }
    guard let first = differences.first else { return }
    throw PersistenceError(
      .migrationFailed, at: .store(url),
      "A script of the migration would have a different result from the migration itself, in '\(first)'.",
      fix: "Migrate the store with 'persist migrate', and please report this with both models.")
  }
}
