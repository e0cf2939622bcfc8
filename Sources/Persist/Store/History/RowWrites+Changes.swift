extension RowWrites {
  /// Calls `body` for each row whose change a history records as an update, with the slots of the changed properties.
  package func forEachRecordedUpdate(_ body: (ManagedObjectID.Key, Entity, [Int]) throws -> Void) throws {
    let changedMembers = changedMemberSlots
    func members(of key: ManagedObjectID.Key, _ entity: Entity) -> [Int] {
      guard !changedMembers.isEmpty, case .permanent(let key) = key else { return [] }
      return changedMembers[MemberOwner(entity: entity.number, key: key)] ?? []
    }
    for row in updates {
      let more = members(of: row.key, row.entity)
      try body(row.key, row.entity, more.isEmpty ? row.slots : row.slots + more)
    }
    for row in touches { try body(row.key, row.entity, members(of: row.key, row.entity)) }
  }

  /// An object with changed members.
  private struct MemberOwner: Hashable {
    let entity: Int
    let key: Int64
  }

  /// The slots of changed to-many relationships.
  private var changedMemberSlots: [MemberOwner: [Int]] {
    changedMembers.reduce(into: Dictionary()) { members, change in
      guard case .permanent(let key) = change.key else { return }
      members[MemberOwner(entity: change.entity.number, key: key), default: []].append(change.slot)
    }
  }
}
