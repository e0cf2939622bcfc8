import Foundation
import Persist

/// Members of to-many relationships without an inverse.
extension CapturePass {
  /// The members have the facts, since each has at most one owner.
  mutating func captureOwned(
    _ relationship: SyncSchema.Relationship, by row: SyncStore.Row, _ identities: [Identity], _ time: UInt64,
    isNew: Bool, adopts: Bool
  ) throws {
    let rows = try step.store.members(relationship, of: row.entity, row.key)
    try tables.load(rows)
    var present: Set<Identity> = []
    for member in rows {
      let all = try tables.identities(of: member).sorted()
      present.formUnion(all)
      guard let first = all.first else { continue }
      let former = try lastOwner(relationship, of: all)
      if try former != nil && adopts || isOwner(identities, in: former) { continue }
      try setOwner(relationship, of: first, to: identities[0], time, after: former, row.entity)
    }
    if isNew || adopts { return }
    for identity in identities {
      let others = try tables.referrers(to: identity).subtracting(present).sorted()
      try tables.load(others)
      for other in others {
        // A member without a row can't have been removed.
        guard let member = try tables.row(of: other) else { continue }
        let all = try tables.identities(of: member).sorted()
        let former = try lastOwner(relationship, of: all)
        if try isOwner(identities, in: former), let first = all.first {
          try setOwner(relationship, of: first, to: nil, time, after: former, row.entity)
        }
      }
    }
  }

  private func lastOwner(_ relationship: SyncSchema.Relationship, of members: [Identity]) throws -> Register? {
    let registers = try members.compactMap { try step.owners(of: tables.facts(of: $0))[OneWayName(relationship)] }
    return registers.max { Register.isLater($1, than: $0) }
  }

  private func isOwner(_ identities: [Identity], in register: Register?) throws -> Bool {
    guard let (owner, life) = register?.reference, identities.contains(owner) else { return false }
    return try tables.facts(of: owner).count == life
  }

  private mutating func setOwner(
    _ relationship: SyncSchema.Relationship, of member: Identity, to owner: Identity?, _ time: UInt64,
    after former: Register?, _ entity: Entity
  ) throws {
    let content = try owner.map { PortableValue.bytes(referringTo: $0, life: try tables.facts(of: $0).count) }
    let register = Register(
      life: try tables.facts(of: member).count, stamp: stamp(time, after: former?.stamp),
      content: content ?? PortableValue.bytes(.null))
    let property = PropertyName(model: step.map.tag, entity: entity.name, name: relationship.name)
    try add(.owner(member, property), register.bytes)
  }
}
