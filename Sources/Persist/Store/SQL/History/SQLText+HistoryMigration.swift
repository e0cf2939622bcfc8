/// Statements that adapt the history to another model.
extension SQLText {
  package static func forgetChangedColumns(ofEntity number: Int) -> SQLText {
    """
    UPDATE \(name: HistoryLayout.changeTable) SET ZCOLUMNS = NULL \
    WHERE ZENTITY = \(number: Int64(number)) AND ZCOLUMNS IS NOT NULL
    """
  }

  /// Moves the values kept of deleted objects between columns.
  ///
  /// - Parameter sources: For each column, beginning with the first, the column from which it takes its values, with
  ///   their conversion; nil for none.
  package static func moveTombstones(
    _ sources: some Collection<(index: Int, change: HistoryValueChange)?>, ofEntity number: Int
  ) -> SQLText {
    let moves = sources.enumerated().map { index, source -> SQLText in
      let value: SQLText = source.map { $0.change.value(of: "\(name: HistoryLayout.tombstone($0.index))") } ?? "NULL"
      return "\(name: HistoryLayout.tombstone(index)) = \(value)"
    }
    return """
      UPDATE \(name: HistoryLayout.changeTable) SET \(moves.joined(separator: ", ")) \
      WHERE ZENTITY = \(number: Int64(number)) AND ZCHANGETYPE = \(number: Int64(HistoryChangeType.delete.rawValue))
      """
  }
}
