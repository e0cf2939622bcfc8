import Persist

/// Many-to-many relationships, relationships without inverse, and orders.
extension ServerCommitPass {
  mutating func linkRows() throws {
    var removed = PairGroups(), added = PairGroups()
    for link in writes.links {
      let entity = try plan(link.entity).entity
      let owner = try key(of: link.owner)
      let removedMembers = try link.removed.map { try key(of: $0) }
      let addedMembers = try link.added.map { try key(of: $0) }
      switch store.map[entity].toMany[link.slot] {
      case .join(let join)?:
        removed.add(owner, removedMembers, to: join)
        added.add(owner, addedMembers, to: join)
      case .foreignKey(let place)?:
        removeFromOwner(owner, members: removedMembers, at: place)
        own(addedMembers, by: owner, of: entity, at: place)
      case nil:
        throw PersistenceError.missingPlace(ofRelationshipAt: link.slot, of: entity)
      }
    }
    for group in removed.all { deletePairs(group) }
    for group in added.all { insertPairs(group) }
  }

  /// Pairs of one relationship's table: owners and members, in order.
  private struct PairGroup {
    let join: TableMap.JoinEnd
    var owners: [Int64] = []
    var members: [Int64] = []

    /// The same pairs, seen from the members.
    var reversed: PairGroup { PairGroup(join: join, owners: members, members: owners) }
  }

  /// The pairs of all relationships, by table and side, so that one statement writes those of many owners.
  private struct PairGroups {
    private(set) var all: [PairGroup] = []
    private var places: [[String]: Int] = [:]

    mutating func add(_ owner: Int64, _ members: [Int64], to join: TableMap.JoinEnd) {
      guard !members.isEmpty else { return }
      let id = [join.table, join.ownColumn]
      let place = places[id] ?? all.count
      if place == all.count {
        places[id] = place
        all.append(PairGroup(join: join))
      }
      all[place].owners += repeatElement(owner, count: members.count)
      all[place].members += members
    }
  }

  private mutating func deletePairs(_ group: PairGroup) {
    let join = group.join
    for group in join.isReflexive ? [group, group.reversed] : [group] {
      add(
        """
        DELETE FROM \(table: join.table) WHERE (\(name: join.ownColumn), \(name: join.memberColumn)) IN \
        (SELECT * FROM unnest(\(integers: group.owners), \(integers: group.members)))
        """)
    }
  }

  /// Adds pairs that don't exist yet, at the ends of both sides' orders.
  private mutating func insertPairs(_ group: PairGroup) {
    let join = group.join
    let order = join.orderColumn
    let inverse = join.inverseOrderColumn == order ? nil : join.inverseOrderColumn
    add(Self.insertion(of: group, order: order, inverseOrder: inverse))
    if join.isReflexive { add(Self.insertion(of: group.reversed, order: order, inverseOrder: inverse)) }
  }

  private static func insertion(of group: PairGroup, order: String?, inverseOrder: String?) -> ServerText {
    let join = group.join
    func last(_ order: String, of side: String, _ key: ServerText) -> ServerText {
      """
      , coalesce((SELECT max(\(name: order)) FROM \(table: join.table) WHERE \(name: side) = \(key)), \
      \(number: OrderPlaces.first - OrderPlaces.distance)) \
      + \(number: OrderPlaces.distance) * row_number() OVER (PARTITION BY \(key) ORDER BY u.n)
      """
    }
    let columns = [join.ownColumn, join.memberColumn] + [order, inverseOrder].compactMap { $0 }
    let places = (order.map { last($0, of: join.ownColumn, "u.o") } ?? "")
      + (inverseOrder.map { last($0, of: join.memberColumn, "u.m") } ?? "")
    return """
      INSERT INTO \(table: join.table) (\(names: columns)) SELECT u.o, u.m\(places) \
      FROM unnest(\(integers: group.owners), \(integers: group.members)) WITH ORDINALITY AS u(o, m, n) \
      WHERE NOT EXISTS (SELECT 1 FROM \(table: join.table) \
      WHERE \(name: join.ownColumn) = u.o AND \(name: join.memberColumn) = u.m) ON CONFLICT DO NOTHING
      """
  }

  private mutating func removeFromOwner(_ owner: Int64, members: [Int64], at place: TableMap.ForeignKey) {
    guard !members.isEmpty else { return }
    let cleared = [place.column, place.entityColumn, place.orderColumn].compactMap { $0 }
    let assignments = cleared.map { "\(name: $0) = NULL" as ServerText }.joined(separator: ", ")
    add(
      """
      UPDATE \(table: place.table) SET \(assignments) \
      WHERE id = ANY(\(integers: members)) AND \(name: place.column) = \(integer: owner)
      """)
  }

  private mutating func own(_ members: [Int64], by owner: Int64, of entity: Entity, at place: TableMap.ForeignKey) {
    guard !members.isEmpty else { return }
    let number: ServerText =
      place.entityColumn.map { ", \(name: $0) = \(number: Int64(store.map.numbers[entity]))" } ?? ""
    add(
      """
      UPDATE \(table: place.table) SET \(name: place.column) = \(integer: owner)\(number) \
      WHERE id = ANY(\(integers: members))
      """)
    if let order = place.orderColumn {
      recordMissingPlaces(
        of: OrderedOwner(table: place.table, column: place.column, orderColumn: order, key: owner), members)
    }
  }

  // MARK: Orders

  /// The columns of the members of ordered relationships.
  private struct OrderedColumns: Hashable {
    let table: String
    let owner: String
    let member: String
    let place: String

    init(_ arrangement: MemberArrangement) {
      let owner = arrangement.owner
      (table, self.owner, member, place) = (owner.table, owner.column, arrangement.memberColumn, owner.orderColumn)
    }
  }

  /// Writes changed orders, and appends members without a given position: for each relationship a statement that reads
  /// the positions of all owners, all of them in one flight, and one that writes.
  mutating func orderRows(_ transaction: ServerTransaction) throws {
    // In the same order in every program, so that none waits for another that waits for it.
    let arrangements = try MemberArrangement.all(
      of: writes, in: store.map, store.plans, appending: withoutPlace, key: { try key(of: $0) })
    let groups = Dictionary(grouping: arrangements, by: OrderedColumns.init).sorted {
      ($0.key.table, $0.key.place) < ($1.key.table, $1.key.place)
    }
    let results = try transaction.run(
      groups.map { columns, arrangements in
        """
        SELECT \(name: columns.owner), \(name: columns.member), \(name: columns.place) FROM \(table: columns.table) \
        WHERE \(name: columns.owner) = ANY(\(integers: arrangements.map(\.owner.key)))
        """
      }, areReused: true)
    for ((columns, arrangements), result) in zip(groups, results) {
      var places: [Int64: [Int64: Int64?]] = [:]
      for row in 0..<result.rowCount {
        let place = result.isNull(row, 2) ? nil : result.integer(row, 2)
        places[result.integer(row, 0), default: [:]].updateValue(place, forKey: result.integer(row, 1))
      }
      write(arrangements, columns, from: places)
    }
  }

  /// - Parameter places: The positions of members, by owner.
  private mutating func write(
    _ arrangements: [MemberArrangement], _ columns: OrderedColumns, from places: [Int64: [Int64: Int64?]]
  ) {
    var (owners, members, changed): ([Int64], [Int64], [Int64]) = ([], [], [])
    for arrangement in arrangements {
      let places = places[arrangement.owner.key] ?? [:]
      let order = OrderPlaces.order(arrangement.members, isWhole: arrangement.isWhole, among: places)
      for change in OrderPlaces.changes(order, from: places.compactMapValues { $0 }) {
        owners.append(arrangement.owner.key)
        members.append(change.member)
        changed.append(change.place)
      }
    }
    guard !owners.isEmpty else { return }
    add(
      """
      UPDATE \(table: columns.table) AS t SET \(name: columns.place) = u.p \
      FROM unnest(\(integers: owners), \(integers: members), \(integers: changed)) AS u(o, m, p) \
      WHERE t.\(name: columns.owner) = u.o AND t.\(name: columns.member) = u.m
      """)
  }
}
