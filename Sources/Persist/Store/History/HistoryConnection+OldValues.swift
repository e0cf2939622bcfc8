/// The old values that a history keeps; the caller holds the transaction.
extension HistoryConnection {
  /// Begins or ends to keep old values, if the options say so.
  package func setOldValues(_ content: HistoryContent?, of map: TableMap, _ settings: inout HistorySettings) throws {
    switch content {
    case .oldValues? where settings.oldValuesAfter == nil:
      try execute(all: SharedSQL.oldValueTables)
      try keepOldValues(of: map)
      settings.oldValuesAfter = try lastHistoryNumbers().transaction
    case .changes? where settings.oldValuesAfter != nil: try discardOldValues(&settings)
    default: break
    }
  }

  /// Deletes all old values, and keeps no more. The tables remain, because triggers of other connections fill them.
  package func discardOldValues(_ settings: inout HistorySettings) throws {
    guard settings.oldValuesAfter != nil else { return }
    settings.oldValuesAfter = nil
    try keepOldValues(of: nil)
    try execute(all: SharedSQL.deleteAllOldValues)
  }

  /// Adapts the old values to another model.
  ///
  /// - Parameter move: Nil if the migration isn't known: only values of columns that still exist remain.
  package func convertOldValues(_ move: OldValuesMove?, to map: TableMap, _ settings: HistorySettings) throws {
    guard try hasTable(named: OldValuesLayout.valueTable) else { return }
    if let move { try execute(all: SharedSQL.statements(move, kept: kept)) }
    try execute(all: SharedSQL.pruneOldValues(to: OldValuesLayout(map)))
    if settings.oldValuesAfter != nil { try keepOldValues(of: map) }
  }
}
