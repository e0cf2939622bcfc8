/// An ordered relationship of one row, identified by the members' columns.
package struct OrderedOwner: Hashable, Sendable {
  package let table: String
  /// The column with the owner's key.
  package let column: String
  package let orderColumn: String
  package let key: Int64

  package init(table: String, column: String, orderColumn: String, key: Int64) {
    self.table = table
    self.column = column
    self.orderColumn = orderColumn
    self.key = key
  }

  /// The owner to which a row's own column leads; nil if the owner's members aren't ordered.
  ///
  /// - Parameters:
  ///   - slot: The slot of the row's to-one relationship.
  ///   - place: The table of the row.
  ///   - key: Returns the owner's key.
  package init?(at slot: Int, in place: TableMap.EntityTable, key: () throws -> Int64) rethrows {
    guard let order = place.orderColumns[slot], let column = place.column(slot: slot) else { return nil }
    self.init(table: place.table, column: column.name, orderColumn: order, key: try key())
  }
}

/// A new order of all members of an owner, or members to move to the end of it.
package struct MemberArrangement: Sendable {
  package let owner: OrderedOwner
  /// The column with a member's key.
  package let memberColumn: String
  package let members: [Int64]
  package let isWhole: Bool

  /// The arrangements of a save: changed orders, and members without a given position, which are appended.
  ///
  /// - Parameters:
  ///   - writes: The save.
  ///   - map: The layout of the store.
  ///   - plans: The plans of the store.
  ///   - new: New members of ordered relationships that have no position yet.
  ///   - key: Returns the key of a row.
  package static func all(
    of writes: RowWrites, in map: TableMap, _ plans: StorePlans, appending new: [OrderedOwner: [Int64]],
    key: (ManagedObjectID) throws -> Int64
  ) throws -> [MemberArrangement] {
    var new = new
    var all: [MemberArrangement] = []
    for ordering in writes.orderings {
      let entity = try plans.plan(forWriting: ordering.entity).entity
      let ownerKey = try key(ordering.owner)
      let members = try ordering.members.map(key)
      switch map[entity].toMany[ordering.slot] {
      case .join(let join)?:
        guard let order = join.orderColumn else { continue }
        let owner = OrderedOwner(table: join.table, column: join.ownColumn, orderColumn: order, key: ownerKey)
        all.append(
          MemberArrangement(
            owner: owner, memberColumn: join.memberColumn, members: members, isWhole: ordering.isWhole))
      case .foreignKey(let place)?:
        guard let order = place.orderColumn else { continue }
        let owner = OrderedOwner(table: place.table, column: place.column, orderColumn: order, key: ownerKey)
        let listed = Set(members)
        let unlisted = (new.removeValue(forKey: owner) ?? []).filter { !listed.contains($0) }
        all.append(
          MemberArrangement(
            owner: owner, memberColumn: "Z_PK", members: ordering.isWhole ? members : unlisted + members,
            isWhole: ordering.isWhole))
      case nil: continue
      }
    }
    for (owner, members) in new {
      all.append(MemberArrangement(owner: owner, memberColumn: "Z_PK", members: members, isWhole: false))
    }
    return all
  }
}
