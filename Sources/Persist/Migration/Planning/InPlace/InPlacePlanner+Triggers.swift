extension InPlacePlanner {
  /// Drops triggers and views that would become wrong: those that refer to something that is removed, or to entity
  /// numbers that change, directly or through a view.
  ///
  /// SQLite keeps all others correct: it also renames tables and columns in them. No trigger fires during the
  /// migration.
  mutating func dropTriggersAndViews() {
    let removed = removedParts
    // Those on views are dropped before their views.
    for trigger in schema.triggers where removed.affects(trigger, of: schema) {
      work.add(.dropTrigger(trigger.name), in: .dropIndexes)
    }
    for view in schema.views where removed.affects(view, of: schema) {
      work.add(.dropView(view.name), in: .dropIndexes)
    }
  }

  /// What is dropped now or later: objects dropped later mustn't still be referenced then.
  private var removedParts: RemovedParts {
    var removed = RemovedParts(renumbersEntities: numbering.contains { $0.key != $0.value })
    for change in work.changes + work.deferred {
      switch change.change {
      case .dropTable(let table): removed.insert(table: table)
      case .dropColumn(let column, let table):
        let plan = tables.first { $0.name == table }
        removed.insert(column: plan?.oldName(of: column) ?? column, of: plan?.oldTable ?? table)
      case .rebuildTable(let rebuild):
        guard let plan = tables.first(where: { $0.name == rebuild.definition.name }) else { continue }
        for column in plan.doomed {
          removed.insert(column: plan.oldName(of: column), of: plan.oldTable ?? plan.name)
        }
      default: continue
      }
    }
    return removed
  }
}

extension TablePlan {
  fileprivate func oldName(of column: String) -> String { renames.first { $0.value == column }?.key ?? column }
}
