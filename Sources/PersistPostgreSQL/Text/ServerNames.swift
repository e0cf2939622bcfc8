import Persist

/// The names on a server of columns, tables and indexes that every store has, which have Core Data's names elsewhere.
///
/// Names of a model are in lower case on a server, so that none equals one of these.
enum ServerNames {
  /// The columns of every table of a hierarchy.
  private static let keys = ["Z_PK": "id", "Z_ENT": "entity", "Z_OPT": "version"]

  private static let tables = [
    "Z_METADATA": "persist_store", "Z_PRIMARYKEY": "persist_entity",
    HistoryLayout.transactionTable: "persist_transaction", HistoryLayout.changeTable: "persist_change",
    HistoryLayout.textTable: "persist_text",
  ]

  /// The columns of these tables.
  private static let columns = [
    "Z_VERSION": "number", "Z_UUID": "identifier", "Z_PLIST": "metadata", "Z_NAME": "name", "Z_SUPER": "parent",
    "Z_MAX": "greatest_key", "ZTIMESTAMP": "time", "ZQUERYGEN": "generation", "ZCHANGETYPE": "kind",
    "ZENTITY": "changed_entity", "ZENTITYPK": "changed_id", "ZTRANSACTIONID": "transaction_id",
    "ZCOLUMNS": "changed_columns", "ZNAME": "text",
  ].merging(texts) { own, _ in own }

  /// Each text of a transaction is in a row of its own, to which a column leads.
  private static let texts: [String: String] = {
    let names: [HistoryLayout.Text: String] = [
      .author: "author", .bundleID: "bundle", .contextName: "context", .processID: "process",
    ]
    return names.reduce(into: [:]) { texts, name in
      texts[name.key.column] = name.value
      texts[name.key.reference] = name.value + "_id"
    }
  }()

  private static let others: [String: String] = [
    "ACHANGE_ZTRANSACTIONID_INDEX": "persist_change_transaction_id_index",
    "ATRANSACTION_ZAUTHORTS_INDEX": "persist_transaction_author_id_index",
    "ATRANSACTION_ZCONTEXTNAMETS_INDEX": "persist_transaction_context_id_index",
    "Z_TRANSACTION_TransactionAuthorIndex": "persist_transaction_author_index",
    "Z_TRANSACTION_TransactionTimestampIndex": "persist_transaction_time_index",
    "Z_TRANSACTIONSTRING_UNIQUE_NAME": "persist_text_text_unique",
    "PERSISTUPPERCASE": "persist_uppercase", "PERSISTLOWERCASE": "persist_lowercase",
    "PERSISTCANONICAL": "persist_canonical",
  ]

  private static let names = [keys, tables, columns, others].reduce(into: [String: String]()) { all, names in
    all.merge(names) { first, _ in first }
  }
  private static let tablesByName = Dictionary(uniqueKeysWithValues: tables.map { ($1, $0) })
  private static let columnsByName = Dictionary(uniqueKeysWithValues: columns.map { ($1, $0) })
  private static let keysByName = Dictionary(uniqueKeysWithValues: keys.map { ($1, $0) })
  private static let tombstone = HistoryLayout.tombstone(0).dropLast()
  private static let temporary = "Z_PERSIST_"

  /// The name on a server.
  static func name(_ name: String) -> String {
    // Names from a model are in lower case.
    guard let first = name.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else {
      return name.foldedIdentifier
    }
    if let own = names[name] { return own }
    if name.hasPrefix(temporary) { return name.dropFirst(2).description.foldedIdentifier }
    if name.hasPrefix(tombstone) { return "kept_value_" + name.dropFirst(tombstone.count) }
    return name.foldedIdentifier
  }

  // MARK: From names on a server

  static func table(_ name: String) -> String { tablesByName[name] ?? own(name) }

  /// - Parameter table: The name of its table, which isn't the one on the server.
  static func column(_ name: String, of table: String) -> String {
    if let key = keysByName[name] { return key }
    guard tables[table] != nil else { return own(name) }
    if name.hasPrefix("kept_value_") { return String(tombstone) + name.dropFirst("kept_value_".count) }
    return columnsByName[name] ?? own(name)
  }

  /// Persist's own names are in upper case.
  private static func own(_ name: String) -> String {
    name.hasPrefix("persist_") ? name.uppercasedIdentifier : name
  }
}
