import Foundation

/// Identifying an SQLite file.
extension StoreIdentification {
  /// Identifies the model of an open store, from one consistent state of it.
  ///
  /// - Parameter known: A catalog read before, which is reused if it is still valid.
  @inline(never)
  package static func identify(
    _ connection: SQLiteConnection, registry: ModelRegistry?, _ known: StoreCatalog? = nil
  ) throws -> IdentifiedStore {
    try connection.readTransaction {
      let catalog = try known.flatMap { try $0.isCurrent(connection) ? $0 : nil } ?? StoreCatalog(connection)
      return try identify(catalog, at: connection.url, registry: registry) {
        try EmbeddedModel(connection, catalog: catalog)
      }
    }
  }

  /// The evidence of an open store's model.
  static func evidence(
    _ connection: SQLiteConnection, _ catalog: StoreCatalog, registry: ModelRegistry?
  ) throws -> StoreEvidence {
    try evidence(catalog, at: connection.url, registry: registry) { try EmbeddedModel(connection, catalog: catalog) }
  }
}

extension EmbeddedModel {
  init(_ connection: SQLiteConnection, catalog: StoreCatalog) throws {
    try self.init(of: catalog, at: connection.url) {
      try ModelRecord.modelText(connection)
    } archive: {
      guard catalog.schema.hasColumn("Z_CONTENT", of: "Z_MODELCACHE") else { return nil }
      return try connection.first(.modelCache) { $0.data(0) }
    }
  }
}
