extension InPlacePlanner {
  /// Drops triggers and views that would become wrong: those that refer to something that is removed, or to entity
  /// numbers that change, directly or through a view.
  ///
  /// SQLite keeps all others correct: it also renames tables and columns in them. No trigger fires during the
  /// migration.
  mutating func dropTriggersAndViews() {
    // Those on views are dropped before their views.
    for trigger in schema.triggers where isWrong(trigger.sql, table: trigger.table) {
      work.add(.dropTrigger(trigger.name), in: .dropIndexes)
    }
    for view in schema.views where isWrong(view.sql, table: nil) {
      work.add(.dropView(view.name), in: .dropIndexes)
    }
  }

  /// - Parameter table: The table of a trigger; nil for a view.
  private func isWrong(_ definition: String, table: String?) -> Bool {
    let texts = schema.definitions(readBy: definition)
    func mentions(_ name: String) -> Bool { texts.contains { SQLTokens.mentions(name, in: $0) } }
    func mentionsTable(_ newTable: String) -> Bool {
      let old = tables.first { $0.name == newTable }?.oldTable ?? newTable
      return table?.foldedIdentifier == old.foldedIdentifier || mentions(old)
    }
    if mentions("Z_ENT"), numbering.contains(where: { $0.key != $0.value }) { return true }
    // Objects dropped later mustn't still be referenced then.
    return (work.changes + work.deferred).contains { change in
      switch change.change {
      case .dropTable(let table): mentions(table)
      case .dropColumn(let column, let table): mentions(oldName(of: column, in: table)) && mentionsTable(table)
      case .rebuildTable(let rebuild):
        droppedColumns(of: rebuild.definition.name).contains(where: mentions)
          && mentionsTable(rebuild.definition.name)
      default: false
      }
    }
  }

  private func oldName(of column: String, in newTable: String) -> String {
    tables.first { $0.name == newTable }?.renames.first { $0.value == column }?.key ?? column
  }

  private func droppedColumns(of newTable: String) -> [String] {
    tables.first { $0.name == newTable }?.doomed.map { oldName(of: $0, in: newTable) } ?? []
  }
}

extension StoreSchema {
  /// A definition, and those of the views that it reads, directly or through other views.
  fileprivate func definitions(readBy definition: String) -> [String] {
    var found = [definition]
    var others = views
    var next = 0
    while next < found.count {
      let read = others.filter { SQLTokens.mentions($0.name, in: found[next]) }
      others.removeAll { view in read.contains { $0.name == view.name } }
      found += read.map(\.sql)
      next += 1
    }
    return found
  }
}
