import Foundation
import Persist

extension StoreCatalog {
  /// The rows of the model's entities. Every save of a store with a history changes others, which count its entries.
  var entityRows: [EntityNumbers.Row] { numberRows.filter { $0.number < EntityNumbers.firstSystemNumber } }
}

/// Reading the catalog of a store on a server. The session is in a transaction, or its statements needn't agree.
extension StoreCatalog {
  /// - Throws: ``PersistenceError/Code/notAStore`` for a schema without a store.
  convenience init(_ session: ServerSession) throws {
    let place = PersistenceError.Place.store(session.url)
    let schema = try StoreSchema(session)
    guard !schema.tables.isEmpty else {
      throw PersistenceError(
        .fileAccess, at: place, "The schema '\(session.schema)' doesn't exist, or is empty.",
        fix: "Check the name of the schema and the user's rights, or open the store so that it is created.")
    }
    for table in ["Z_METADATA", "Z_PRIMARYKEY", "PERSIST_METADATA"] where schema.table(named: table) == nil {
      throw PersistenceError(
        .notAStore, at: place, "The schema '\(session.schema)' isn't a store: it has no table "
          + "'\(ServerText.name(table))'.",
        fix: "Check the name of the schema; a new store needs a schema of its own.")
    }
    let results = try session.run([
      StoreMetadata.query, "SELECT entity, name, parent, greatest_key FROM \(table: "Z_PRIMARYKEY") ORDER BY entity",
      "SELECT key, value FROM \(table: "PERSIST_METADATA") WHERE key <> 'model'",
    ])
    guard results.count == 3, results[0].rowCount == 1 else {
      throw PersistenceError(
        .storeDamaged, at: place, "The store has no metadata.", fix: "Restore the store from a backup.")
    }
    let (numbers, record) = (results[1], results[2])
    let mark = StoreMark(
      schemaVersion: schema.digest, identifier: results[0].text(0, 0), propertyList: results[0].data(0, 1))
    let metadata = try StoreMetadata(mark, at: session.url)
    let contents = Dictionary(
      (0..<record.rowCount).map { (record.text($0, 0), record.data($0, 1)) }, uniquingKeysWith: { first, _ in first })
    self.init(
      metadata: metadata, mark: mark, schema: schema,
      numberRows: (0..<numbers.rowCount).map { row in
        EntityNumbers.Row(
          number: Int(clamping: numbers.integer(row, 0)), name: numbers.text(row, 1),
          parent: Int(clamping: numbers.integer(row, 2)),
          maximum: numbers.isNull(row, 3) ? nil : numbers.integer(row, 3))
      },
      record: try ModelRecord(metadata: metadata, at: session.url) { contents[$0] }, canDropColumns: true)
  }
}

extension StoreMetadata {
  /// The row with the identifier and the metadata.
  static let query: ServerText = "SELECT identifier, metadata FROM \(table: "Z_METADATA") WHERE number = 1"

  init(_ session: ServerSession) throws {
    guard let metadata = try session.first(Self.query, { try StoreMetadata($0, $1, at: session.url) }) else {
      throw PersistenceError(
        .storeDamaged, at: .store(session.url), "The store has no metadata.", fix: "Restore the store from a backup.")
    }
    self = metadata
  }

  init(_ result: any ServerResult, _ row: Int, at url: URL?) throws {
    try self.init(
      StoreMark(schemaVersion: 0, identifier: result.text(row, 0), propertyList: result.data(row, 1)), at: url)
  }

  /// Writes the metadata.
  func update() throws -> ServerText {
    let bytes = try PropertyList.dictionary(values).binaryData()
    return """
      INSERT INTO \(table: "Z_METADATA") VALUES (1, \(text: identifier), \(data: bytes)) \
      ON CONFLICT (number) DO UPDATE SET identifier = excluded.identifier, metadata = excluded.metadata
      """
  }

  /// Records the store's present model, so that it is identified immediately the next time, and programs that have it
  /// open notice.
  func record(_ model: ManagedObjectModel) throws -> [ServerText] {
    try ModelRecord.contents(
      fingerprints: model.fingerprints, modelText: Data(model.description.json.utf8), metadata: self
    ).map { key, content in
      """
      INSERT INTO \(table: "PERSIST_METADATA") VALUES (\(text: key), \(data: content)) \
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """
    } + ServerMark.renewal
  }
}

extension StoreSchema {
  /// The tables of a schema, with the complete names of what the server has under shorter ones.
  init(_ session: ServerSession) throws {
    let schema = session.schema
    let results = try session.run([
      """
      SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_class AS c \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
      WHERE n.nspname = \(text: schema) AND c.relkind IN ('r', 'p') ORDER BY c.oid, a.attnum
      """,
      """
      SELECT indexname::text, tablename::text, indexdef FROM pg_indexes WHERE schemaname = \(text: schema) \
      AND indexname !~ '_pkey[0-9]*$' ORDER BY indexname
      """,
      """
      SELECT t.tgname::text, c.relname::text FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = \(text: schema) AND NOT t.tgisinternal
      """,
      """
      SELECT c.relname::text, i.indexrelid::text, a.attname::text FROM pg_index AS i \
      JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) \
      WHERE n.nspname = \(text: schema) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL \
      AND i.indexprs IS NULL ORDER BY i.indexrelid, a.attnum
      """,
    ])
    var order: [String] = []
    var columns: [String: [Column]] = [:]
    for row in 0..<results[0].rowCount {
      let table = results[0].text(row, 0)
      if columns[table] == nil { order.append(table) }
      columns[table, default: []].append(
        Column(name: results[0].text(row, 1), declaredType: ServerText.declaredType(results[0].text(row, 2))))
    }
    var names: [String: String] = [:]
    if columns[ServerText.name("PERSIST_NAMES")] != nil {
      let long = try session.query("SELECT short, name FROM \(table: "PERSIST_NAMES")")
      for row in 0..<long.rowCount { names[long.text(row, 0)] = long.text(row, 1) }
    }
    func table(_ name: String) -> String { names[name] ?? ServerNames.table(name) }
    func column(_ name: String, of table: String) -> String { names[name] ?? ServerNames.column(name, of: table) }
    var keys: [String: [String: [String]]] = [:]
    for row in 0..<results[3].rowCount {
      let name = results[3].text(row, 0)
      keys[name, default: [:]][results[3].text(row, 1), default: []].append(
        column(results[3].text(row, 2), of: table(name)))
    }
    self.init(
      tables: order.map { name in
        let own = table(name)
        return Table(
          name: own,
          columns: (columns[name] ?? []).map { Column(name: column($0.name, of: own), declaredType: $0.declaredType) },
          keys: keys[name].map { Array($0.values) } ?? [])
      },
      indexes: (0..<results[1].rowCount).map { row in
        let (name, own) = (results[1].text(row, 0), table(results[1].text(row, 1)))
        return Index(names[name] ?? name, table: own, server: results[1].text(row, 2)) { column($0, of: own) }
      },
      triggers: (0..<results[2].rowCount).map { row in
        Trigger(name: results[2].text(row, 0), table: table(results[2].text(row, 1)), sql: "")
      }, names: .snakeCase)
  }

  /// A number that differs if tables, columns or indexes do.
  var digest: Int64 {
    var text = ""
    for table in tables {
      text += table.name + "(" + table.columns.map { "\($0.name) \($0.declaredType)" }.joined(separator: ",") + ")"
    }
    for index in indexes { text += index.name + (index.sql ?? "") }
    return SHA256.digest(Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | Int64($1) }
  }
}

extension ServerSession {
  /// Finds the store's model.
  func identify(among registry: ModelRegistry?, known: StoreCatalog? = nil) throws -> IdentifiedStore {
    let catalog = try known ?? StoreCatalog(self)
    return try StoreIdentification.identify(catalog, at: url, registry: registry) {
      try EmbeddedModel(of: catalog, at: url) {
        try first("SELECT value FROM \(table: "PERSIST_METADATA") WHERE key = 'model'") { $0.data($1, 0) }
      } archive: {
        nil
      }
    }
  }
}
