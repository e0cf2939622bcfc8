/// The prepared statements with which a connection writes the history of a store.
final class HistoryPlan: Sendable {
  let map: HistoryMap
  let lastNumbers = PreparedSQL(.lastHistoryNumbers)
  let setLastNumbers = PreparedSQL(.setLastHistoryNumbers)
  /// Statements that record one change, two changes, and so on to ``changeGroupSize``.
  let insertChanges: [Lazy<PreparedSQL>]
  /// The maximum number of changes recorded by one statement.
  static let changeGroupSize = 32
  /// By index in ``ManagedObjectModel/entities``: records a deletion with the values that are kept; nil for an entity
  /// without such attributes.
  let deletions: Lazy<[PreparedSQL?]>
  let insertTransaction: PreparedSQL
  let findText = PreparedSQL(.historyText)
  let writtenTexts: [(text: HistoryLayout.Text, column: String, isReference: Bool)]

  init(_ map: HistoryMap) {
    self.map = map
    let layout = map.layout
    deletions = Lazy {
      map.entities.value.map { columns in
        columns.preserved.isEmpty
          ? nil : PreparedSQL(.insertDeletion(of: columns.preserved.map(\.column), in: columns.table, layout))
      }
    }
    insertChanges = (1...Self.changeGroupSize).map { count in Lazy { PreparedSQL(.insertChanges(count, in: layout)) } }
    insertTransaction = PreparedSQL(.insertTransaction(in: layout))
    writtenTexts = layout.writtenTexts
  }
}
