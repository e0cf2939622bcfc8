import Foundation
import Persist

/// Computes the rows that represent changed objects.
///
/// The rows are a function of the facts: whatever the order in which facts arrive, the store has the same objects.
struct ProjectionPass {
  let step: SyncStep
  let uniqueness: Uniqueness
  private var queue: [Identity] = []
  private var seen: Set<Identity> = []
  /// Objects of which only attributes change, so that their relationships needn't be computed.
  private var attributesOnly: Set<Identity> = []
  /// Objects that were taken for such.
  private var relinked: [Identity] = []
  /// The rows to be, by each of their objects.
  private(set) var targets: [Identity: Target] = [:]
  private(set) var all: [Target] = []
  /// Rows that represented changed objects before, with all of these.
  private var formerRows: [SyncTables.RowID: Set<Identity>] = [:]
  /// The rows that represent changed objects.
  private(set) var usedRows: Set<SyncTables.RowID> = []

  /// A row to be.
  final class Target {
    let group: Uniqueness.Group
    let id: SyncTables.RowID
    /// The row as it is; nil for a new one.
    var row: SyncStore.Row?
    /// The registers of all objects of the row by property, the latest first.
    var registers: [String: [Register]] = [:]
    /// The last owners in to-many relationships without an inverse.
    var owners: [OneWayName: Register] = [:]

    var entity: Entity { group.entity }

    init(_ group: Uniqueness.Group, _ id: SyncTables.RowID) { (self.group, self.id) = (group, id) }
  }

  var tables: SyncTables { step.tables }

  init(_ step: SyncStep) {
    self.step = step
    uniqueness = Uniqueness(step)
  }

  mutating func add(_ identities: some Sequence<Identity>, attributesOnly: Set<Identity> = []) {
    for identity in identities {
      if !attributesOnly.contains(identity), self.attributesOnly.remove(identity) != nil { relinked.append(identity) }
      if !seen.contains(identity) { queue.append(identity) }
    }
    self.attributesOnly.formUnion(attributesOnly)
  }

  /// Whether only the attributes of a row change.
  func changesOnlyAttributes(_ target: Target) -> Bool {
    target.row != nil && target.group.members.count == 1 && attributesOnly.contains(target.group.winner)
  }

  /// Determines the rows of all changed objects.
  ///
  /// - Returns: The rows to delete.
  mutating func assignRows() throws -> Set<SyncTables.RowID> {
    var unpaired: [Target] = []
    while !queue.isEmpty || !relinked.isEmpty {
      let first = all.count
      let promoted = relinked.compactMap { targets[$0] }
      for target in promoted { try addOwners(of: target) }
      relinked = []
      var groups: [Uniqueness.Group] = []
      while let identity = queue.popLast() {
        guard seen.insert(identity).inserted else { continue }
        try addRow(of: identity)
        guard let group = try uniqueness.group(of: identity), group.members.contains(identity) else {
          // A row of an entity that the model doesn't have is parked in the store, and may come back.
          if let row = try tables.row(of: identity), step.model.entitiesByName[row.entity] != nil {
            try addDependents(of: identity)
            try step.setRow(of: identity, to: nil)
          }
          continue
        }
        for member in group.members where seen.insert(member).inserted { try addRow(of: member) }
        groups.append(group)
      }
      try assignRows(to: groups)
      unpaired += promoted + all[first...]
      guard queue.isEmpty && relinked.isEmpty else { continue }
      try addPartners(of: unpaired)
      unpaired = []
    }
    return Set(formerRows.keys).subtracting(usedRows)
  }

  /// Adds the former and the new partners in one-to-one relationships: both ends of such a pair change together.
  ///
  /// - Parameter changed: Rows to be, all of whose objects have been assigned.
  private mutating func addPartners(of changed: [Target]) throws {
    let rows = try step.rows(changed.map(\.id).filter { formerRows[$0] != nil })
    for target in changed { target.row = rows[target.id] }
    for target in changed where !changesOnlyAttributes(target) {
      for relationship in step.schema[target.entity].relationships where relationship.isOneToOne {
        let row = try destination(relationship, of: target)
        let former = target.row.flatMap { step.store.target(relationship, in: $0) }
        guard row != former else { continue }
        for row in [row, former] { if let row { add(try tables.identities(of: row).sorted()) } }
      }
    }
  }

  private mutating func addRow(of identity: Identity) throws {
    guard let row = try tables.row(of: identity), formerRows[row] == nil else { return }
    let all = Set(try tables.identities(of: row))
    formerRows[row] = all
    guard all.count > 1 else { return }
    attributesOnly.remove(identity)
    add(all.subtracting([identity]).sorted())
  }

  /// Adds the objects whose relationships depend on whether and where an object has a row.
  private mutating func addDependents(of identity: Identity) throws {
    add(try step.referrers(to: identity).sorted())
    add(Set(try tables.facts(of: identity).members.values.flatMap(\.keys)).sorted())
    add(try step.allOwners(of: identity).sorted())
  }

  private mutating func assignRows(to groups: [Uniqueness.Group]) throws {
    var rows: [SyncTables.RowID?] = []
    for group in groups {
      let candidates = try ([group.winner] + group.members).compactMap { try tables.row(of: $0) }
      let row = candidates.first { $0.entity == group.entity.name && !usedRows.contains($0) }
      if let row { usedRows.insert(row) }
      rows.append(row)
    }
    let new = rows.indices.filter { rows[$0] == nil }
    let keys = new.isEmpty ? [] : try step.store.store.reserveKeys(for: new.map { groups[$0].entity })
    for (index, key) in zip(new, keys) { rows[index] = step.store.row(groups[index].entity, key) }
    for (group, row) in zip(groups, rows) {
      guard let row else { continue }
      usedRows.insert(row)
      let target = Target(group, row)
      all.append(target)
      let isRegrouped = formerRows[row] != Set(group.members)
      for member in group.members {
        targets[member] = target
        guard isRegrouped else { continue }
        attributesOnly.remove(member)
        try addDependents(of: member)
        try step.setRow(of: member, to: row)
      }
      try readRegisters(of: target)
      if group.members.count > 1 || !attributesOnly.contains(group.winner) { try addOwners(of: target) }
    }
  }

  func readRegisters(of target: Target) throws {
    let constrained = step.schema[target.entity].constrained
    for member in target.group.members {
      let facts = try tables.facts(of: member)
      if !facts.owners.isEmpty {
        target.owners.merge(try step.owners(of: facts)) { Register.isLater($0, than: $1) ? $0 : $1 }
      }
      let found = try step.registers(of: facts, in: target.entity)
      if target.group.members.count == 1 && member == target.group.winner {
        target.registers = found
        break
      }
      for (name, registers) in found where member == target.group.winner || !constrained.contains(name) {
        target.registers[name, default: []] += registers
      }
    }
    guard target.group.members.count > 1 else { return }
    for (name, registers) in target.registers where registers.count > 1 {
      target.registers[name] = registers.sorted { Register.isLater($0, than: $1) }
    }
  }

  /// Adds the owners in whose order a row may get a position.
  private mutating func addOwners(of target: Target) throws {
    for relationship in step.schema[target.entity].relationships
    where relationship.inverse?.relationship?.isOrdered == true {
      if let (identity, _) = reference(relationship.name, of: target) { add([identity]) }
    }
    for member in target.group.members { add(try step.allOwners(of: member).sorted()) }
  }

  // MARK: References

  /// The object to which the latest register of a relationship refers.
  private func reference(_ name: String, of target: Target) -> (Identity, life: UInt32)? {
    target.registers[name]?.first.flatMap(\.reference)
  }

  /// The row that has another one as a member of a to-many relationship without an inverse.
  func owner(_ name: OneWayName, of target: Target) throws -> SyncTables.RowID? {
    guard let (identity, life) = target.owners[name]?.reference, let row = try row(of: identity, life: life),
      let relationship = step.model.entitiesByName[row.entity].flatMap({ step.schema[$0].relationship(name.name) }),
      relationship.isOneWay, relationship.property.declaringEntity == name.entity,
      target.entity.isKind(of: relationship.destination)
    else { return nil }
    return row
  }

  /// The row of an object in a life; nil if the object has been deleted since, or has no place.
  func row(of identity: Identity, life: UInt32) throws -> SyncTables.RowID? {
    guard try tables.facts(of: identity).count == life else { return nil }
    return try tables.row(of: identity)
  }

  /// The destination of a to-one relationship. If each end has at most one object, both have to agree: an object that
  /// was given to two belongs to the last one.
  func destination(_ relationship: SyncSchema.Relationship, of target: Target) throws -> SyncTables.RowID? {
    guard let (identity, life) = reference(relationship.name, of: target),
      let row = try self.row(of: identity, life: life), let entity = step.model.entitiesByName[row.entity],
      entity.isKind(of: relationship.destination)
    else { return nil }
    guard relationship.isOneToOne, let inverse = relationship.inverse else { return row }
    guard let other = try self.target(of: identity), let (own, ownLife) = reference(inverse.name, of: other),
      try self.row(of: own, life: ownLife) == target.id
    else { return nil }
    return row
  }

  /// The row to be of an object; that of an unchanged object as well.
  private func target(of identity: Identity) throws -> Target? {
    if let target = targets[identity] { return target }
    guard let group = try uniqueness.group(of: identity), let row = try tables.row(of: identity) else { return nil }
    let target = Target(group, row)
    try readRegisters(of: target)
    return target
  }

  /// The members of one end of a many-to-many relationship.
  func members(_ relationship: SyncSchema.Relationship, of target: Target) throws -> Set<SyncTables.RowID> {
    var rows: Set<SyncTables.RowID> = []
    for identity in target.group.members {
      let object = try tables.facts(of: identity)
      for other in try step.candidates(relationship, of: object, in: target.entity) {
        let facts = try tables.facts(of: other)
        guard let row = try self.row(of: other, life: facts.count), !rows.contains(row),
          let entity = step.model.entitiesByName[row.entity], entity.isKind(of: relationship.destination),
          try step.pair(relationship, object, facts)?.isPresent == true
        else { continue }
        rows.insert(row)
      }
    }
    return rows
  }

  /// The members of an ordered relationship in their order.
  func ordered(
    _ members: some Sequence<SyncTables.RowID>, _ relationship: SyncSchema.Relationship, of target: Target
  ) throws -> [SyncTables.RowID] {
    let places = try step.places(relationship.name, of: target.group.members, in: target.entity)
    let keyed = try members.map { row -> (row: SyncTables.RowID, place: Data?, identity: Identity) in
      let identities = try tables.identities(of: row).sorted()
      return (row, try step.place(of: identities, in: places)?.content, identities.first ?? Identity(bytes: Data()))
    }
    return keyed.sorted { left, right in
      switch (left.place, right.place) {
      case (let first?, let second?): first == second ? left.identity < right.identity : first.precedes(second)
      case (.some, nil): true
      case (nil, .some): false
      case (nil, nil): left.identity < right.identity
      }
    }.map(\.row)
  }
}
