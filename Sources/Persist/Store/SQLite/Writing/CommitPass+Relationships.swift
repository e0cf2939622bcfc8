/// Many-to-many relationships, relationships without inverse, and orders.
extension CommitPass {
  mutating func linkRows() throws {
    for link in writes.links {
      let entity = try plan(link.entity).entity
      let owner = try key(of: link.owner)
      switch store.map[entity].toMany[link.slot] {
      case .join(let join)?:
        try deletePairs(owner, link.removed, join)
        try insertPairs(owner, link.added, join)
      case .foreignKey(let column)?:
        try removeFromOwner(owner, link.removed, column)
        try own(owner, entity, link.added, column)
      case nil:
        throw PersistenceError(
          .invalidRequest, at: .property(entity.name, entity.properties[link.slot].name),
          "The store has no column or table for the relationship.", fix: "Migrate the store to the model.")
      }
    }
  }

  private func deletePairs(_ owner: Int64, _ members: [ManagedObjectID], _ join: TableMap.JoinEnd) throws {
    guard !members.isEmpty else { return }
    let ways = [(join.ownColumn, join.memberColumn)] + (join.isReflexive ? [(join.memberColumn, join.ownColumn)] : [])
    for (ownColumn, memberColumn) in ways {
      let sql = SQLText.deletePair(join.table, owner: ownColumn, member: memberColumn)
      try connection.withStatement(sql) { statement in
        for member in members {
          statement.begin()
          statement.bind(owner, at: 1)
          statement.bind(try key(of: member), at: 2)
          try statement.run()
        }
      }
    }
  }

  private func insertPairs(_ owner: Int64, _ members: [ManagedObjectID], _ join: TableMap.JoinEnd) throws {
    guard !members.isEmpty else { return }
    let order = join.orderColumn
    let inverse = join.inverseOrderColumn == order ? nil : join.inverseOrderColumn
    let sql = SQLText.join(
      join.table, owner: join.ownColumn, member: join.memberColumn, order: order, inverseOrder: inverse)
    try connection.withStatement(sql) { statement in
      func add(_ owner: Int64, _ member: Int64) throws {
        statement.begin()
        statement.bind(owner, at: 1)
        statement.bind(member, at: 2)
        var index: Int32 = 3
        if order != nil {
          statement.bind(owner, at: index)
          index += 1
        }
        if inverse != nil { statement.bind(member, at: index) }
        try statement.run()
      }
      for member in members {
        let member = try key(of: member)
        try add(owner, member)
        if join.isReflexive { try add(member, owner) }
      }
    }
  }

  private func removeFromOwner(_ owner: Int64, _ members: [ManagedObjectID], _ place: TableMap.ForeignKey) throws {
    guard !members.isEmpty else { return }
    let beside = [place.entityColumn, place.orderColumn].compactMap { $0 }
    try connection.withStatement(.removeFromOwner(place.table, column: place.column, beside: beside)) { statement in
      for member in members {
        statement.begin()
        statement.bind(try key(of: member), at: 1)
        statement.bind(owner, at: 2)
        try statement.run()
      }
    }
  }

  private mutating func own(
    _ owner: Int64, _ entity: Entity, _ members: [ManagedObjectID], _ place: TableMap.ForeignKey
  ) throws {
    guard !members.isEmpty else { return }
    let keys = try members.map { try key(of: $0) }
    let sql = SQLText.own(place.table, column: place.column, entityColumn: place.entityColumn)
    try connection.withStatement(sql) { statement in
      for member in keys {
        statement.begin()
        statement.bind(owner, at: 1)
        if place.entityColumn != nil { statement.bind(Int64(store.map.numbers[entity]), at: 2) }
        statement.bind(member, at: place.entityColumn == nil ? 2 : 3)
        try statement.run()
      }
    }
    if let order = place.orderColumn {
      let owner = OrderedOwner(table: place.table, column: place.column, orderColumn: order, key: owner)
      withoutPlace[owner, default: []] += keys
    }
  }

  // MARK: Orders

  /// Records that a row is a new member of an ordered relationship, based on the row's own key column.
  mutating func noteMissingPlace(_ plan: WritePlan, _ slot: Int, _ owner: ManagedObjectID, member: Int64) throws {
    let table = store.map[plan.entity]
    guard let order = table.orderColumns[slot], let column = table.column(slot: slot) else { return }
    let owner = OrderedOwner(table: table.table, column: column.name, orderColumn: order, key: try key(of: owner))
    withoutPlace[owner, default: []].append(member)
  }

  /// Writes changed orders, and appends members without a given position.
  mutating func orderRows() throws {
    for ordering in writes.orderings {
      let entity = try plan(ordering.entity).entity
      let owner = try key(of: ordering.owner)
      let members = try ordering.members.map { try key(of: $0) }
      switch store.map[entity].toMany[ordering.slot] {
      case .join(let join)?:
        guard let order = join.orderColumn else { continue }
        let place = OrderedOwner(table: join.table, column: join.ownColumn, orderColumn: order, key: owner)
        try arrange(members, isWhole: ordering.isWhole, of: place, join.memberColumn)
      case .foreignKey(let column)?:
        guard let order = column.orderColumn else { continue }
        let place = OrderedOwner(table: column.table, column: column.column, orderColumn: order, key: owner)
        let untold = withoutPlace.removeValue(forKey: place) ?? []
        let told = Set(members)
        try arrange(
          ordering.isWhole ? members : untold.filter { !told.contains($0) } + members, isWhole: ordering.isWhole,
          of: place)
      case nil: continue
      }
    }
    for (owner, members) in withoutPlace {
      try arrange(members, isWhole: false, of: owner)
    }
  }

  /// Gives members of an owner the positions of a new order, or those at the end.
  private func arrange(
    _ members: [Int64], isWhole: Bool, of owner: OrderedOwner, _ memberColumn: String = "Z_PK"
  ) throws {
    let places = try places(of: owner, memberColumn)
    let order = OrderPlaces.order(members, isWhole: isWhole, among: places)
    let changes = OrderPlaces.changes(order, from: places.compactMapValues { $0 })
    guard !changes.isEmpty else { return }
    let sql = SQLText.setPlace(
      in: owner.table, owner: owner.column, member: memberColumn, order: owner.orderColumn)
    try connection.withStatement(sql) { statement in
      for (member, place) in changes {
        statement.begin()
        statement.bind(place, at: 1)
        statement.bind(owner.key, at: 2)
        statement.bind(member, at: 3)
        try statement.run()
      }
    }
  }

  /// Members with their positions; nil for members without one.
  private func places(of owner: OrderedOwner, _ memberColumn: String) throws -> [Int64: Int64?] {
    let sql = SQLText.places(
      in: owner.table, owner: owner.column, member: memberColumn, order: owner.orderColumn)
    return try connection.withStatement(sql) { statement in
      statement.bind(owner.key, at: 1)
      var places: [Int64: Int64?] = [:]
      while try statement.step() {
        places.updateValue(statement.isNull(1) ? nil : statement.integer(1), forKey: statement.integer(0))
      }
      return places
    }
  }
}
