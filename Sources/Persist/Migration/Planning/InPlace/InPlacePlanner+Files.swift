/// Values in files beside the store that a migration removes.
struct RemovedFileValues: Sendable, Hashable {
  let table: String
  let column: String
  let rows: RowCondition
}

extension InPlacePlanner {
  /// The columns and rows with names of files to which no row will refer afterward.
  func forgottenValues() -> [RemovedFileValues] {
    moves.flatMap { move in
      old[move.source].columns.compactMap { column -> RemovedFileValues? in
        guard case .attribute(let attribute) = column.role, attribute.storesMarkedBytes,
          !isKept(column.property, of: move)
        else { return nil }
        return RemovedFileValues(
          table: move.sourceTable, column: column.name, rows: rows([move.sourceNumber], of: move.sourceTable))
      }
    }
  }

  private func isKept(_ property: String, of move: RowMove) -> Bool {
    guard let destination = move.destination else { return false }
    return correspondence.properties[destination.name]?.values.contains { $0.source == property } == true
  }
}
