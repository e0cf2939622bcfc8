/// A table to create, as a value: the SQL layer turns it into text.
package struct TableDefinition: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package let name: String
    package let type: TableMap.ColumnType

    package init(name: String, type: TableMap.ColumnType) { (self.name, self.type) = (name, type) }
  }

  package let name: String
  /// In the order of the table, keys first.
  package let columns: [Column]
  /// The columns of the primary key: `Z_PK` of an entity's table, both keys of a join table.
  package let primaryKey: [String]
}

/// An index to create, as a value.
package struct IndexDefinition: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package let name: String
    /// Nil omits collation and direction, as in indexes that aren't declared by a model.
    package let isAscending: Bool?

    package init(name: String, isAscending: Bool? = nil) {
      self.name = name
      self.isAscending = isAscending
    }
  }

  /// A test of a column that the rows of a partial index pass.
  package struct Condition: Sendable, Hashable {
    package let column: String
    package let test: UniquenessCondition.Test

    package init(column: String, test: UniquenessCondition.Test) {
      self.column = column
      self.test = test
    }
  }

  /// The part of the model that an index is for.
  package struct Subject: Sendable, Hashable {
    package let entity: String
    /// The name of a declared index, or the properties of a uniqueness constraint.
    package let name: String
  }

  package var name: String
  package let table: String
  package let columns: [Column]
  package var isUnique = false
  /// The entity numbers of the rows that the index is restricted to; nil for all rows.
  package var entityNumbers: [Int]?
  /// The tests that the rows of the index pass, in the order of their columns.
  package var conditions: [Condition] = []
  /// Whether rows without a value in the first column are excluded.
  package var excludesNull = false
  /// Nil for an index that every store with its layout has.
  package var subject: Subject?

  package init(
    name: String, table: String, columns: [Column], isUnique: Bool = false, entityNumbers: [Int]? = nil,
    excludesNull: Bool = false, subject: Subject? = nil
  ) {
    self.name = name
    self.table = table
    self.columns = columns
    self.isUnique = isUnique
    self.entityNumbers = entityNumbers
    self.excludesNull = excludesNull
    self.subject = subject
  }
}

extension TableMap {
  /// The tables of a new store with this layout: each root entity's table, followed by the join tables named for its
  /// hierarchy. The store's own tables aren't included.
  package var tableDefinitions: [TableDefinition] {
    var definitions: [TableDefinition] = []
    for table in tables where table.entity.superentity == nil {
      let keys = ["Z_PK", "Z_ENT", "Z_OPT"].map { TableDefinition.Column(name: $0, type: .integer) }
      let columns = (layout[table.table] ?? []).map { TableDefinition.Column(name: $0.name, type: $0.type) }
      definitions.append(TableDefinition(name: table.table, columns: keys + columns, primaryKey: ["Z_PK"]))
      let hierarchy = Set(model.hierarchy(of: table.entity).map(\.name))
      for join in joinTables where hierarchy.contains(join.first.entity) {
        let sides = [join.first.column, join.second.column]
        // The order of one side's keys belongs to the other side's relationship.
        let order = [join.second.orderColumn, join.first.orderColumn].compactMap { $0 }
        definitions.append(
          TableDefinition(
            name: join.name, columns: (sides + order.uniqued()).map { .init(name: $0, type: .integer) },
            primaryKey: sides))
      }
    }
    return definitions
  }

  /// The indexes of a new store with this layout: for to-one relationships, entity numbers and join tables, then those
  /// declared by the model, then its uniqueness constraints.
  ///
  /// An index element over an expression has no column and is omitted, as is the predicate of a partial index, which
  /// then covers all rows.
  package var indexDefinitions: [IndexDefinition] {
    var definitions: [IndexDefinition] = []
    for table in tables where table.entity.superentity == nil {
      definitions += structuralIndexes(of: table)
    }
    for table in tables { definitions += declaredIndexes(of: table) }
    for table in tables { definitions += uniquenessIndexes(of: table) }
    return unique(definitions)
  }

  /// The indexes that the model's entities declare, without those that every store with its layout has.
  package var declaredIndexDefinitions: [IndexDefinition] {
    // Nearly every store has none, and their names depend on those of the others.
    guard tables.contains(where: { !declaredIndexes(of: $0).isEmpty }) else { return [] }
    return indexDefinitions.filter { $0.subject != nil && !$0.isUnique }
  }

  /// Indexes with names that differ. Of those that an entity declares twice under one name, the first remains; a name
  /// that another index has is followed by a number.
  private func unique(_ definitions: [IndexDefinition]) -> [IndexDefinition] {
    var seen = Set<[String]>()
    var found = definitions.filter { definition in
      let subject = definition.subject.map { [$0.entity, $0.name, "\(definition.isUnique)"] }
      return seen.insert(subject ?? [definition.table, definition.name.foldedIdentifier]).inserted
    }
    switch names {
    case .snakeCase:
      var allocator = NameAllocator(names: names)
      for index in found.indices { found[index].name = allocator.allocate(found[index].name) }
    case .coreData:
      let places = Dictionary(grouping: found.indices) { found[$0].name.foldedIdentifier }
      guard places.count < found.count else { return found }
      var allocator = NameAllocator(names: names, reserving: found.map(\.name))
      for (_, same) in places.sorted(on: \.key) where same.count > 1 {
        // The rank decides which names get numbers, not the order of declaration.
        for index in same.ordered(by: { found[$0].rank < found[$1].rank }).dropFirst() {
          found[index].name = allocator.allocate(found[index].name)
        }
      }
    }
    return found
  }

  private func structuralIndexes(of root: EntityTable) -> [IndexDefinition] {
    var definitions = (layout[root.table] ?? []).filter(\.isReference).map {
      IndexDefinition(
        name: names.index(of: root.table, over: $0.name), table: root.table,
        columns: [.init(name: $0.name, isAscending: nil)])
    }
    if root.entity.hasSubentities {
      definitions.append(
        IndexDefinition(
          name: names.index(of: root.table, over: "Z_ENT"), table: root.table,
          columns: [.init(name: "Z_ENT", isAscending: nil)]))
    }
    let hierarchy = Set(model.hierarchy(of: root.entity).map(\.name))
    for join in joinTables where hierarchy.contains(join.first.entity) {
      definitions.append(
        IndexDefinition(
          name: names.index(of: join.name, over: join.second.column), table: join.name,
          columns: [join.second.column, join.first.column].map { .init(name: $0, isAscending: nil) }))
    }
    return definitions
  }

  private func declaredIndexes(of table: EntityTable) -> [IndexDefinition] {
    let entity = table.entity.description
    let single = entity.attributes.filter(\.isIndexed).map { attribute in
      (attribute.name, [IndexDefinition.Column](columns(ofProperty: attribute.name, in: table)))
    }
    let compound = entity.compoundIndexes.map { properties in
      (properties.joined(separator: "_"), properties.flatMap { columns(ofProperty: $0, in: table) })
    }
    let named = entity.indexes.map { index in
      let columns: [IndexDefinition.Column] = index.elements.flatMap { element in
        guard case .property(let name) = element.subject else { return [IndexDefinition.Column]() }
        return self.columns(ofProperty: name, in: table, isAscending: element.isAscending)
      }
      return (index.name, columns)
    }
    return (single + compound + named).filter { !$0.1.isEmpty }.map {
      IndexDefinition(
        name: names.index($0.0, of: entity.name, isUnique: false), table: table.table, columns: $0.1,
        subject: .init(entity: entity.name, name: $0.0))
    }
  }

  private func uniquenessIndexes(of table: EntityTable) -> [IndexDefinition] {
    let entity = table.entity
    return entity.description.uniquenessConstraints.compactMap { properties in
      guard let columns = table.columns(ofConstraint: properties) else { return nil }
      // An inherited column also contains values of other entities, which the constraint doesn't apply to.
      let isShared = properties.contains { name in
        name.dottedKeys.first.flatMap { entity.property(named: $0) }?.declaringEntity != entity.name
      }
      var index = IndexDefinition(
        name: names.index(properties.joined(separator: "_"), of: entity.name, isUnique: true), table: table.table,
        columns: columns.map { .init(name: $0.name, isAscending: true) }, isUnique: true,
        entityNumbers: isShared ? model.hierarchy(of: entity).map { numbers[$0] } : nil,
        subject: .init(entity: entity.name, name: properties.joined(separator: ", ")))
      index.conditions = table.conditions(ofConstraint: properties)
      return index
    }
  }

  /// The columns of a property: one, or one per element of a composite attribute.
  private func columns(
    ofProperty name: String, in table: EntityTable, isAscending: Bool = true
  ) -> [IndexDefinition.Column] {
    table.columns
      .filter { $0.property == name && $0.role != .toOneEntity }
      .map { IndexDefinition.Column(name: $0.name, isAscending: isAscending) }
  }
}

extension IndexDefinition {
  /// The index's place among those of the same name.
  fileprivate var rank: (Int, String, String) {
    (subject == nil ? 0 : isUnique ? 2 : 1, subject?.entity ?? table, subject?.name ?? name)
  }
}

extension [String] {
  fileprivate func uniqued() -> [String] {
    var seen = Set<String>()
    return filter { seen.insert($0).inserted }
  }
}

/// A foreign key of a server, as a value.
package struct ForeignKeyDefinition: Sendable, Equatable {
  /// The effect of the deletion of a row on rows that refer to it.
  package enum Effect: Sendable, Equatable {
    /// Their keys become null.
    case clear
    /// They are deleted: rows of join tables.
    case delete
  }

  package let table: String
  package let column: String
  /// The table of the rows that the column's keys belong to.
  package let target: String
  package let effect: Effect
}

extension TableMap {
  /// The foreign keys of a server's store: those of join tables, and those whose keys never remain when their rows are
  /// deleted.
  ///
  /// A to-one relationship without inverse keeps the key of a deleted object, and so does one whose inverse has the
  /// delete rule ``DeleteRule/noAction``.
  package var foreignKeys: [ForeignKeyDefinition] {
    let present = tables.filter { !absent.contains($0.entity.name) }
    let names = Set(present.map(\.entity.name))
    let references = present.flatMap { table in
      table.entity.ownProperties.filter { !$0.isTransient }.compactMap { property -> ForeignKeyDefinition? in
        guard let relationship = property.relationship, names.contains(relationship.destination) else { return nil }
        let destination = model.destination(of: relationship)
        if property.isToOne {
          guard let back = relationship.inverse.flatMap({ destination.property(named: $0) })?.relationship,
            back.deleteRule != .noAction,
            let column = table.columns.first(where: { $0.slot == property.slot && $0.role == .toOne })
          else { return nil }
          return ForeignKeyDefinition(
            table: table.table, column: column.name, target: self[destination].table, effect: .clear)
        }
        guard relationship.inverse == nil, relationship.deleteRule != .noAction,
          case .foreignKey(let key)? = table.toMany[property.slot]
        else { return nil }
        return ForeignKeyDefinition(table: key.table, column: key.column, target: table.table, effect: .clear)
      }
    }
    let pairs = joinTables.flatMap { join -> [ForeignKeyDefinition] in
      [join.first, join.second].compactMap { side in
        guard names.contains(side.entity), let entity = model.entitiesByName[side.entity] else { return nil }
        return ForeignKeyDefinition(
          table: join.name, column: side.column, target: self[entity].table, effect: .delete)
      }
    }
    return references + pairs
  }
}

extension TableMap.EntityTable {
  /// Returns the conditions of a uniqueness constraint of the entity; empty for one that concerns all rows.
  func conditions(ofConstraint names: [String]) -> [IndexDefinition.Condition] {
    let conditions = Set(entity.description.uniquenessConditions[names] ?? [])
    return conditions.sorted(on: \.description).compactMap { condition in
      columns(ofConstrained: condition.attribute).first.map { .init(column: $0.name, test: condition.test) }
    }
  }

  /// Returns the columns of a uniqueness constraint: one for each attribute, to-one relationship or element of a
  /// composite attribute, and those of all elements for a composite attribute.
  ///
  /// - Returns: Nil unless every name has a column, because a constraint over the others would reject rows that the
  ///   model allows.
  package func columns(ofConstraint names: [String]) -> [TableMap.Column]? {
    var found: [TableMap.Column] = []
    for name in names {
      let own = columns(ofConstrained: name)
      if own.isEmpty { return nil }
      found += own
    }
    return found.isEmpty ? nil : found
  }

  private func columns(ofConstrained name: String) -> [TableMap.Column] {
    let path = name.dottedKeys
    guard let first = path.first, let property = entity.property(named: first) else { return [] }
    guard property.attribute?.type == .composite else {
      return path.count == 1 ? columns.filter { $0.property == first && $0.role != .toOneEntity } : []
    }
    let slots = property.elements.filter { $0.path.starts(with: path) }.map(\.slot)
    let found = columns.filter { slots.contains($0.slot) }
    return found.count == slots.count ? found : []
  }
}
