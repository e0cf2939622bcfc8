/// Conditions on the rows that must hold before anything is written.
extension InPlacePlanner {
  func requireValues() {
    for move in moves {
      guard let entity = move.destination, !move.source.isAbstract, !unchangedTables.contains(move.sourceTable)
      else { continue }
      if entity.isAbstract {
        work.require(
          .rows(move.sourceTable, rows([move.sourceNumber], of: move.sourceTable)),
          else: MigrationBlocker(
            entity: entity.name, what: "Objects of \(entity.name), which becomes abstract",
            fix: "Delete them before migrating, or give the hop a mapping model."))
      }
      for property in entity.properties { require(property, of: entity, move) }
    }
    refuseUnknownRows()
  }

  private func require(_ property: Property, of entity: Entity, _ move: RowMove) {
    switch property.kind {
    case .attribute(let attribute) where !attribute.isTransient: require(attribute, as: property, of: entity, in: move)
    case .relationship(let relationship) where !relationship.isToMany && !relationship.isOptional:
      require(relationship, of: entity, move)
    default: break
    }
  }

  private func require(
    _ attribute: AttributeDescription, as property: Property, of entity: Entity, in move: RowMove
  ) {
    let origin = correspondence.origin(of: attribute.name, in: entity.name)
    let before = origin?.source.flatMap { move.source.property(named: $0) }
    let columns = before.map { self.columns(of: $0, of: move.source) } ?? []
    if let before, let old = before.attribute, !columns.isEmpty {
      if attribute.type == .composite {
        for part in CompositeMove(from: before, to: property).parts {
          guard let element = part.old, let column = self.old[move.source].column(slot: element.slot) else { continue }
          check(part.element.attribute, from: element.attribute, column: column.name, property, of: entity, moved: move)
        }
      } else {
        check(attribute, from: old, column: columns[0], property, of: entity, moved: move)
      }
      if old.isOptional, !attribute.isOptional, origin?.fill == nil {
        var condition = rows([move.sourceNumber], of: move.sourceTable)
        condition.missing = columns
        requireNone(.rows(move.sourceTable, condition), attribute.name, of: entity)
      }
    } else if !attribute.isOptional, !attribute.isDerived, origin?.fill == nil {
      let all = rows([move.sourceNumber], of: move.sourceTable)
      let slots = parked.values[.init(entity: entity.name, name: attribute.name)]
      if parked.isElsewhere, slots != nil { return }
      requireNone(
        slots.map { .unparked(move.sourceTable, all, slots: $0) } ?? .rows(move.sourceTable, all), attribute.name,
        of: entity)
    }
  }

  /// The columns of an old attribute: one, or those of all elements of a composite attribute.
  private func columns(of property: Property, of entity: Entity) -> [String] {
    old[entity].columns.filter { column in
      guard column.property == property.name, case .attribute = column.role else { return false }
      return true
    }.map(\.name)
  }

  /// Checks that the values of an attribute, or of an element of a composite one, can be converted.
  private func check(
    _ attribute: AttributeDescription, from old: AttributeDescription, column: String, _ property: Property,
    of entity: Entity, moved move: RowMove
  ) {
    let rows = rows([move.sourceNumber], of: move.sourceTable)
    let element = property.attribute?.type == .composite ? ".\(attribute.name)" : ""
    let values = "Values of \(entity.name).\(property.name)\(element)"
    if case .exactWithin(let range) = AttributeConversion(from: old.type, to: attribute.type) {
      work.require(
        .outside(range, move.sourceTable, column: column, rows),
        else: MigrationBlocker(
          entity: entity.name, property: property.name,
          what: "\(values) that \(attribute.summary) can't represent",
          fix: "Change them before migrating, or keep the type \(old.summary)."))
    }
    if old.type == .string, attribute.type == .uri {
      work.require(
        .otherThanURIs(move.sourceTable, column: column, rows),
        else: MigrationBlocker(
          entity: entity.name, property: property.name, what: "\(values) that aren't URIs",
          fix: "Change them before migrating, or keep the type \(old.summary)."))
    }
    if MarkChange(from: old, to: attribute) == .removed {
      work.require(
        .missingFiles(move.sourceTable, column: column, rows),
        else: MigrationBlocker(
          .fileAccess, entity: entity.name, property: property.name, what: "\(values) in files that are missing",
          fix: "Restore the store together with its folder of large values, or clear these values."))
      // Files are read before their column is moved or unmarked.
      work.add(
        .readFiles(table: move.sourceTable, column: column, where: rows), in: .setAside,
        for: .init(property.declaringEntity, property.name))
    }
  }

  private func requireNone(_ count: RowCount, _ property: String, of entity: Entity) {
    work.require(
      count,
      else: MigrationBlocker(
        entity: entity.name, property: property,
        what: "Rows of \(entity.name) without a value for '\(property)', which is required and has no default",
        fix: "Give '\(property)' a default value or make it optional, or give the hop a mapping model."))
  }

  private func require(_ relationship: RelationshipDescription, of entity: Entity, _ move: RowMove) {
    let all = rows([move.sourceNumber], of: move.sourceTable)
    let found = origins[relationship, of: entity]
    let parked = parkedPairs(of: relationship, of: entity)
    if parked != nil, self.parked.isElsewhere { return }
    let subject = InPlaceWork.Subject(entity.name, relationship.name)
    guard let only = found.first else {
      if parked != nil { work.parkedReferences.insert(subject) }
      requireNone(
        parked.map { .unrelated(move.sourceTable, all, [], parked: $0) } ?? .rows(move.sourceTable, all),
        relationship.name, of: entity)
      return
    }
    let wasRequired = oldRelationship(relationship, of: entity).map { !$0.isToMany && !$0.isOptional } ?? false
    // Every row already has a value, and keeps it.
    if wasRequired, found.count == 1, only.members == only.allMembers { return }
    if parked != nil { work.parkedReferences.insert(subject) }
    requireNone(
      .unrelated(move.sourceTable, all, found.map(\.rows), parked: parked), relationship.name, of: entity)
  }

  /// The parked pairs that become values of a to-one relationship; nil if there are none.
  private func parkedPairs(of relationship: RelationshipDescription, of entity: Entity) -> ParkedPairRows? {
    let declaring = comparison.declaring(relationship, of: entity)
    guard let slots = parked.pairs[.init(entity: declaring.name, name: relationship.name)] else { return nil }
    let destination = new.model.destination(of: relationship)
    let members = moves.filter { $0.destination?.isKind(of: destination) == true }
    return ParkedPairRows(
      slots: slots,
      members: Dictionary(grouping: members, by: \.sourceTable).sorted(on: \.key).map { table, moves in
        PairEnd(table: table, entityNumbers: moves.map(\.sourceNumber).sorted())
      },
      parkedMembers: parked.objects.filter { objects in
        new.model.entitiesByName[objects.entity]?.isKind(of: destination) == true
      }.map(\.slot))
  }

  private func oldRelationship(_ relationship: RelationshipDescription, of entity: Entity) -> RelationshipDescription? {
    comparison.leadingEnd(of: relationship, in: entity) == .own
      ? comparison.oldRelationship(relationship, of: entity)?.relationship : nil
  }

  /// Refuses to rebuild a table with generated columns that others added, to drop a column that one reads, and to give
  /// another column its name.
  func refuseToLoseGeneratedColumns() {
    for plan in tables where !unchangedTables.contains(plan.name) {
      guard case .becomes(let table) = plan.source, let real = schema.table(named: table) else { continue }
      let wanted = Set(plan.columns.map(\.name.foldedIdentifier))
      let doomed = Set(plan.removed.map { plan.oldName(of: $0).foldedIdentifier })
      work.blockers += real.generatedColumns.filter { column in
        plan.isRebuilt || wanted.contains(column.name.foldedIdentifier) || !doomed.isDisjoint(with: column.words)
      }.map { MigrationBlocker(losing: $0, of: table, plan.root) }
    }
  }

  /// Refuses rows with an unknown entity number that would become an entity's rows by the new numbering, or would be
  /// dropped with their table.
  private func refuseUnknownRows() {
    for unknown in old.unknownRows {
      guard let plan = tables[becoming: unknown.table] else {
        work.require(unknown.count, else: unknown.blocker)
        continue
      }
      let numbers = new.model.hierarchy(of: plan.root).map { new[$0].number }
      let meant = Set(numbers).subtracting(unknown.known).sorted()
      if !meant.isEmpty { work.require(.rows(unknown.table, .entities(meant)), else: unknown.blocker) }
    }
  }
}

// MARK: - Exclusive relationships

extension InPlacePlanner {
  /// Rejects stores in which objects would be related to several objects of a relationship that allows only one:
  /// because it was to-many, because several relationships become one, or because one becomes its own inverse.
  func requireUniqueOwners() {
    for entity in new.model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        if !relationship.isToMany {
          requireUniqueOwners(origins[relationship, of: entity], relationship, of: entity)
        } else if new.model.inverse(of: relationship) == nil,
          entity.property(named: relationship.name)?.declaringEntity == entity.name
        {
          requireUniqueOwners(origins[relationship, ofAll: entity].map(\.turned), relationship, of: entity)
        }
      }
    }
  }

  /// - Parameter found: the origins from the perspective of the end that refers to one object only.
  private func requireUniqueOwners(
    _ found: [PairOrigin], _ relationship: RelationshipDescription, of entity: Entity
  ) {
    let blocker = MigrationBlocker(
      entity: comparison.declaring(relationship, of: entity).name, property: relationship.name,
      what: "Objects with several related objects in a relationship that becomes to-one",
      fix: "Give the hop a mapping model that chooses one of them.")
    for origin in found where !origin.isOwnerUnique { work.require(.crowded(origin.rows), else: blocker) }
    for (index, origin) in found.enumerated() {
      for other in found[..<index] where !origin.owners.isDisjoint(with: other.owners) {
        work.require(.conflicting(origin.rows, other.rows), else: blocker)
      }
    }
  }
}
