/// What becomes of the entity numbers in the store's own books: its history, and what it notes of synchronisation.
struct HistoryNumbering {
  /// Entries of entities that go.
  let removals: [SchemaChange]
  /// New numbers in the place of old ones; they come after the removals.
  let renumberings: [SchemaChange]

  /// - Parameters:
  ///   - numbering: new numbers by the old ones, of entities that stay.
  ///   - gone: the numbers of those that go.
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
  /// The columns of the store's own books in which entity numbers stand: their tables are named with an `A` where those
  /// of entities have a `Z`.
  fileprivate var entityNumberColumns: [String] {
    guard name.hasPrefix("A"), column(named: "Z_PK") != nil else { return [] }
    return ["ZENTITY", "ZENTITYID"].filter { column(named: $0)?.declaredType == "INTEGER" }
  }
}
