import Foundation
import Persist

/// The rows of the store that is synchronized, in the terms of facts.
struct SyncStore {
  let store: any PersistentStore
  /// Held as long as it is read.
  private let state: (any StoreGeneration)?
  let model: ManagedObjectModel
  let schema: SyncSchema
  /// The rows of the store, or of one of its states.
  private let source: any RowSource
  /// Read once: the store's own is asked for through its protocol.
  private let storeIdentifier: String

  /// - Parameter state: The state of the store that is read; nil for the present one.
  init(
    _ store: any PersistentStore, _ model: ManagedObjectModel, _ schema: SyncSchema,
    reading state: (any StoreGeneration)? = nil
  ) {
    (self.store, self.model, self.schema, storeIdentifier) = (store, model, schema, store.identifier)
    self.state = state
    source = state?.rows ?? store
  }

  /// A row with its values.
  struct Row {
    let entity: Entity
    let key: Int64
    let snapshot: RowSnapshot
  }

  private static let groupSize = 500

  /// The rows with keys; those that don't exist are missing.
  func rows(of entity: Entity, _ keys: [Int64]) throws -> [Int64: Row] {
    var found: [Int64: Row] = [:]
    for start in stride(from: 0, to: keys.count, by: Self.groupSize) {
      let group = Array(keys[start..<min(start + Self.groupSize, keys.count)])
      let batch = try source.rows(RowQuery(entity: entity, includesSubentities: false, keys: group))
      for row in batch {
        if let snapshot = row.snapshot { found[row.key] = Row(entity: entity, key: row.key, snapshot: snapshot) }
      }
    }
    return found
  }

  /// The rows with identifiers, in the order of these; nil for one that doesn't exist.
  func rows(_ ids: [SyncTables.RowID]) throws -> [Row?] {
    var places: [String: [Int]] = [:]
    var start = 0
    while start < ids.count {
      let end = ids[start...].firstIndex { $0.entity != ids[start].entity } ?? ids.count
      places[ids[start].entity, default: []].append(contentsOf: start..<end)
      start = end
    }
    var found: [Row?] = Array(repeating: nil, count: ids.count)
    for (name, places) in places {
      guard let entity = model.entitiesByName[name] else { continue }
      for first in stride(from: 0, to: places.count, by: Self.groupSize) {
        let group = places[first..<min(first + Self.groupSize, places.count)]
        let placesByKey = Dictionary(group.map { (ids[$0].key, $0) }, uniquingKeysWith: { first, _ in first })
        for row in try source.rows(Self.query(entity, group.map { ids[$0].key })) {
          guard let place = placesByKey[row.key], let snapshot = row.snapshot else { continue }
          found[place] = Row(entity: entity, key: row.key, snapshot: snapshot)
        }
      }
    }
    return found
  }

  /// A query for rows; it may find others too.
  private static func query(_ entity: Entity, _ keys: [Int64]) -> RowQuery {
    // Neighbors are read one after another, instead of being looked up.
    if let least = keys.min(), let greatest = keys.max(), least > 0, greatest - least < 2 * Int64(keys.count) {
      let limit = Int(greatest - least) + 1
      return RowQuery(entity: entity, includesSubentities: false, afterKey: least - 1, limit: limit)
    }
    return RowQuery(entity: entity, includesSubentities: false, keys: keys)
  }

  /// The next rows of an entity, in the order of their keys.
  ///
  /// - Returns: The rows, and the key of the last one; nil at the end.
  func rows(of entity: Entity, after key: Int64, limit: Int) throws -> (rows: [Row], last: Int64?) {
    let query = RowQuery(entity: entity, includesSubentities: false, afterKey: key, limit: limit)
    let batch = try source.rows(query)
    let rows = batch.compactMap { row in row.snapshot.map { Row(entity: entity, key: row.key, snapshot: $0) } }
    return (rows, batch.readCount == limit ? batch.greatestReadKey : nil)
  }

  /// Visits all rows of an entity, in the order of their keys.
  func forEachGroup(of entity: Entity, _ body: ([Row]) throws -> Void) throws {
    var last: Int64? = .min
    while let key = last {
      let group = try rows(of: entity, after: key, limit: Self.groupSize)
      try body(group.rows)
      last = group.last
    }
  }

  func value(_ attribute: SyncSchema.Attribute, in row: Row) throws -> StoredValue {
    let count = row.entity.rowSlotCount
    if attribute.form == .externalData, !row.snapshot.isNull(attribute.slot, of: count),
      case .file(let name) = row.snapshot.externalContent(attribute.slot)
    {
      return .data(try source.externalData(named: name))
    }
    return row.snapshot.value(attribute.slot, as: attribute.form, slotCount: count)
  }

  /// The row to which a to-one relationship leads.
  func target(_ relationship: SyncSchema.Relationship, in row: Row) -> SyncTables.RowID? {
    let count = row.entity.rowSlotCount
    let property = relationship.property
    guard !row.snapshot.isNull(property.slot, of: count) else { return nil }
    var target = relationship.destination
    if let slot = property.entityNumberSlot, !row.snapshot.isNull(slot, of: count) {
      let index = Int(clamping: row.snapshot.integer(slot)) - 1
      if model.entities.indices.contains(index) { target = model.entities[index] }
    }
    return self.row(target, row.snapshot.integer(property.slot))
  }

  /// The members of a to-many relationship, in order if it is ordered.
  func members(_ relationship: SyncSchema.Relationship, of entity: Entity, _ key: Int64) throws
    -> [SyncTables.RowID]
  {
    try source.related(by: relationship.property, of: entity, key: key).compactMap { id in
      guard let entity = model.entitiesByName[id.entityName], let key = id.primaryKey else { return nil }
      return row(entity, key)
    }
  }

  /// The objects whose rows are inserted, updated and deleted.
  func changes(of writes: RowWrites) -> SavedChanges {
    func ids(_ rows: some Sequence<(Entity, ManagedObjectID.Key)>) -> Set<ManagedObjectID> {
      Set(
        rows.lazy.map { entity, key in
          ManagedObjectID(entityName: entity.name, storeIdentifier: storeIdentifier, key: key)
        })
    }
    let touched = ids(writes.touches.lazy.map { ($0.entity, $0.key) })
    return SavedChanges(
      inserted: ids(writes.inserts.lazy.map { ($0.entity, $0.key) }),
      updated: ids(writes.updates.lazy.map { ($0.entity, $0.key) }).union(touched),
      deleted: ids(writes.deletes.lazy.map { ($0.entity, $0.key) }))
  }

  /// The writes that set columns of rows to nil.
  func clearing(_ columns: [(row: Row, slot: Int)]) -> RowWrites {
    var writes = RowWrites()
    let slots = Dictionary(grouping: columns) { self.row($0.row.entity, $0.row.key) }
    for (id, columns) in slots.sorted(by: { ($0.key.root, $0.key.key) < ($1.key.root, $1.key.key) }) {
      guard let row = columns.first?.row else { continue }
      writes.updates.append(
        .init(
          key: .permanent(id.key), entity: row.entity, version: row.snapshot.version,
          slots: columns.map(\.slot).sorted(), values: SlotValues()))
    }
    return writes
  }

  func row(_ entity: Entity, _ key: Int64) -> SyncTables.RowID {
    SyncTables.RowID(root: entity.root.name, entity: entity.name, key: key)
  }

  func identifier(_ entity: Entity, _ key: Int64) -> ManagedObjectID {
    ManagedObjectID(entityName: entity.name, storeIdentifier: storeIdentifier, key: .permanent(key))
  }
}
