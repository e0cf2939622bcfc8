import Foundation

/// The names of large values in databases that share folders with a store.
///
/// Stores whose names differ only in the extension have the same folder, and copies of a store name the same files.
package enum LargeValueSharers {
  /// Passes the names that other databases contain to `body`, which may delete all other files. Nobody writes to those
  /// databases meanwhile, since no row names the files of a save in progress.
  ///
  /// - Returns: Nil, without calling `body`, if one of the databases can't be read or is being written.
  static func withNames<T>(besides folder: ExternalDataFolder, _ body: (Set<String>) throws -> T) rethrows -> T? {
    var connections: [SQLiteConnection] = []
    defer {
      for connection in connections {
        if connection.isInTransaction { _ = try? connection.execute(.rollback) }
        connection.close()
      }
    }
    var names: Set<String> = []
    for other in folder.sharers {
      guard
        let connection = try? SQLiteConnection(other, mode: .readWrite, options: StoreOptions(busyTimeout: .zero))
      else { return nil }
      connections.append(connection)
      guard (try? connection.execute(.beginWriting)) != nil, let found = try? connection.largeValueNames() else {
        return nil
      }
      names.formUnion(found)
    }
    return try body(names)
  }

  /// The names that other databases contain at present; nil if one of them can't be read.
  package static func names(besides folder: ExternalDataFolder) -> Set<String>? {
    try? folder.sharers.reduce(into: []) { names, other in
      names.formUnion(try SQLiteConnection.reading(other) { try $0.largeValueNames() })
    }
  }
}

extension SQLiteConnection {
  /// The names of files in all columns of all tables, including columns unknown to the model.
  @inline(never)
  func largeValueNames() throws -> Set<String> {
    var names: Set<String> = []
    for table in try StoreSchema(self).tables {
      for column in table.columns where Self.mayNameFiles(column) {
        try query(.fileNames(in: column.name, of: table.name)) { row in
          names.insert(String(decoding: row.data(0).prefix { $0 != 0 }, as: UTF8.self))
        }
      }
    }
    return names
  }

  /// The columns that may name files, of tables whose rows have keys.
  func columnsOfFileNames() throws -> [(table: String, column: String)] {
    try StoreSchema(self).tables.filter { table in table.columns.contains { $0.name == "Z_PK" } }.flatMap { table in
      table.columns.filter(Self.mayNameFiles).map { (table.name, $0.name) }
    }
  }

  private static func mayNameFiles(_ column: StoreSchema.Column) -> Bool {
    let type = column.declaredType.uppercased()
    return type.isEmpty || type.contains("BLOB")
  }
}
