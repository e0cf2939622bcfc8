/// What must hold of the rows before anything is written.
extension InPlacePlanner {
  mutating func requireValues() {
    for move in moves {
      guard let entity = move.destination, !move.source.isAbstract else { continue }
      if entity.isAbstract {
        work.require(
          .rows(move.sourceTable, rows([move.sourceNumber], of: move.sourceTable)),
          else: MigrationBlocker(
            entity: entity.name, what: "Objects of \(entity.name), which becomes abstract",
            fix: "Delete them before migrating, or give the step a mapping model."))
      }
      for property in entity.properties { require(property, of: entity, move) }
    }
    refuseUnknownRows()
  }

  private mutating func require(_ property: Property, of entity: Entity, _ move: RowMove) {
    switch property.kind {
    case .attribute(let attribute) where !attribute.isTransient && attribute.type != .composite:
      require(attribute, of: entity, move)
    case .relationship(let relationship) where !relationship.isToMany && !relationship.isOptional:
      require(relationship, of: entity, move)
    default: break
    }
  }

  private mutating func require(_ attribute: AttributeDescription, of entity: Entity, _ move: RowMove) {
    let origin = correspondence.origin(of: attribute.name, in: entity.name)
    let old = origin?.source.flatMap { move.source.attribute(named: $0) }
    if let old, let column = self.old[move.source].columns.first(where: { $0.property == old.name })?.name {
      checkRange(attribute, from: old, column, of: entity, move)
      if old.allowsExternalStorage, !attribute.allowsExternalStorage {
        work.require(
          .externalValues(move.sourceTable, column: column, rows([move.sourceNumber], of: move.sourceTable)),
          else: MigrationBlocker(
            entity: entity.name, property: attribute.name,
            what: "Values of \(entity.name).\(attribute.name) that stand in files beside the store",
            fix: "Keep external storage on for '\(attribute.name)', or make the values smaller before migrating."))
      }
      if old.isOptional, !attribute.isOptional, origin?.fill == nil {
        var condition = rows([move.sourceNumber], of: move.sourceTable)
        condition.missing = column
        requireNone(.rows(move.sourceTable, condition), attribute.name, of: entity)
      }
    } else if !attribute.isOptional, !attribute.isDerived, origin?.fill == nil {
      requireNone(.rows(move.sourceTable, rows([move.sourceNumber], of: move.sourceTable)), attribute.name, of: entity)
    }
  }

  private mutating func requireNone(_ count: RowCount, _ property: String, of entity: Entity) {
    work.require(
      count,
      else: MigrationBlocker(
        entity: entity.name, property: property,
        what: "Rows of \(entity.name) without a value for '\(property)', which is required and has no default",
        fix: "Give '\(property)' a default value or make it optional, or give the step a mapping model."))
  }

  private mutating func checkRange(
    _ attribute: AttributeDescription, from old: AttributeDescription, _ column: String, of entity: Entity,
    _ move: RowMove
  ) {
    guard case .exactWithin(let range) = AttributeConversion(from: old.type, to: attribute.type) else { return }
    work.require(
      .outside(range, move.sourceTable, column: column, rows([move.sourceNumber], of: move.sourceTable)),
      else: MigrationBlocker(
        entity: entity.name, property: attribute.name,
        what: "Values of \(entity.name).\(attribute.name) that have no equal as \(attribute.summary)",
        fix: "Change them before migrating, or keep the type \(old.summary)."))
  }

  private mutating func require(_ relationship: RelationshipDescription, of entity: Entity, _ move: RowMove) {
    let all = rows([move.sourceNumber], of: move.sourceTable)
    switch transfer(relationship, of: entity) {
    case .none:
      requireNone(.rows(move.sourceTable, all), relationship.name, of: entity)
    case .columns(let columns):
      guard let old = oldRelationship(relationship, of: entity), old.relationship.isOptional else { return }
      var condition = all
      condition.missing = columns.key
      requireNone(.rows(move.sourceTable, condition), relationship.name, of: entity)
    case .joinTable, .pairs: break
    }
  }

  /// A row whose entity number the model doesn't know must not become an entity's by the new numbers.
  private mutating func refuseUnknownRows() {
    let changed = Set(numbering.filter { $0.key != $0.value }.values)
    guard !changed.isEmpty else { return }
    for (table, moves) in Dictionary(grouping: moves, by: \.sourceTable).sorted(by: { $0.key < $1.key }) {
      let known = Set(moves.map(\.sourceNumber))
      let strange = changed.subtracting(known).sorted()
      guard !strange.isEmpty else { continue }
      work.require(
        .rows(table, .entities(strange)),
        else: MigrationBlocker(
          entity: moves[0].source.root.name,
          what: "Rows of '\(table)' with an entity number that isn't of the table's entities",
          fix: "'persist check' lists them; correct or delete them before migrating."))
    }
  }
}

/// What goes, with the rows that have it.
extension InPlacePlanner {
  mutating func countLosses() {
    for operation in comparison.operations where operation.losesData {
      guard let loss = MigrationLoss(operation) else { continue }
      for count in counts(of: operation) { work.lose(count, loss) }
    }
    countValuesLeftBehind()
  }

  /// Values of properties that move down, in rows that don't have them any more.
  private mutating func countValuesLeftBehind() {
    for move in moves where !move.source.isAbstract {
      guard let destination = move.destination else { continue }
      let place = old[move.source]
      for column in place.columns where column.role != .toOneEntity && movesAway(column.property, from: move.source) {
        // What becomes transient says so itself.
        guard destination.property(named: column.property) == nil else { continue }
        work.lose(
          .present(move.sourceTable, column: column.name, rows([move.sourceNumber], of: move.sourceTable)),
          MigrationLoss(
            entity: destination.name, property: column.property, what: "isn't a property of this entity any more"))
      }
    }
  }

  /// Whether an entity's property is of others only, into which it was handed down before; a removal aside.
  private func movesAway(_ name: String, from entity: Entity) -> Bool {
    guard correspondence.newName(of: name, inOldEntity: entity.name) == nil,
      let property = entity.property(named: name), property.attribute?.isDerived != true,
      let declaring = old.model.entitiesByName[property.declaringEntity]
    else { return false }
    return old.model.hierarchy(of: declaring).contains {
      correspondence.newName(of: name, inOldEntity: $0.name) != nil
    }
  }

  private func counts(of operation: MigrationOperation) -> [RowCount] {
    let name = operation.kind == .removeEntity
      ? operation.entity : correspondence.entities[operation.entity] ?? operation.entity
    guard let entity = old.model.entitiesByName[name] else { return [] }
    let place = old[entity]
    if operation.kind == .removeEntity { return [.rows(place.table, rows([place.number], of: place.table))] }
    let oldName = operation.property.flatMap { property in
      correspondence.origin(of: property, in: operation.entity)?.source ?? property
    }
    guard let oldName, let property = entity.property(named: oldName) else { return [] }
    let columns = place.columns.filter { column in
      guard column.property == oldName, column.role != .toOneEntity else { return false }
      guard operation.kind == .changeElements else { return true }
      // Of a composite attribute only the element that goes.
      let path = property.elements.first { $0.slot == column.slot }?.path.dropFirst().joined(separator: ".")
      return operation.detail == path.map { "\($0) removed" }
    }.map(\.name)
    if !columns.isEmpty {
      let numbers = old.model.hierarchy(of: entity).map { old[$0].number }.sorted()
      return columns.map { .present(place.table, column: $0, rows(numbers, of: place.table)) }
    }
    switch place.toMany[property.slot] {
    case .join(let end): return [.rows(end.table, .all)]
    case .foreignKey(let foreignKey): return [.present(foreignKey.table, column: foreignKey.column, .all)]
    case nil: return []
    }
  }
}
