/// Values in files beside the store that a migration removes.
package struct RemovedFileValues: Sendable, Equatable {
  package let table: String
  package let column: String
  package let rows: RowCondition
}

extension InPlacePlanner {
  /// The columns and rows with names of files to which no row will refer afterward.
  func forgottenValues() -> [RemovedFileValues] {
    moves.flatMap { move in
      old[move.source].columns.compactMap { column -> RemovedFileValues? in
        guard case .attribute(let attribute) = column.role, attribute.storesMarkedBytes,
          !isKept(column, of: move)
        else { return nil }
        return RemovedFileValues(
          table: move.sourceTable, column: column.name, rows: rows([move.sourceNumber], of: move.sourceTable))
      }
    }
  }

  /// Whether the values of a column remain in their files.
  private func isKept(_ column: TableMap.Column, of move: RowMove) -> Bool {
    guard let destination = move.destination, let before = move.source.property(named: column.property),
      let name = correspondence.properties[destination.name]?.first(where: { $0.value.source == column.property })?.key,
      let property = destination.property(named: name), let attribute = property.attribute
    else { return false }
    guard attribute.type == .composite else { return attribute.storesMarkedBytes }
    // The parked or dropped element of a composite attribute is no part of the new one.
    let part = CompositeMove(from: before, to: property).parts.first { $0.old?.slot == column.slot }
    return part?.element.attribute.storesMarkedBytes ?? true
  }
}
