extension TableMap {
  /// The columns of a table of the store that aren't part of the model, because others added them.
  func unknownColumns(of table: StoreSchema.Table) -> [StoreSchema.Column] {
    let known = Set((layout[table.name] ?? []).map(\.name.foldedIdentifier) + ["z_pk", "z_ent", "z_opt"])
    return table.columns.filter { !known.contains($0.name.foldedIdentifier) && !LeftOverColumn.isOne($0.name) }
  }
}
