/// One query of a store check: SQL whose every row is a problem.
///
/// A row returns the key of the affected row, that row's entity number, and up to two values for the description.
package struct CheckStep: Sendable {
  package let kind: StoreProblem.Kind
  /// The entity to report if the row's entity number is null or unknown.
  package let entity: String
  package let property: String?
  package let query: Query
  /// The description of a problem, from the two values; nil if they are none.
  package let detail: @Sendable (SQLValue, SQLValue) -> String?

  package enum Query: Sendable {
    case shared(SharedSQL)
    /// A query for a problem that no store on a server can have.
    case ofFile(SQLText)

    /// The query in an SQLite file.
    package var fileText: SQLText {
      switch self {
      case .shared(let sql): SQLText(sql)
      case .ofFile(let sql): sql
      }
    }
  }
}

extension CheckStep {
  init(
    kind: StoreProblem.Kind, entity: String, property: String?, sql: SharedSQL,
    detail: @escaping @Sendable (SQLValue, SQLValue) -> String?
  ) {
    self.init(kind: kind, entity: entity, property: property, query: .shared(sql), detail: detail)
  }

  /// All queries for a store with a layout, table by table.
  package static func steps(for map: TableMap) -> [CheckStep] {
    let tables = map.tables.filter { !map.absent.contains($0.entity.name) }
    let roots = tables.filter { $0.entity.superentity == nil }
    return roots.flatMap { entitySteps(map, $0) } + tables.flatMap { propertySteps(map, $0) }
      + map.joinTables.flatMap { joinSteps(map, $0) }
      + tables.map {
        $0.entity.superentity == nil
          ? keyCounterStep($0.entity.name, table: $0.table, number: $0.number) : missingCounterStep($0)
      }
  }

  private static func propertySteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    let values = valueSteps(map, table) + typeSteps(map, table)
    return values + toOneSteps(map, table) + toManySteps(map, table) + uniquenessSteps(map, table)
  }

  private static func entitySteps(_ map: TableMap, _ root: TableMap.EntityTable) -> [CheckStep] {
    let hierarchy = map.model.hierarchy(of: root.entity)
    let known = Set(map.numbers.byIndex)
    let own = hierarchy.map { map.numbers[$0] }
    let foreign = known.subtracting(own).sorted()
    let abstract = hierarchy.filter(\.isAbstract)
    var steps = [
      CheckStep(
        kind: .unknownEntity, entity: root.entity.name, property: nil,
        sql: .rowsOutside(entityNumbers: known.sorted(), table: root.table),
        detail: { number, _ in
          number == .null
            ? "The row has no entity number." : "The model has no entity with the row's number \(number.words)."
        })
    ]
    if !foreign.isEmpty {
      steps.append(
        CheckStep(
          kind: .wrongTable, entity: root.entity.name, property: nil,
          sql: .rows(entityNumbers: foreign, table: root.table),
          detail: { _, _ in "The row is in table '\(root.table)', which belongs to another entity." }))
    }
    if !abstract.isEmpty {
      steps.append(
        CheckStep(
          kind: .abstractEntity, entity: root.entity.name, property: nil,
          sql: .rows(entityNumbers: abstract.map { map.numbers[$0] }, table: root.table),
          detail: { _, _ in "The row belongs to an abstract entity, which can't have objects." }))
    }
    return steps
  }

  /// Required attributes and to-one relationships, each checked for the declaring entity and its subentities.
  private static func valueSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    table.columns.compactMap { column in
      let property = table.entity.properties.first { $0.name == column.property }
      guard let property, property.declaringEntity == table.entity.name, property.isRequired(column.role) else {
        return nil
      }
      return CheckStep(
        kind: .missingValue, entity: table.entity.name, property: property.name,
        sql: .nulls(in: column.name, of: table.table, entityNumbers: numbers(map, table.entity)),
        detail: { _, _ in "'\(property.name)' is required and has no value." })
    }
  }

  private static func toOneSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    table.columns.filter { $0.role == .toOne }.flatMap { column -> [CheckStep] in
      guard let property = table.entity.property(named: column.property), let relationship = property.relationship,
        property.declaringEntity == table.entity.name
      else { return [] }
      let destination = map.model.destination(of: relationship)
      let reference = KeyReference(
        table: table.table, column: column.name, destination: map[destination].table,
        destinationNumbers: numbers(map, destination))
      let step = { kind, sql, detail in
        CheckStep(kind: kind, entity: table.entity.name, property: property.name, sql: sql, detail: detail)
      }
      var steps = [
        step(relationship.inverse == nil ? .danglingReference : .danglingRelationship, .dangling(reference)) { key, _ in
          "'\(property.name)' leads to row \(key.words) of '\(reference.destination)', which doesn't exist."
        },
        step(.wrongDestination, .wrongDestination(reference)) { key, number in
          "'\(property.name)' leads to row \(key.words), whose entity number \(number.words) "
            + "isn't of \(destination.name)."
        },
      ]
      if let slot = property.entityNumberSlot, let companion = table.column(slot: slot) {
        steps.append(
          step(.wrongEntityNumber, .wrongCompanion(reference, companion: companion.name)) { stored, real in
            "'\(property.name)' is stored with entity number \(stored.words), but its row has \(real.words)."
          })
      }
      if let inverse = relationship.inverse.flatMap({ destination.property(named: $0) }), inverse.isToOne,
        let back = map[destination].column(slot: inverse.slot)
      {
        steps.append(
          step(.oneSidedRelationship, .oneSided(reference, back: back.name)) { key, other in
            "'\(property.name)' leads to row \(key.words), whose '\(inverse.name)' leads to "
              + (other == .null ? "nothing." : "\(other.words).")
          })
      }
      return steps
    }
  }

  /// Positions in ordered relationships, and the keys of to-many relationships without inverse.
  private static func toManySteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    table.entity.ownProperties.flatMap { property -> [CheckStep] in
      guard let relationship = property.relationship, case .foreignKey(let key) = table.toMany[property.slot] else {
        return []
      }
      let members = map.model.destination(of: relationship).name
      let name = "\(table.entity.name).\(property.name)"
      var steps: [CheckStep] = []
      if relationship.inverse == nil {
        let reference = KeyReference(
          table: key.table, column: key.column, destination: table.table,
          destinationNumbers: numbers(map, table.entity))
        steps.append(
          CheckStep(
            kind: .danglingRelationship, entity: members, property: nil, sql: .dangling(reference),
            detail: { key, _ in "The row is a member of \(name) of row \(key.words), which doesn't exist." }))
      }
      if let order = key.orderColumn {
        steps += positionSteps(
          entity: members, property: relationship.inverse, of: name,
          missing: .missingPositions(order, besideKey: key.column, of: key.table),
          duplicate: .duplicatePositions(order, besideKey: key.column, of: key.table))
      }
      return steps
    }
  }

  private static func positionSteps(
    entity: String, property: String?, of name: String, missing: SharedSQL, duplicate: SharedSQL
  ) -> [CheckStep] {
    [
      CheckStep(
        kind: .missingPosition, entity: entity, property: property, sql: missing,
        detail: { owner, _ in "The row has no position in \(name) of row \(owner.words)." }),
      CheckStep(
        kind: .duplicatePosition, entity: entity, property: property, sql: duplicate,
        detail: { owner, position in
          "Another row has the same position \(position.words) in \(name) of row \(owner.words)."
        }),
    ]
  }

  private static func uniquenessSteps(_ map: TableMap, _ table: TableMap.EntityTable) -> [CheckStep] {
    table.entity.description.uniquenessConstraints.compactMap { properties in
      guard let columns = table.columns(ofConstraint: properties) else { return nil }
      let words = properties.map { "'\($0)'" }.joined(separator: ", ")
      return CheckStep(
        kind: .duplicateValue, entity: table.entity.name, property: properties.joined(separator: ", "),
        sql: .duplicates(
          in: columns.map(\.name), of: table.table, entityNumbers: numbers(map, table.entity),
          table.conditions(ofConstraint: properties)),
        detail: { count, value in "\(count.words) rows have the same \(words): \(value.words)." })
    }
  }

  private static func joinSteps(_ map: TableMap, _ join: TableMap.JoinTable) -> [CheckStep] {
    let ends = join.isReflexive ? [(join.first, join.second)] : [(join.first, join.second), (join.second, join.first)]
    var steps = ends.flatMap { own, other -> [CheckStep] in
      guard let entity = map.model.entitiesByName[own.entity], let members = map.model.entitiesByName[other.entity]
      else { return [] }
      let name = "\(own.entity).\(own.relationship)"
      let reference = KeyReference(
        table: join.name, column: other.column, destination: map[members].table,
        destinationNumbers: numbers(map, members))
      let step = { kind, sql, detail in
        CheckStep(kind: kind, entity: own.entity, property: own.relationship, sql: sql, detail: detail)
      }
      var steps = [
        step(.danglingRelationship, .danglingMembers(reference, owner: own.column)) { key, _ in
          "\(name) has row \(key.words) of '\(reference.destination)' as a member, which doesn't exist."
        },
        step(.wrongDestination, .wrongMembers(reference, owner: own.column)) { key, number in
          "\(name) has row \(key.words) as a member, whose entity number \(number.words) isn't of \(members.name)."
        },
      ]
      if join.isReflexive {
        let back = KeyReference(
          table: join.name, column: own.column, destination: map[entity].table,
          destinationNumbers: numbers(map, entity))
        steps.append(
          step(.danglingRelationship, .danglingMembers(back, owner: other.column)) { key, _ in
            "\(name) has row \(key.words) of '\(back.destination)' as a member, which doesn't exist."
          })
      }
      if let order = own.orderColumn {
        steps += [
          step(.missingPosition, .missingJoinPositions(order, owner: own.column, of: join.name)) { _, _ in
            "A member of \(name) has no position."
          },
          step(.duplicatePosition, .duplicateJoinPositions(order, owner: own.column, of: join.name)) { position, _ in
            "Two members of \(name) have position \(position.words)."
          },
        ]
      }
      return steps
    }
    steps.append(
      CheckStep(
        kind: .duplicateMember, entity: join.first.entity, property: join.first.relationship,
        sql: .duplicateMembers(of: join.name, owner: join.first.column, member: join.second.column),
        detail: { member, _ in "Row \(member.words) is a member more than once." }))
    return steps
  }

  static func keyCounterStep(_ entity: String, table: String, number: Int) -> CheckStep {
    CheckStep(
      kind: .keyCounter, entity: entity, property: nil, sql: .keyCounter(table: table, entityNumber: number),
      detail: { counter, key in
        switch (counter, key) {
        case (.null, .null): "The key counter is missing."
        case (.null, _): "The key counter is missing; the greatest key in use is \(key.words)."
        default: "The key counter is \(counter.words), but key \(key.words) is in use."
        }
      })
  }

  /// The keys of a subentity are counted in the row of its root, but every entity has a row, with its number.
  private static func missingCounterStep(_ table: TableMap.EntityTable) -> CheckStep {
    CheckStep(
      kind: .keyCounter, entity: table.entity.name, property: nil,
      sql: .missingKeyCounter(entityNumber: table.number),
      detail: { _, _ in "The entity has no row among the key counters." })
  }

  private static func numbers(_ map: TableMap, _ entity: Entity) -> [Int] {
    map.model.hierarchy(of: entity).map { map.numbers[$0] }
  }
}

extension Property {
  /// Whether a column of the property must have a value. A derived value only exists after a save.
  fileprivate func isRequired(_ role: TableMap.Column.Role) -> Bool {
    switch role {
    case .attribute: attribute.map { !$0.isOptional && !$0.isDerived && $0.type != .composite } ?? false
    case .toOne: relationship.map { !$0.isOptional } ?? false
    case .toOneEntity: false
    }
  }
}

extension SQLValue {
  /// The value as worded in messages.
  package var words: String {
    switch self {
    case .null: StoredValue.null.description
    case .integer(let value): String(value)
    case .double(let value): ValueWords.number(value)
    case .text(let value): ValueWords.text(value)
    case .blob(let value): ValueWords.data(value)
    }
  }
}
