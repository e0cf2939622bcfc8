import Foundation
import Synchronization

@testable import Persist

/// A store in memory, to test contexts without a file.
final class MemoryStore: PersistentStore {
  struct Row {
    var entityIndex: Int
    var version: Int64
    var values: [StoredValue]
  }
  struct State {
    var rows: [String: [Int64: Row]] = [:]
    var counters: [String: Int64] = [:]
    /// Pairs of a to-many with links, by "Entity.relationship" of the side that tells; in order.
    var links: [String: [[ManagedObjectID]]] = [:]
    var orders: [String: [Int64: [ManagedObjectID]]] = [:]
    var calls = 0
    var commits: [RowWrites] = []
  }
  let identifier: String
  let type = "InMemory"
  let url: URL? = nil
  let model: ManagedObjectModel
  let isReadOnly: Bool
  let configuration: String?
  let state = Mutex(State())

  init(_ model: ManagedObjectModel, configuration: String? = nil, isReadOnly: Bool = false) {
    self.model = model
    self.configuration = configuration
    self.isReadOnly = isReadOnly
    identifier = UUID().uuidString
  }

  var calls: Int { state.withLock { $0.calls } }
  var commits: [RowWrites] { state.withLock { $0.commits } }

  func metadata() throws -> StoreMetadata { StoreMetadata(identifier: identifier, values: [:]) }
  func setMetadata(_ metadata: StoreMetadata) throws {}
  func close() throws {}
  func externalData(named name: String) throws -> Data { Data() }

  func rows(_ query: RowQuery) throws -> RowBatch {
    state.withLock { state in
      state.calls += 1
      return RowBatch(rows: find(query, state).map { key, row in
        RowBatch.Row(
          key: key, entityIndex: row.entityIndex, snapshot: query.keysOnly ? nil : snapshot(row))
      })
    }
  }

  func count(_ query: RowQuery) throws -> Int {
    state.withLock { state in
      state.calls += 1
      return find(query, state).count
    }
  }

  private func find(_ query: RowQuery, _ state: State) -> [(Int64, Row)] {
    let keys = query.keys.map(Set.init)
    var found = (state.rows[query.entity.root.name] ?? [:]).filter { key, row in
      let entity = model.entities[row.entityIndex]
      return (query.includesSubentities ? entity.isKind(of: query.entity) : entity == query.entity)
        && keys?.contains(key) ?? true && key > query.afterKey ?? .min
    }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    for order in query.sort.reversed() {
      let slot = query.entity.property(named: order.property)?.slot ?? 0
      found = found.enumerated().sorted { left, right in
        let result = ObjectOrder.compare(left.element.1.values[slot], right.element.1.values[slot])
        return result == 0 ? left.offset < right.offset : (result < 0) == order.isAscending
      }.map(\.element)
    }
    return Array(found.dropFirst(query.offset).prefix(query.limit ?? .max))
  }

  private func snapshot(_ row: Row) -> RowSnapshot {
    let entity = model.entities[row.entityIndex]
    var writer = RowChunkWriter(slotCount: entity.rowSlotCount)
    writer.beginRow(version: row.version)
    for property in entity.properties {
      switch row.values[property.slot] {
      case .objectID(let id):
        writer.setInteger(id.primaryKey ?? 0, slot: property.slot)
        if let slot = property.entityNumberSlot {
          writer.setInteger(Int64(model.entitiesByName[id.entityName]?.number ?? 0), slot: slot)
        }
      case .composite(let parts):
        for element in property.elements {
          writer.set(parts[element.path[1]] ?? .null, slot: element.slot, as: SlotForm(element.attribute))
        }
      case let value:
        if let attribute = property.attribute { writer.set(value, slot: property.slot, as: SlotForm(attribute)) }
      }
    }
    return writer.endRow()
  }

  private func linkName(_ property: Property) -> (name: String, isFirst: Bool) {
    guard let relationship = property.relationship, let back = model.inverse(of: relationship),
      let other = model.destination(of: relationship).property(named: back.name)
    else { return ("\(property.declaringEntity).\(property.name)", true) }
    let (own, their) = ("\(property.declaringEntity).\(property.name)", "\(other.declaringEntity).\(other.name)")
    return own <= their ? (own, true) : (their, false)
  }

  func related(by property: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    state.withLock { state in
      state.calls += 1
      guard let relationship = property.relationship else { return [] }
      var members: [ManagedObjectID] = []
      if let back = model.inverse(of: relationship), !back.isToMany,
        let slot = model.destination(of: relationship).property(named: back.name)?.slot
      {
        for (memberKey, row) in (state.rows[model.destination(of: relationship).root.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
          let member = model.entities[row.entityIndex]
          guard row.values.count > slot, case .objectID(let id) = row.values[slot], id.primaryKey == key else { continue }
          members.append(ManagedObjectID(entityName: member.name, storeIdentifier: identifier, key: .permanent(memberKey)))
        }
      } else {
        let link = linkName(property)
        let isReflexive = model.inverse(of: relationship)?.name == relationship.name
        for pair in state.links[link.name] ?? [] {
          if isReflexive {
            if pair[0].primaryKey == key { members.append(pair[1]) } else if pair[1].primaryKey == key {
              members.append(pair[0])
            }
          } else if link.isFirst ? pair[0].primaryKey == key : pair[1].primaryKey == key {
            members.append(link.isFirst ? pair[1] : pair[0])
          }
        }
        members.sort { ($0.primaryKey ?? 0) < ($1.primaryKey ?? 0) }
      }
      if relationship.isOrdered, let order = state.orders["\(property.declaringEntity).\(property.name)"]?[key] {
        members.sort { (order.firstIndex(of: $0) ?? .max) < (order.firstIndex(of: $1) ?? .max) }
      }
      return members
    }
  }

  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    try state.withLock { state in
      if isReadOnly { throw PersistError(.storeReadOnly, "") }
      state.calls += 1
      state.commits.append(writes)
      var conflicts: [RowConflict] = []
      func check(_ id: ManagedObjectID, _ entity: Entity, _ version: Int64) {
        let stored = state.rows[entity.root.name]?[id.primaryKey ?? 0]?.version
        if stored != version {
          conflicts.append(RowConflict(id: id, entity: entity, expectedVersion: version, storedVersion: stored))
        }
      }
      for update in writes.updates { check(update.id, update.entity, update.version) }
      for delete in writes.deletes { check(delete.id, delete.entity, delete.version) }
      if !conflicts.isEmpty { throw RowConflicts(conflicts: conflicts) }
      var receipt = CommitReceipt()
      var permanent: [ManagedObjectID: ManagedObjectID] = [:]
      for insert in writes.inserts {
        let root = insert.entity.root.name
        let key = (state.counters[root] ?? 0) + 1
        state.counters[root] = key
        let id = ManagedObjectID(entityName: insert.entity.name, storeIdentifier: identifier, key: .permanent(key))
        permanent[insert.id] = id
        receipt.inserted.append(id)
      }
      func resolved(_ value: StoredValue) -> StoredValue {
        if case .objectID(let id) = value { .objectID(permanent[id] ?? id) } else { value }
      }
      for (insert, id) in zip(writes.inserts, receipt.inserted) {
        state.rows[insert.entity.root.name, default: [:]][id.primaryKey ?? 0] = Row(
          entityIndex: insert.entity.number - 1, version: 1, values: insert.values.map(resolved))
      }
      for update in writes.updates {
        let (root, key) = (update.entity.root.name, update.id.primaryKey ?? 0)
        state.rows[root]?[key]?.version += 1
        for change in update.changes { state.rows[root]?[key]?.values[change.slot] = resolved(change.value) }
      }
      for link in writes.links {
        let property = link.entity.properties[link.slot]
        let name = linkName(property)
        let owner = permanent[link.owner] ?? link.owner
        let isReflexive = property.relationship.flatMap { model.inverse(of: $0) }?.name == property.name
        func pair(_ id: ManagedObjectID) -> [ManagedObjectID] {
          name.isFirst ? [owner, permanent[id] ?? id] : [permanent[id] ?? id, owner]
        }
        for id in link.added { state.links[name.name, default: []].append(pair(id)) }
        for id in link.removed {
          state.links[name.name]?.removeAll { $0 == pair(id) || isReflexive && $0 == pair(id).reversed() }
        }
      }
      for ordering in writes.orderings {
        let property = ordering.entity.properties[ordering.slot]
        let owner = permanent[ordering.owner] ?? ordering.owner
        state.orders["\(property.declaringEntity).\(property.name)", default: [:]][owner.primaryKey ?? 0] =
          ordering.members.map { permanent[$0] ?? $0 }
      }
      for delete in writes.deletes {
        state.rows[delete.entity.root.name]?[delete.id.primaryKey ?? 0] = nil
        for name in state.links.keys { state.links[name]?.removeAll { $0.contains(delete.id) } }
      }
      return receipt
    }
  }
}
