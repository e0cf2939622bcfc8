/// Parked values that remained in their columns.
extension ParkedValues {
  /// Moves values from columns to the table of parked values: those that may be restored, and those of rows that are
  /// removed or become one with others.
  ///
  /// - Parameter moves: The destinations of the rows; nil if they remain.
  package mutating func collectColumns(before destination: ModelVersion, _ moves: [RowMove]?) throws {
    guard !columns.isEmpty else { return }
    let comparisons = try ParkingComparisons(slots, with: destination, registry: registry, inspector: connection)
    try collect { slot, column in
      if let moves, moves.number(of: column.entityNumber) == nil { return true }
      return comparisons.mayReturn(slot)
    }
  }

  /// Moves values from columns to the table of parked values.
  package mutating func collect(_ isCollected: (ParkedSlot, ParkedColumn) throws -> Bool) throws {
    for slot in columns {
      guard let column = slot.column, try isCollected(slot, column) else { continue }
      try connection.execute(
        ParkedValueStatement.park(
          slot, table: column.table, column: column.name, entityNumber: column.entityNumber, .present))
      try setColumn(nil, of: slot)
    }
  }

  /// Records the new places of columns whose tables were renamed, or whose rows have another entity number.
  mutating func followColumns(in schema: StoreSchema, _ moves: [RowMove]) throws {
    for slot in columns {
      guard let column = slot.column, let number = moves.number(of: column.entityNumber),
        let table = moves.first(where: { $0.sourceNumber == column.entityNumber })?.table,
        schema.hasColumn(column.name, of: table)
      else {
        throw PersistenceError(
          .migrationFailed, at: .property(slot.entity, slot.property),
          "The migration would have lost parked values, so it was rolled back.",
          fix: "This is a defect of Persist; please report it with both models.")
      }
      let place = ParkedColumn(table: table, name: column.name, entityNumber: number)
      if place != column { try setColumn(place, of: slot) }
    }
  }

  /// Drops the columns in which nothing is parked any longer.
  package func dropEmptyColumns(of schema: StoreSchema) throws {
    let used = Set(columns.compactMap(\.column?.name.foldedIdentifier))
    for table in schema.tables {
      for column in table.columns
      where ParkedColumn.isOne(column.name) && !used.contains(column.name.foldedIdentifier) {
        try connection.apply(.dropColumn(column.name, table: table.name))
      }
    }
  }
}
