extension InPlacePlanner {
  /// Drops triggers that would become wrong: those that refer to something that is removed, or to entity numbers that
  /// change.
  ///
  /// SQLite keeps all others correct: it also renames tables and columns in them. No trigger fires during the
  /// migration.
  mutating func dropTriggers() {
    // Objects dropped later mustn't still be referenced then.
    let changes = (work.changes + work.deferred).map(\.change)
    let numbersChange = !numbering.allSatisfy { $0.key == $0.value }
    for trigger in schema.triggers {
      let isWrong = changes.contains { change in
        switch change {
        case .dropTable(let table): SQLTokens.mentions(table, in: trigger.sql)
        case .dropColumn(let column, let table):
          SQLTokens.mentions(oldName(of: column, in: table), in: trigger.sql) && mentions(table, trigger)
        case .rebuildTable(let rebuild):
          droppedColumns(of: rebuild.definition.name).contains { SQLTokens.mentions($0, in: trigger.sql) }
            && mentions(rebuild.definition.name, trigger)
        default: false
        }
      }
      if isWrong || numbersChange && SQLTokens.mentions("Z_ENT", in: trigger.sql) {
        work.add(.dropTrigger(trigger.name), in: .dropIndexes)
      }
    }
  }

  private func mentions(_ newTable: String, _ trigger: StoreSchema.Trigger) -> Bool {
    let old = tables.first { $0.name == newTable }?.oldTable ?? newTable
    return trigger.table.foldedIdentifier == old.foldedIdentifier || SQLTokens.mentions(old, in: trigger.sql)
  }

  private func oldName(of column: String, in newTable: String) -> String {
    tables.first { $0.name == newTable }?.renames.first { $0.value == column }?.key ?? column
  }

  private func droppedColumns(of newTable: String) -> [String] {
    tables.first { $0.name == newTable }?.doomed.map { oldName(of: $0, in: newTable) } ?? []
  }
}
