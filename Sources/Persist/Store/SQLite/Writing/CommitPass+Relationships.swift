/// Many-to-many relationships, relationships without inverse, and orders.
extension CommitPass {
  mutating func linkRows() throws {
    for link in writes.links {
      let entity = try plan(link.entity).entity
      let owner = try key(of: link.owner)
      switch store.map[entity].toMany[link.slot] {
      case .join(let join)?:
        try deletePairs(owner, link.removed, from: join)
        try insertPairs(owner, link.added, into: join)
      case .foreignKey(let column)?:
        try removeFromOwner(owner, link.removed, in: column)
        try own(owner, of: entity, members: link.added, in: column)
      case nil:
        throw PersistenceError.missingPlace(ofRelationshipAt: link.slot, of: entity)
      }
    }
  }

  private func deletePairs(_ owner: Int64, _ members: [ManagedObjectID], from join: TableMap.JoinEnd) throws {
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

  private mutating func insertPairs(_ owner: Int64, _ members: [ManagedObjectID], into join: TableMap.JoinEnd) throws {
    guard !members.isEmpty else { return }
    let orders = [(join.orderColumn, join.ownColumn, 0), (join.inverseOrderColumn, join.memberColumn, 1)]
      .filter { $0.0 != nil && ($0.2 == 0 || $0.0 != join.orderColumn) }
    let sql = SQLText.join(
      join.table, owner: join.ownColumn, member: join.memberColumn, orders: orders.compactMap(\.0))
    let keys = try members.map { try key(of: $0) }
    let pairs = keys.flatMap { join.isReflexive ? [[owner, $0], [$0, owner]] : [[owner, $0]] }
    try connection.withStatement(sql) { statement in
      for pair in pairs {
        let places = try orders.map { order, column, side in
          try placeAtEnd(
            of: OrderedOwner(table: join.table, column: column, orderColumn: order ?? "", key: pair[side]))
        }
        statement.begin()
        for (index, value) in (pair + places).enumerated() { statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
      }
    }
  }

  /// Returns the position after the last member of a row. It is read once: for each pair, that would be quadratic.
  private mutating func placeAtEnd(of owner: OrderedOwner) throws -> Int64 {
    let last = try lastPlaces[owner] ?? connection.withStatement(
      .lastPlace(in: owner.table, owner: owner.column, order: owner.orderColumn)
    ) { statement in
      statement.bind(owner.key, at: 1)
      let hasPlaces = try statement.step() && !statement.isNull(0)
      return hasPlaces ? statement.integer(0) : OrderPlaces.first - OrderPlaces.distance
    }
    let place = last.addingReportingOverflow(OrderPlaces.distance)
    lastPlaces[owner] = place.overflow ? last : place.partialValue
    return place.overflow ? last : place.partialValue
  }

  private func removeFromOwner(_ owner: Int64, _ members: [ManagedObjectID], in place: TableMap.ForeignKey) throws {
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
    _ owner: Int64, of entity: Entity, members: [ManagedObjectID], in place: TableMap.ForeignKey
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
  mutating func recordMissingPlace(in plan: WritePlan, slot: Int, of id: ManagedObjectID, member: Int64) throws {
    guard let owner = try OrderedOwner(at: slot, in: store.map[plan.entity], key: { try key(of: id) }) else { return }
    withoutPlace[owner, default: []].append(member)
  }

  /// Writes changed orders, and appends members without a given position.
  func orderRows() throws {
    guard !writes.orderings.isEmpty || !withoutPlace.isEmpty else { return }
    let arrangements = try MemberArrangement.all(
      of: writes, in: store.map, store.plans, appending: withoutPlace, key: { try key(of: $0) })
    for arrangement in arrangements { try write(arrangement) }
  }

  private func write(_ arrangement: MemberArrangement) throws {
    let owner = arrangement.owner
    let places = try places(of: owner, arrangement.memberColumn)
    let order = OrderPlaces.order(arrangement.members, isWhole: arrangement.isWhole, among: places)
    let changes = OrderPlaces.changes(order, from: places.compactMapValues { $0 })
    guard !changes.isEmpty else { return }
    let sql = SQLText.setPlace(
      in: owner.table, owner: owner.column, member: arrangement.memberColumn, order: owner.orderColumn)
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
      var places: [Int64: Int64?] = Dictionary()
      while try statement.step() {
        places.updateValue(statement.isNull(1) ? nil : statement.integer(1), forKey: statement.integer(0))
      }
      return places
    }
  }
}
