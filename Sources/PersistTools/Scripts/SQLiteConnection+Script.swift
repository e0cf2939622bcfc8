import Foundation
import Persist

/// Writing scripts for other programs.
extension SQLiteConnection {
  /// Runs `body` and returns the statements that it ran in transactions, except those that only read.
  func recordingStatements(_ body: () throws -> Void) throws -> [SQLText] {
    recordedStatements = []
    defer { recordedStatements = nil }
    try body()
    return recordedStatements ?? []
  }

  /// The conditions by which a script recognizes the rows of the tables that a migration replaces: the metadata, the
  /// record of the model, and the entities.
  func scriptContentChecks() throws -> [MigrationScriptText.Check] {
    let schema = try StoreSchema(self)
    return try Self.metadataTables.flatMap { name, isOfVersion -> [MigrationScriptText.Check] in
      guard let table = schema.table(named: name) else { return [] }
      let columns = table.columns.map(\.name)
      return try all(.contents(of: table.name, columns: columns)) { row in
        .row(
          columns.enumerated().map { ($1, row.value(Int32($0))) }, of: table.name, isOfVersion: isOfVersion)
      }
    }
  }

  /// The tables whose content a migration replaces, and whether a difference is one of the version.
  private static let metadataTables = [
    (name: "PERSIST_METADATA", isOfVersion: true), ("Z_METADATA", false), ("Z_PRIMARYKEY", false),
    ("Z_MODELCACHE", false),
  ]

  /// The conditions by which a script recognizes the store in its present state.
  func scriptChecks() throws -> [MigrationScriptText.Check] {
    var checks = [MigrationScriptText.Check.identifier(try StoreMetadata(self).identifier)]
    for table in try StoreSchema(self).tables where table.isOrdinary {
      let names = table.columns.map(\.name)
      let columns = try first(.columnNames(of: table.name)) { $0.text(0) } ?? ""
      let extent = try first(.extent(of: table.name, columns: names)) { $0.text(0) } ?? ""
      checks += [.columns(columns, of: table.name), .extent(extent, of: table.name, columns: names)]
    }
    return checks
  }
}

extension StoreSchema.Table {
  /// Whether rows of the table are its own: not those of an index for full-text search, or of SQLite.
  package var isOrdinary: Bool {
    !name.hasPrefix("sqlite_") && !name.hasPrefix(FullTextIndex.prefix) && !sql.uppercased().hasPrefix("CREATE VIRTUAL")
  }
}
