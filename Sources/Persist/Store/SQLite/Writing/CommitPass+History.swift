/// Recording a save in the store's history.
extension CommitPass {
  /// Records the deletions, while the rows still have the values that are kept.
  mutating func recordDeletions() throws {
    guard var writer = history else { return }
    for row in writes.deletes {
      try writer.recordDeletion(of: key(of: row.key, row.entity), row.entity.number - 1)
    }
    history = writer
  }

  /// Records everything else, after it was written.
  mutating func recordChanges() throws {
    guard var writer = history else { return }
    for (insert, key) in zip(writes.inserts, insertedKeys) {
      try writer.record(.insert, insert.entity.number - 1, key: key)
    }
    let changedMembers = changedMembers
    func members(of entity: Entity, _ key: Int64) -> [Int] {
      changedMembers.isEmpty ? [] : changedMembers[MemberOwner(entity: entity.number, key: key)] ?? []
    }
    for row in writes.updates {
      let key = try key(of: row.key, row.entity)
      let more = members(of: row.entity, key)
      try writer.recordUpdate(of: key, row.entity.number - 1, changing: more.isEmpty ? row.slots : row.slots + more)
    }
    for row in writes.touches {
      let key = try key(of: row.key, row.entity)
      try writer.recordUpdate(of: key, row.entity.number - 1, changing: members(of: row.entity, key))
    }
    history = writer
  }

  /// An object with changed members.
  private struct MemberOwner: Hashable {
    let entity: Int
    let key: Int64
  }

  /// The slots of changed to-many relationships.
  private var changedMembers: [MemberOwner: [Int]] {
    writes.changedMembers.reduce(into: [:]) { members, change in
      guard case .permanent(let key) = change.key else { return }
      members[MemberOwner(entity: change.entity.number, key: key), default: []].append(change.slot)
    }
  }
}
