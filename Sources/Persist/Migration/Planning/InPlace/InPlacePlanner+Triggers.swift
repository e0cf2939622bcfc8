extension InPlacePlanner {
  /// Drops triggers and views that would become wrong: those that refer to something that is removed, or to entity
  /// numbers that change, directly or through a view, and those that compute former derivations.
  ///
  /// SQLite keeps all others correct: it also renames tables and columns in them. No trigger fires during the
  /// migration.
  func dropTriggersAndViews() {
    let removed = removedParts
    let others = schema.triggers.filter { !ParkedSlot.isTrigger($0.name) }
    let affected = Set(others.filter { removed.affects($0, of: schema) }.map(\.name))
    let dropped = affected.union(outdatedDerivations(besides: affected))
    // Triggers on views are dropped before their views.
    for trigger in schema.triggers where dropped.contains(trigger.name) {
      work.add(.dropTrigger(trigger.name), in: .dropIndexes)
    }
    for view in schema.views where removed.affects(view, of: schema) {
      work.add(.dropView(view.name), in: .dropIndexes)
    }
  }

  /// The parts that are dropped now or later: those dropped later mustn't still be referenced then.
  private var removedParts: RemovedParts {
    var removed = RemovedParts(renumbersEntities: numbering.contains { $0.key != $0.value })
    for change in work.changes + work.deferred {
      switch change.change {
      case .dropTable(let table): removed.insert(table: table)
      case .dropColumn(let column, let table):
        let plan = tables[table]
        removed.insert(column: plan?.oldName(of: column) ?? column, of: plan?.oldTable ?? table)
      case .rebuildTable(let rebuild):
        guard let plan = tables[rebuild.definition.name] else { continue }
        for column in plan.removed {
          removed.insert(column: plan.oldName(of: column), of: plan.oldTable ?? plan.name)
        }
      case .renameColumn(let column, let name, let table) where ParkedColumn.isOne(name):
        removed.insert(column: column, of: tables[table]?.oldTable ?? table)
      default: continue
      }
    }
    return removed
  }
}

// MARK: - Derived attributes

extension InPlacePlanner {
  /// The column of a derived attribute, by its old name.
  private struct DerivedPlace {
    let column: String
    let table: String
    /// Whether the new model derives the values differently, not at all, or for rows of other entities too.
    let isChanged: Bool
  }

  /// The other programs' triggers that compute derived values in a former way.
  ///
  /// Persist maintains a column if no trigger of another program does. Therefore, a column that loses one of these
  /// triggers loses them all.
  private func outdatedDerivations(besides dropped: Set<String>) -> Set<String> {
    let triggers = schema.triggers.filter(\.keepsDerivedValuesOfOthers)
    guard !triggers.isEmpty else { return [] }
    var outdated = dropped
    var places = derivedPlaces
    func names(_ place: DerivedPlace) -> [String] {
      triggers.filter { $0.mayMaintain(place.column, of: place.table) }.map(\.name)
    }
    while let index = places.firstIndex(where: { $0.isChanged || !outdated.isDisjoint(with: names($0)) }) {
      outdated.formUnion(names(places.remove(at: index)))
    }
    return outdated
  }

  private var derivedPlaces: [DerivedPlace] {
    moves.flatMap { move in
      move.source.properties.compactMap { property -> DerivedPlace? in
        guard let attribute = property.attribute, attribute.isDerived,
          let column = old[move.source].column(slot: property.slot)
        else { return nil }
        return DerivedPlace(
          column: column.name, table: move.sourceTable, isChanged: !isDerivedAsBefore(attribute, move))
      }
    }
  }

  private func isDerivedAsBefore(_ attribute: AttributeDescription, _ move: RowMove) -> Bool {
    guard let destination = move.destination, let derivation = attribute.derivation else { return true }
    guard let name = correspondence.newName(of: attribute.name, inOldEntity: move.source.name),
      let property = destination.property(named: name),
      property.attribute?.derivation?.formatNormalForm == derivation.formatNormalForm,
      let declaring = new.model.entitiesByName[property.declaringEntity]
    else { return false }
    let isOfSameEntities = new.model.hierarchy(of: declaring).allSatisfy {
      correspondence.origin(of: name, in: $0.name)?.source == attribute.name
    }
    // The expression changes its meaning if it contains the name of a new property, or the new name of another one.
    return isOfSameEntities && !correspondence.properties.values.contains { origins in
      origins.contains { $0.value.source != $0.key && SQLTokens.mentions($0.key, in: derivation) }
    }
  }
}
