extension TableMapBuilder {
  /// The ends of all join tables.
  struct JoinEnds: Sendable {
    /// By the names of entity and relationship.
    private var byNames: [String: [String: TableMap.JoinEnd]] = Dictionary()

    init(of tables: [TableMap.JoinTable]) {
      for table in tables {
        for (own, other) in [(table.second, table.first), (table.first, table.second)] {
          byNames[own.entity, default: Dictionary()][own.relationship] = TableMap.JoinEnd(
            table: table.name, ownColumn: own.column, memberColumn: other.column, orderColumn: own.orderColumn,
            inverseOrderColumn: other.orderColumn, isReflexive: table.isReflexive)
        }
      }
    }

    subscript(entity: String, relationship: String) -> TableMap.JoinEnd? { byNames[entity]?[relationship] }
  }

  /// The table of an entity, including inherited columns.
  ///
  /// - Parameter toMany: The location of the members of its to-many relationships.
  func entityTable(
    _ entity: Entity, toMany: @escaping @Sendable () -> [Int: TableMap.ToMany]
  ) -> TableMap.EntityTable {
    var columns: [TableMap.Column] = []
    var orderColumns: [Int: String] = Dictionary()
    func add(_ column: TableMap.Column?) { if let column { columns.append(column) } }
    for property in entity.properties where !property.isTransient {
      if let attribute = property.attribute {
        if attribute.type == .composite {
          for element in property.elements {
            add(column(of: property, element.path[...].dropFirst(), element.attribute, slot: element.slot))
          }
        } else {
          add(column(of: property, [], attribute, slot: property.slot))
        }
      } else if property.isToOne {
        columns += toOneColumns(property)
        orderColumns[property.slot] = placed(property, .order)
      }
    }
    return TableMap.EntityTable(
      entity: entity, number: numbers[entity], table: tableName(of: entity),
      columns: columns.sorted(on: \.slot), orderColumns: orderColumns, toMany: toMany)
  }

  /// The location of the members of an entity's to-many relationships, by slot.
  func members(of entity: Entity, joinEnds: JoinEnds) -> [Int: TableMap.ToMany] {
    var toMany: [Int: TableMap.ToMany] = Dictionary()
    for property in entity.properties where property.isToMany && !property.isTransient {
      if let relationship = property.relationship {
        toMany[property.slot] = members(of: relationship, property, joinEnds)
      }
    }
    return toMany
  }

  @inline(never)
  private func placed(_ property: Property, _ part: TableClaim.Key.Part) -> String? {
    place(of: .init(entity: property.declaringEntity, property: property.name, part: part))?.name
  }

  /// The column of an attribute, or of an element of a composite one; nil if the store has none.
  private func column(
    of property: Property, _ element: ArraySlice<String>, _ attribute: AttributeDescription, slot: Int
  ) -> TableMap.Column? {
    let name = property.name
    let key = TableClaim.Key(entity: property.declaringEntity, property: name, element: element, part: .value)
    return place(of: key).map { place in
      TableMap.Column(
        name: place.name, type: place.claim.type, role: .attribute(attribute), slot: slot, property: name)
    }
  }

  private func toOneColumns(_ property: Property) -> [TableMap.Column] {
    guard let key = placed(property, .value) else { return [] }
    var columns = [
      TableMap.Column(name: key, type: .integer, role: .toOne, slot: property.slot, property: property.name)
    ]
    if let slot = property.entityNumberSlot, let number = placed(property, .entityNumber) {
      columns.append(
        TableMap.Column(name: number, type: .integer, role: .toOneEntity, slot: slot, property: property.name))
    }
    return columns
  }

  private func members(
    of relationship: RelationshipDescription, _ property: Property, _ ends: JoinEnds
  ) -> TableMap.ToMany? {
    let destination = model.destination(of: relationship)
    guard let inverseName = relationship.inverse, let inverse = destination.property(named: inverseName) else {
      return foreignKey(property, in: destination)
    }
    if inverse.isToOne { return foreignKey(inverse, in: destination) }
    return ends[property.declaringEntity, property.name].map(TableMap.ToMany.join)
  }

  private func foreignKey(_ property: Property, in destination: Entity) -> TableMap.ToMany? {
    placed(property, .value).map { column in
      .foreignKey(
        TableMap.ForeignKey(
          table: tableName(of: destination), column: column, entityColumn: placed(property, .entityNumber),
          orderColumn: placed(property, .order)))
    }
  }

  /// The columns of each hierarchy's table in Core Data's order: integers and keys by entity, and within an entity its
  /// integers, its keys and its order columns; then the other types of values.
  func layout() -> [String: [TableMap.PlacedColumn]] {
    typealias Rank = (group: Int, entity: Int, within: Int, key: Int)
    var columns: [String: [TableMap.PlacedColumn]] = Dictionary()
    func rank(_ index: Int) -> Rank {
      let claim = placed[index].claim
      guard claim.group == .integer || claim.group == .reference else { return (claim.group.rawValue, 0, 0, index) }
      let within = claim.group == .integer ? 0 : claim.key.part == .order ? 2 : 1
      guard claim.key.part != .value else { return (0, claim.holder.number, within, index) }
      // An entity number follows its key.
      let key = TableClaim.Key(
        entity: claim.key.entity, property: claim.key.property, element: claim.key.element, part: .value)
      return (0, claim.holder.number, within, placedIndex(of: key) ?? 0)
    }
    for table in tables where !table.columns.isEmpty {
      let ranks = table.columns.map(rank)
      columns[table.name] = ranks.indices.ordered { ranks[$0] < ranks[$1] }.map { position in
        let place = placed[table.columns[position]]
        return TableMap.PlacedColumn(name: place.name, type: place.claim.type, isReference: place.claim.isReference)
      }
    }
    return columns
  }

  /// Descriptions of tables and columns of the layout's kind that don't belong to the model.
  func unexplained() -> [String] {
    guard let schema else { return [] }
    var columnsByTable: [String: Set<String>] = Dictionary()
    for place in placed {
      columnsByTable[place.table.foldedIdentifier, default: []].insert(place.name.foldedIdentifier)
    }
    for table in tables {
      columnsByTable[table.name.foldedIdentifier, default: []].formUnion(["z_pk", "z_ent", "z_opt"])
    }
    for join in joinTables {
      for side in [join.first, join.second] {
        let columns = [side.column, side.orderColumn].compactMap { $0?.foldedIdentifier }
        columnsByTable[join.name.foldedIdentifier, default: []].formUnion(columns)
      }
    }
    var words: [String] = []
    for table in schema.tables {
      guard let columns = columnsByTable[table.name.foldedIdentifier] else {
        if table.isOfLayout(names) { words.append("No part of the model corresponds to table '\(table.name)'.") }
        continue
      }
      for column in table.columns
      where !columns.contains(column.name.foldedIdentifier) && !LeftOverColumn.isOne(column.name)
        && !ParkedColumn.isOne(column.name)
      {
        words.append("No part of the model corresponds to column '\(column.name)' of '\(table.name)'.")
      }
    }
    return words
  }
}

extension StoreSchema.Table {
  /// Whether the table has the form of an entity's table or a join table; the store's own tables and the history's
  /// don't.
  fileprivate func isOfLayout(_ names: LayoutNames) -> Bool {
    let folded = name.foldedIdentifier
    let isEntity = ["Z_PK", "Z_ENT", "Z_OPT"].allSatisfy { hasColumn(named: $0) }
    if names == .snakeCase { return isEntity && !names.storeTables.contains(name) }
    guard folded.hasPrefix("z"), !["z_primarykey", "z_metadata", "z_modelcache"].contains(folded) else { return false }
    let join = NumberedName(name)
    return isEntity || (join.head == "z_" && join.number != nil)
  }
}
