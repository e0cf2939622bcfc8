/// The changes of entity numbers in the store's own records: its history, and its synchronization records.
struct HistoryNumbering {
  /// Deletions of the entries of removed entities.
  let removals: [SchemaChange]
  /// Replacements of old entity numbers by new ones; they run after the removals.
  let renumberings: [SchemaChange]

  /// - Parameters:
  ///   - numbering: the new numbers by the old ones, for entities that remain.
  ///   - gone: The numbers of removed entities.
  init(in tables: [StoreSchema.Table], numbering: [Int: Int], gone: [Int]) {
    let changed = numbering.filter { $0.key != $0.value }
    let places = tables.flatMap { table in table.entityNumberColumns.map { (table: table.name, column: $0) } }
    removals = gone.isEmpty ? [] : places.map {
      .deleteHistory(table: $0.table, column: $0.column, entityNumbers: gone.sorted())
    }
    renumberings = changed.isEmpty ? [] : places.map {
      .update($0.table, set: [.init($0.column, .renumbered($0.column, changed))], where: .all)
    }
  }
}

extension StoreSchema.Table {
  /// The columns of the store's own records that contain entity numbers. The names of their tables begin with `A`,
  /// those of entities' tables with `Z`.
  fileprivate var entityNumberColumns: [String] {
    guard name.hasPrefix("A"), column(named: "Z_PK") != nil else { return [] }
    return ["ZENTITY", "ZENTITYID"].filter { column(named: $0)?.declaredType == "INTEGER" }
  }
}
