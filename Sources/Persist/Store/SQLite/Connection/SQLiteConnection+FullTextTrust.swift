import Foundation

/// The basis for trusting a connection's schema: the verified indexes, and the version of the schema.
struct FullTextTrust: Sendable, Equatable {
  let indexes: Set<FullTextIndex>
  var schemaVersion: Int64
}

extension SQLiteConnection {
  /// Allows the triggers of full-text indexes to write to these indexes.
  ///
  /// With `trusted_schema` off, as on every connection of Persist, SQLite doesn't allow triggers to use a virtual table
  /// that isn't declared innocuous, and FTS5 isn't in every version. Turning it on allows *all* triggers and views to
  /// use *all* virtual tables and functions, so they are verified first. Functions are no danger: those that Persist
  /// registers declare whether a schema may call them, regardless of trust, and SQLite's functions with effects outside
  /// the database are never available to schemas. No trigger or view except Persist's own, verbatim, may name a virtual
  /// table. Defaults, checks and indexes can't, since they contain no subqueries.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed``, naming the trigger or view.
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_trusted_schema>, <https://sqlite.org/c3ref/vtab_config.html>
  func trustFullText(_ indexes: Set<FullTextIndex>) throws {
    try execute(.trustedSchemaOff)
    fullTextTrust = nil
    guard !indexes.isEmpty else { return }
    let version = try schemaVersion
    var own: [String: String] = Dictionary()
    for index in indexes { own.merge(index.definitions) { first, _ in first } }
    let objects = try all(.trustedObjects) { (name: $0.text(0), sql: $0.text(1), isTable: $0.integer(2) != 0) }
    let tables = objects.filter(\.isTable).map(\.name)
    for object in objects where own[object.name] != object.sql {
      let isOwn = own[object.name] != nil
      let table = tables.first { object.sql.mayName($0) }
      guard isOwn || (!object.isTable && table != nil) else { continue }
      throw PersistenceError(
        .storeOpenFailed, at: .store(url),
        "The store contains '\(object.name)', which Persist didn't create and which uses the virtual table "
          + "'\(table ?? object.name)': full-text search isn't safe in it.",
        fix: "Inspect it with the sqlite3 command, and drop it if it isn't needed.")
    }
    try execute(.trustedSchemaOn)
    fullTextTrust = FullTextTrust(indexes: indexes, schemaVersion: version)
  }

  /// Verifies again if another connection has changed the schema. Within a write transaction no other connection can.
  @inline(never)
  func renewFullTextTrust() throws {
    guard let trust = fullTextTrust else { return }
    guard try schemaVersion != trust.schemaVersion else { return }
    do {
      try trustFullText(trust.indexes)
    } catch {
      // The index remains untrusted, and the next transaction verifies it again.
      fullTextTrust = FullTextTrust(indexes: trust.indexes, schemaVersion: -1)
      throw error
    }
  }
}

extension String {
  /// Whether SQL may name a table, however it is quoted. There may be false positives, but no false negatives.
  fileprivate func mayName(_ table: String) -> Bool {
    let name = table.withoutQuotes
    return name.isEmpty || withoutQuotes.range(of: name) != nil
  }

  private var withoutQuotes: Data { Data(foldedIdentifier.utf8.filter { !"\"'`[]".utf8.contains($0) }) }
}

extension SQLiteConnection {
  /// SQLite's schema version, which changes with every change to the schema.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_schema_version>
  package var schemaVersion: Int64 { get throws { try first(.schemaVersion) { $0.integer(0) } ?? 0 } }

  /// Changes the schema version without changing the schema, so that all other connections examine the database again;
  /// the caller holds the transaction.
  ///
  /// Setting the version directly is rejected if the system's SQLite is in defensive mode.
  package func changeSchemaVersion() throws {
    try execute(.createMarker)
    try execute(.dropMarker)
  }
}
