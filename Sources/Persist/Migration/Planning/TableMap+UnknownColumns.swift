extension TableMap {
  /// The columns of a table of the store that aren't part of the model, because others added them.
  func unknownColumns(of table: StoreSchema.Table) -> [StoreSchema.Column] {
    let known = Set((layout[table.name] ?? []).map(\.name.foldedIdentifier) + ["z_pk", "z_ent", "z_opt"])
    return table.columns.filter { !known.contains($0.name.foldedIdentifier) && !LeftOverColumn.isOne($0.name) }
  }
}

extension MigrationBlocker {
  /// Creates the blocker for a generated column that others added to a table of the model, and that would be lost.
  init(losing column: GeneratedColumn, of table: String, _ entity: Entity) {
    self.init(
      entity: entity.name,
      what: "The migration can't keep the generated column '\(column.name)' that was added to the table '\(table)'.",
      fix: "Drop the column, and what uses it, before migrating, and add it again afterward.")
  }
}
