import Foundation
import Persist

/// The writes that make the rows of a store what the facts say.
struct RowWriting {
  let pass: ProjectionPass
  private(set) var writes = RowWrites()
  private(set) var problems: [SyncProblem] = []
  /// The members that rows gain and lose, by relationship.
  private var gained: [End: [SyncTables.RowID]] = [:]
  private var lost: [End: Set<SyncTables.RowID>] = [:]
  /// The slots of relationships whose members change, by row.
  private var changedMembers: [SyncTables.RowID: Set<Int>] = [:]
  private var updated: Set<SyncTables.RowID> = []
  private let deleted: Set<SyncTables.RowID>
  /// The changed rows that are members of to-many relationships without an inverse.
  private var owned: [End: Set<SyncTables.RowID>] = [:]
  private let changed: Set<SyncTables.RowID>
  /// The pairs of relationships that are their own inverses.
  private var pairs: Set<Pair> = []

  private struct Pair: Hashable {
    var name: String
    var low: Int64
    var high: Int64
  }

  /// A relationship of a row.
  private struct End: Hashable {
    var row: SyncTables.RowID
    var name: String
  }

  private var store: SyncStore { pass.step.store }

  init(_ pass: ProjectionPass, deleting deleted: Set<SyncTables.RowID>) throws {
    (self.pass, self.deleted, changed) = (pass, deleted, Set(pass.all.map(\.id)))
    try delete()
    for target in pass.all { try write(target) }
    for target in pass.all {
      for name in target.owners.keys {
        guard let owner = try pass.owner(name, of: target) else { continue }
        owned[End(row: owner, name: name.name), default: []].insert(target.id)
      }
    }
    for target in pass.all where !pass.changesOnlyAttributes(target) { try writeMembers(target) }
    for target in pass.all where !pass.changesOnlyAttributes(target) { try writeOrders(target) }
    for target in pass.all {
      guard let row = target.row, let slots = changedMembers[target.id] else { continue }
      for slot in slots.sorted() {
        writes.changedMembers.append(.init(key: .permanent(row.key), entity: row.entity, slot: slot))
      }
      if !updated.contains(target.id) {
        writes.touches.append(.init(key: .permanent(row.key), entity: row.entity, version: row.snapshot.version))
      }
    }
  }

  private mutating func delete() throws {
    for (name, ids) in Dictionary(grouping: deleted, by: \.entity).sorted(by: { $0.key < $1.key }) {
      guard let entity = pass.step.model.entitiesByName[name] else { continue }
      for (key, row) in try store.rows(of: entity, ids.map(\.key)).sorted(by: { $0.key < $1.key }) {
        writes.deletes.append(.init(key: .permanent(key), entity: entity, version: row.snapshot.version))
      }
    }
  }

  // MARK: Values

  private mutating func write(_ target: ProjectionPass.Target) throws {
    let part = pass.step.schema[target.entity]
    var values = SlotValues()
    var slots: Set<Int> = []
    var composites: [Int: [String: StoredValue]] = [:]
    for attribute in part.attributes {
      let value = attribute.value(of: target.registers[attribute.name] ?? [])
      let isChanged = try target.row.map { try store.value(attribute, in: $0) != value } ?? true
      if isChanged { slots.insert(attribute.propertySlot) }
      if attribute.path.isEmpty {
        if isChanged && !value.isNull { values[attribute.slot] = value }
        require(value, of: target.entity.properties[attribute.slot], in: target)
      } else {
        composites[attribute.propertySlot, default: [:]].insert(value, at: attribute.path[...])
      }
    }
    for (slot, value) in composites where slots.contains(slot) {
      if !value.values.allSatisfy(\.isNull) { values[slot] = .composite(value) }
    }
    let relationships = pass.changesOnlyAttributes(target) ? [] : part.relationships
    for relationship in relationships where relationship.isRegister {
      let row = try pass.destination(relationship, of: target)
      if row == nil, let (other, _) = target.registers[relationship.name]?.first?.reference {
        pass.tables.addReferrer(target.group.winner, to: other)
      }
      let former = target.row.flatMap { store.target(relationship, in: $0) }
      let entity = row.flatMap { pass.step.model.entitiesByName[$0.entity] }
      let value = row.flatMap { row in entity.map { StoredValue.objectID(store.identifier($0, row.key)) } } ?? .null
      require(value, of: relationship.property, in: target)
      // A row that takes a deleted one's place has another entity, perhaps.
      guard row != former || row?.entity != former?.entity || target.row == nil else { continue }
      if target.row == nil && value.isNull { continue }
      slots.insert(relationship.property.slot)
      if !value.isNull { values[relationship.property.slot] = value }
      if let inverse = relationship.inverse, inverse.isToMany {
        if let row { gained[End(row: row, name: inverse.name), default: []].append(target.id) }
        if let former { lost[End(row: former, name: inverse.name), default: []].insert(target.id) }
        for owner in [row, former] { if let owner { changedMembers[owner, default: []].insert(inverse.slot) } }
      }
    }
    let key = ManagedObjectID.Key.permanent(target.id.key)
    guard let row = target.row else {
      writes.inserts.append(.init(key: key, entity: target.entity, values: values))
      return
    }
    guard !slots.isEmpty else { return }
    writes.updates.append(
      .init(key: key, entity: row.entity, version: row.snapshot.version, slots: slots.sorted(), values: values))
    updated.insert(target.id)
  }

  private mutating func require(_ value: StoredValue, of property: Property, in target: ProjectionPass.Target) {
    guard value.isNull, property.isRequired else { return }
    problems.append(SyncProblem(objectID: store.identifier(target.entity, target.id.key), missing: property.name))
  }

  // MARK: Members

  private mutating func writeMembers(_ target: ProjectionPass.Target) throws {
    for relationship in pass.step.schema[target.entity].relationships
    where relationship.hasMemberFacts || relationship.isOneWay {
      let present = Set(try target.row.map { try store.members(relationship, of: $0.entity, $0.key) } ?? [])
      // The owner of an unchanged member is unchanged.
      let wanted =
        relationship.isOneWay
        ? present.subtracting(changed).union(owned[End(row: target.id, name: relationship.name)] ?? [])
        : try pass.members(relationship, of: target)
      var (added, removed) = (wanted.subtracting(present), present.subtracting(wanted).subtracting(deleted))
      if relationship.isOwnInverse {
        added = added.filter { writesPair(relationship.name, target.id, $0) }
        removed = removed.filter { writesPair(relationship.name, target.id, $0) }
      }
      guard !added.isEmpty || !removed.isEmpty else { continue }
      self.writes.links.append(
        .init(
          owner: store.identifier(target.entity, target.id.key), entity: target.entity,
          slot: relationship.property.slot, added: added.sorted { $0.key < $1.key }.compactMap(identifier),
          removed: removed.sorted { $0.key < $1.key }.compactMap(identifier)))
      let inverse = relationship.inverse
      for (others, isGain) in [(added, true), (removed, false)] {
        for other in others {
          note(other, in: relationship.property, of: target.id, isGain: isGain)
          if let inverse { note(target.id, in: inverse, of: other, isGain: isGain) }
        }
      }
    }
  }

  /// Whether a pair of a relationship that is its own inverse hasn't been written from its other end.
  private mutating func writesPair(_ name: String, _ row: SyncTables.RowID, _ other: SyncTables.RowID) -> Bool {
    let pair = Pair(name: name, low: min(row.key, other.key), high: max(row.key, other.key))
    return pairs.insert(pair).inserted
  }

  private mutating func note(
    _ other: SyncTables.RowID, in relationship: Property, of row: SyncTables.RowID, isGain: Bool
  ) {
    changedMembers[row, default: []].insert(relationship.slot)
    let end = End(row: row, name: relationship.name)
    if isGain { gained[end, default: []].append(other) } else { lost[end, default: []].insert(other) }
  }

  private func identifier(_ row: SyncTables.RowID) -> ManagedObjectID? {
    pass.step.model.entitiesByName[row.entity].map { store.identifier($0, row.key) }
  }

  // MARK: Orders

  private mutating func writeOrders(_ target: ProjectionPass.Target) throws {
    for relationship in pass.step.schema[target.entity].relationships where relationship.isOrdered {
      let end = End(row: target.id, name: relationship.name)
      let present = try target.row.map { try store.members(relationship, of: $0.entity, $0.key) } ?? []
      let (new, gone) = (gained[end] ?? [], (lost[end] ?? []).union(deleted))
      var members = present.filter { !gone.contains($0) }
      let rest = members
      let known = Set(members)
      members += new.filter { !known.contains($0) }
      let wanted = try pass.ordered(members, relationship, of: target)
      guard wanted != rest else { continue }
      writes.orderings.append(
        .init(
          owner: store.identifier(target.entity, target.id.key), entity: target.entity,
          slot: relationship.property.slot, members: wanted.compactMap(identifier)))
      changedMembers[target.id, default: []].insert(relationship.property.slot)
    }
  }
}
