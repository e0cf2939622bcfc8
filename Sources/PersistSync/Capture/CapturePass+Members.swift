import Foundation
import Persist

/// Members and orders of to-many relationships.
extension CapturePass {
  mutating func captureMembers(
    _ relationship: SyncSchema.Relationship, of row: SyncStore.Row, _ identities: [Identity], _ time: UInt64,
    isNew: Bool, adopts: Bool
  ) throws {
    var members: [[Identity]] = []
    for member in try step.store.members(relationship, of: row.entity, row.key) {
      let all = try tables.identities(of: member).sorted()
      if !all.isEmpty { members.append(all) }
    }
    for others in members where try !hasPair(relationship, identities, others, orHad: adopts) {
      try setPair(identities[0], others[0], of: relationship, isPresent: true, at: time)
    }
    if isNew || adopts { return }
    let present = Set(members.joined())
    for identity in identities {
      let object = try tables.facts(of: identity)
      for other in try step.candidates(relationship, of: object, in: row.entity) where !present.contains(other) {
        // A member without a row can't have been removed.
        guard try tables.row(of: other) != nil,
          try step.pair(relationship, object, tables.facts(of: other))?.isPresent == true
        else { continue }
        try setPair(identity, other, of: relationship, isPresent: false, at: time)
      }
    }
  }

  private func hasPair(
    _ relationship: SyncSchema.Relationship, _ identities: [Identity], _ others: [Identity], orHad: Bool
  ) throws -> Bool {
    for identity in identities {
      let object = try tables.facts(of: identity)
      for other in others {
        guard let pair = try step.pair(relationship, object, tables.facts(of: other)) else { continue }
        if orHad || pair.isPresent { return true }
      }
    }
    return false
  }

  /// One end has the fact, so that both ends agree on it.
  private mutating func setPair(
    _ identity: Identity, _ other: Identity, of relationship: SyncSchema.Relationship, isPresent: Bool, at time: UInt64
  ) throws {
    let swaps = relationship.isOwnInverse ? other < identity : relationship.isOtherEnd
    let (owner, member) = swaps ? (other, identity) : (identity, other)
    let (ownerFacts, memberFacts) = (try tables.facts(of: owner), try tables.facts(of: member))
    let former = try step.pair(relationship, tables.facts(of: identity), tables.facts(of: other))
    guard let entity = try step.entity(of: ownerFacts) else { return }
    let name = swaps && !relationship.isOwnInverse ? relationship.inverse?.name : relationship.name
    let register = Register(
      life: ownerFacts.count, otherLife: memberFacts.count, stamp: stamp(time, after: former?.stamp),
      content: isPresent ? Register.present : Register.absent)
    let property = PropertyName(model: step.map.tag, entity: entity.name, name: name ?? "")
    try add(.member(owner, property, member), register.bytes)
  }

  // MARK: Orders

  mutating func captureOrder(_ name: String, of id: SyncTables.RowID) throws {
    let owners = try tables.identities(of: id).sorted()
    guard let entity = step.model.entitiesByName[id.entity], let relationship = schema[entity].relationship(name),
      let identity = owners.first
    else { return }
    let object = try tables.facts(of: identity)
    let known = try step.places(name, of: owners, in: entity)
    var members: [(identity: Identity, place: Register?)] = []
    for row in try step.store.members(relationship, of: entity, id.key) {
      let identities = try tables.identities(of: row).sorted()
      if let first = identities.first { members.append((first, try step.place(of: identities, in: known))) }
    }
    let change = changes[id]
    let time = [change?.properties[name], change?.whole, isBirth ? 0 : record.time].compactMap { $0 }.first ?? 0
    for (index, place) in OrderPlace.changes(of: members.map { $0.place?.content }) {
      let (member, former) = members[index]
      let register = Register(
        life: object.count, otherLife: try tables.facts(of: member).count, stamp: stamp(time, after: former?.stamp),
        content: place)
      let property = PropertyName(model: step.map.tag, entity: entity.name, name: name)
      try add(.place(identity, property, member), register.bytes)
    }
  }
}
