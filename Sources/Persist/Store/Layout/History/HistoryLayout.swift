/// The tables of a store's history, which Core Data's persistent history uses too.
///
/// | table | one row for each | columns |
/// |---|---|---|
/// | `ATRANSACTION` | save | number, time, and the texts below |
/// | `ACHANGE` | changed object | number, kind, entity, key, transaction, changed columns, values of deleted objects |
/// | `ATRANSACTIONSTRING` | text | author, context name, bundle and process identifiers, each stored once |
///
/// Older stores have no table of texts: the texts are in the rows of `ATRANSACTION`.
package struct HistoryLayout: Sendable, Equatable {
  package static let transactionTable = "ATRANSACTION"
  package static let changeTable = "ACHANGE"
  package static let textTable = "ATRANSACTIONSTRING"

  /// The entity numbers of the history's rows.
  package enum EntityNumber {
    package static let change = 16_001
    package static let transaction = 16_002
    package static let text = 16_003
  }

  /// A text of a transaction.
  package enum Text: String, Sendable, CaseIterable {
    case author = "ZAUTHOR"
    case bundleID = "ZBUNDLEID"
    case contextName = "ZCONTEXTNAME"
    case processID = "ZPROCESSID"

    /// The column that contains the text itself.
    package var column: String { rawValue }
    /// The column that contains the key of the text's row in the table of texts.
    package var reference: String { rawValue + "TS" }

    /// The transaction's property with the text.
    var property: String {
      switch self {
      case .author: "author"
      case .bundleID: "bundleID"
      case .contextName: "contextName"
      case .processID: "processID"
      }
    }
  }

  /// The columns of a text that the store has.
  struct TextColumns: Sendable, Equatable {
    let hasText: Bool
    let hasReference: Bool
  }

  let texts: [Text: TextColumns]
  /// Whether updates say which columns they changed.
  package let hasChangedColumns: Bool
  /// The columns for values of deleted objects.
  package let tombstones: [String]
  /// Whether the store has the tables for old values.
  package let hasOldValues: Bool

  /// The texts that a new transaction contains, each with its column and whether that contains the key of a text.
  package var writtenTexts: [(text: Text, column: String, isReference: Bool)] {
    Text.allCases.compactMap { text in
      guard let columns = texts[text] else { return nil }
      if columns.hasReference { return (text, text.reference, true) }
      return columns.hasText ? (text, text.column, false) : nil
    }
  }

  package static func tombstone(_ index: Int) -> String { "ZTOMBSTONE\(index)" }

  /// The layout of the history in a store; nil if the store has none.
  package init?(_ schema: StoreSchema) {
    guard let transactions = schema.table(named: Self.transactionTable),
      let changes = schema.table(named: Self.changeTable),
      ["Z_PK", "ZTIMESTAMP"].allSatisfy({ transactions.hasColumn(named: $0) }),
      ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].allSatisfy({ changes.hasColumn(named: $0) })
    else { return nil }
    let hasTexts = schema.hasColumn("ZNAME", of: Self.textTable)
    texts = Dictionary(
      uniqueKeysWithValues: Text.allCases.map { text in
        (
          text,
          TextColumns(
            hasText: transactions.hasColumn(named: text.column),
            hasReference: hasTexts && transactions.hasColumn(named: text.reference))
        )
      })
    hasOldValues = schema.hasTable(named: OldValuesLayout.valueTable)
    hasChangedColumns = changes.hasColumn(named: "ZCOLUMNS")
    tombstones = Array((0...).lazy.map(Self.tombstone).prefix { changes.hasColumn(named: $0) })
  }
}
