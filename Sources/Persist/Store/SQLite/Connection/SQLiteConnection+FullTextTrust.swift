import Foundation

/// Why a connection trusts its schema: what was looked at, and of which state of the schema.
struct FullTextTrust: Sendable, Hashable {
  let indexes: Set<FullTextIndex>
  var schemaVersion: Int64
}

extension SQLiteConnection {
  /// Lets the triggers of full-text indexes write to these.
  ///
  /// With `trusted_schema` off, as every connection of Persist has it, SQLite lets no trigger use a virtual table that
  /// doesn't call itself innocuous, and FTS5 doesn't in every version. Switching it on lets *all* triggers and views
  /// use *all* virtual tables and functions; so first it is looked at which there are. Functions are no danger: those
  /// that Persist defines say of themselves whether a schema may call them, whatever it is trusted with, and those of
  /// SQLite that reach outside the database are barred from schemas for good. And no trigger or view but Persist's own,
  /// word for word, may name a virtual table. Defaults, checks and indexes can't: they hold no subqueries.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed``, naming the trigger or view.
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_trusted_schema>, <https://sqlite.org/c3ref/vtab_config.html>
  func trustFullText(_ indexes: Set<FullTextIndex>) throws {
    try execute(.trustedSchemaOff)
    fullTextTrust = nil
    guard !indexes.isEmpty else { return }
    let version = try schemaVersion
    var own: [String: String] = [:]
    for index in indexes { own.merge(index.definitions) { first, _ in first } }
    let objects = try all(.trustedObjects) { (name: $0.text(0), sql: $0.text(1), isTable: $0.integer(2) != 0) }
    let tables = objects.filter(\.isTable).map(\.name)
    for object in objects where own[object.name] != object.sql {
      let isOwn = own[object.name] != nil
      let table = tables.first { object.sql.mayName($0) }
      guard isOwn || (!object.isTable && table != nil) else { continue }
      throw PersistenceError(
        .storeOpenFailed, at: .store(url),
        "'\(object.name)' in the store isn't Persist's and uses the virtual table '\(table ?? object.name)': the "
          + "store isn't trusted with full-text search.",
        fix: "Look at it with the sqlite3 command, and drop it if nobody needs it.")
    }
    try execute(.trustedSchemaOn)
    fullTextTrust = FullTextTrust(indexes: indexes, schemaVersion: version)
  }

  /// Looks again where another connection has changed the schema since. Within a write transaction nobody can.
  func renewFullTextTrust() throws {
    guard let trust = fullTextTrust else { return }
    guard try schemaVersion != trust.schemaVersion else { return }
    do {
      try trustFullText(trust.indexes)
    } catch {
      // It stays untrusted, and the next transaction asks again.
      fullTextTrust = FullTextTrust(indexes: trust.indexes, schemaVersion: -1)
      throw error
    }
  }
}

extension String {
  /// Whether SQL may name a table, however it is quoted. Where it doesn't, this says no; it may say yes of more.
  fileprivate func mayName(_ table: String) -> Bool {
    let name = table.withoutQuotes
    return name.isEmpty || withoutQuotes.range(of: name) != nil
  }

  private var withoutQuotes: Data { Data(foldedIdentifier.utf8.filter { !"\"'`[]".utf8.contains($0) }) }
}
