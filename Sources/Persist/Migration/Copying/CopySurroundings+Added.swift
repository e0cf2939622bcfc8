/// Columns with values, and indexes that others added to the tables of a store's model. Migration in place preserves
/// them.
extension CopySurroundings {
  /// Copies columns that aren't part of the model, for rows that keep their keys.
  func takeOverColumns() throws {
    for copy in columnCopies {
      let declared = schema.table(named: copy.source)
      for column in copy.columns {
        guard let old = declared?.column(named: column.old) else { continue }
        try file.execute(
          .addCopiedColumn(StoreSchema.Column(name: column.new, declaredType: old.declaredType), to: copy.target))
      }
      try file.execute(.copyColumns(copy))
    }
  }

  /// Indexes on the model's tables that neither model defines.
  func addedIndexes() -> [StoreSchema.Index] {
    let asked = plan.old.indexDefinitions + plan.new.indexDefinitions
    let names = Set(asked.map(\.name.foldedIdentifier))
    let signatures = Dictionary(grouping: asked, by: \.table.foldedIdentifier)
      .mapValues { Set($0.map { IndexSignature($0) }) }
    return schema.indexes.filter { index in
      let table = index.table.foldedIdentifier
      guard plan.oldTableNames.contains(table), !names.contains(index.name.foldedIdentifier), let sql = index.sql
      else { return false }
      return IndexSignature(definition: sql).map { signatures[table]?.contains($0) != true } ?? true
    }
  }

  private var columnCopies: [ColumnCopy] {
    plan.old.tables.filter { $0.entity.superentity == nil }.flatMap { root -> [ColumnCopy] in
      guard let table = schema.table(named: root.table) else { return [] }
      let names = plan.old.unknownColumns(of: table).map(\.name).filter { !ParkedColumn.isOne($0) }
      guard !names.isEmpty else { return [] }
      let kept = plan.steps.filter { $0.isKeyed && $0.offset == 0 && $0.source?.root === root.entity }
      var numbers: [String: [Int]] = Dictionary()
      for case (let number?, let steps) in Dictionary(
        grouping: kept, by: { step in step.source.map { plan.old.numbers[$0] } })
      {
        // If a row has several copies, the one in the table of the same name gets the values.
        let homes = steps.compactMap { step in step.destination.map { plan.new[$0].table } }
        guard let home = homes.contains(root.table) ? root.table : homes.min() else { continue }
        numbers[home, default: []].append(number)
      }
      return numbers.sorted(on: \.key).map { home, numbers in
        let taken = Set(["z_pk", "z_ent", "z_opt"] + (plan.new.layout[home] ?? []).map(\.name.foldedIdentifier))
        return ColumnCopy(
          source: table.name, target: home,
          columns: names.map { .init(old: $0, new: taken.contains($0.foldedIdentifier) ? "\($0)_KEPT" : $0) },
          entityNumbers: numbers.sorted())
      }
    }
  }
}
