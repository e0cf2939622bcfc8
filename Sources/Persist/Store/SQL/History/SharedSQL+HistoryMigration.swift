package import Foundation

/// Statements that adapt the history to another model.
extension SharedSQL {
  package static func forgetChangedColumns(ofEntity number: Int) -> SharedSQL {
    """
    UPDATE \(name: HistoryLayout.changeTable) SET \(.changedColumns) = NULL \
    WHERE \(.changedEntity) = \(number: Int64(number)) AND \(.changedColumns) IS NOT NULL
    """
  }

  /// The entries that Persist wrote.
  private static let isOwn: SharedSQL = """
    \(.transactionID) IN \
    (SELECT \(.key) FROM \(name: HistoryLayout.transactionTable) WHERE \(.version) IS NOT NULL)
    """

  /// The different bits of changed columns in the entries about an entity that Persist wrote.
  package static func changedColumns(ofEntity number: Int, limit: Int) -> SharedSQL {
    """
    SELECT DISTINCT \(.changedColumns) FROM \(name: HistoryLayout.changeTable) \
    WHERE \(.changedEntity) = \(number: Int64(number)) AND \(.changedColumns) IS NOT NULL AND \(isOwn) \
    LIMIT \(number: Int64(limit))
    """
  }

  /// Translates bits of changed columns in the entries that Persist wrote, and forgets all others.
  package static func translate(_ bits: [(old: Data, new: Data)], ofEntity number: Int) -> SharedSQL {
    let cases = bits.map { "WHEN \(value: .blob($0.old)) THEN \(value: .blob($0.new))" as SharedSQL }
    return """
      UPDATE \(name: HistoryLayout.changeTable) SET \(.changedColumns) = \
      CASE WHEN \(isOwn) THEN CASE \(.changedColumns) \(cases.joined(separator: " ")) END END \
      WHERE \(.changedEntity) = \(number: Int64(number)) AND \(.changedColumns) IS NOT NULL
      """
  }

  /// Moves the values kept of deleted objects between columns.
  ///
  /// - Parameter sources: For each column, beginning with the first, the column from which it takes its values, with
  ///   their conversion; nil for none.
  package static func moveTombstones(
    _ sources: some Collection<(index: Int, change: HistoryValueChange)?>, ofEntity number: Int
  ) -> SharedSQL {
    let moves = sources.enumerated().map { index, source -> SharedSQL in
      let value: SharedSQL = source.map { $0.change.value(of: "\(name: HistoryLayout.tombstone($0.index))") } ?? "NULL"
      return "\(name: HistoryLayout.tombstone(index)) = \(value)"
    }
    return """
      UPDATE \(name: HistoryLayout.changeTable) SET \(moves.joined(separator: ", ")) \
      WHERE \(.changedEntity) = \(number: Int64(number)) \
      AND \(.changeType) = \(number: Int64(HistoryChangeType.delete.rawValue))
      """
  }
}
