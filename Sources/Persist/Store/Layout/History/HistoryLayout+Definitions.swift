/// The definitions of the history's tables for a store without them, in the form that Core Data currently uses.
///
/// Only the indexes of texts differ, so that a save writes fewer pages. Those of authors and contexts exclude
/// transactions without the text. Bundles and processes have none: every transaction has both texts, and most have the
/// same ones, so that no request is faster by an index.
extension HistoryLayout {
  /// - Parameter tombstones: The number of columns for values of deleted objects.
  package static func tables(tombstones: Int) -> [TableDefinition] {
    func table(_ name: String, _ columns: [(String, TableMap.ColumnType)]) -> TableDefinition {
      let keys = ["Z_PK", "Z_ENT", "Z_OPT"].map { ($0, TableMap.ColumnType.integer) }
      return TableDefinition(
        name: name, columns: (keys + columns).map { TableDefinition.Column(name: $0.0, type: $0.1) },
        primaryKey: ["Z_PK"])
    }
    let numbers = ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map { ($0, TableMap.ColumnType.integer) }
    let preserved = (0..<tombstones).map { (tombstone($0), TableMap.ColumnType.blob) }
    return [
      table(changeTable, numbers + [("ZCOLUMNS", .blob)] + preserved),
      table(
        transactionTable,
        Text.allCases.map { ($0.reference, .integer) } + [("ZTIMESTAMP", .float)]
          + Text.allCases.map { ($0.column, .varchar) } + [("ZQUERYGEN", .blob)]),
      table(textTable, [("ZNAME", .varchar)]),
    ]
  }

  package static let indexes: [IndexDefinition] =
    [
      IndexDefinition(
        name: "ACHANGE_ZTRANSACTIONID_INDEX", table: changeTable,
        columns: [.init(name: "ZTRANSACTIONID", isAscending: nil)])
    ]
    + [Text.author, .contextName].map {
      IndexDefinition(
        name: "ATRANSACTION_\($0.reference)_INDEX", table: transactionTable,
        columns: [.init(name: $0.reference, isAscending: nil)], excludesNull: true)
    } + [
      IndexDefinition(
        name: "Z_TRANSACTION_TransactionAuthorIndex", table: transactionTable,
        columns: [.init(name: "ZAUTHOR", isAscending: true)], excludesNull: true),
      IndexDefinition(
        name: "Z_TRANSACTION_TransactionTimestampIndex", table: transactionTable,
        columns: [.init(name: "ZTIMESTAMP", isAscending: true)]),
      IndexDefinition(
        name: "Z_TRANSACTIONSTRING_UNIQUE_NAME", table: textTable,
        columns: [.init(name: "ZNAME", isAscending: true)], isUnique: true),
    ]

  /// The names of the history's entities in the table of entity numbers.
  package static let entityNames = [
    EntityNumber.change: "CHANGE", EntityNumber.transaction: "TRANSACTION", EntityNumber.text: "TRANSACTIONSTRING",
  ]

  /// The number of columns for values of deleted objects that a model needs.
  package static func tombstoneCount(of map: TableMap) -> Int {
    map.model.entities.map { PreservedAttribute.all(of: $0, in: map).count }.max() ?? 0
  }
}
