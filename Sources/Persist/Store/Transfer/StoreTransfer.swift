import Foundation

/// Reads all rows of a store, or some of them, in slices, to insert them into a store of any engine.
///
/// Rows keep their keys and versions, and relationships their orders. Memory use doesn't grow with the store.
package final class StoreTransfer {
  private let source: any PersistentStore
  private let decoder: RowDecoder
  private let entities: [Entity]
  /// The rows to read; nil for all.
  private let selection: RowSelection?
  private var position = 0
  private var lastKey = Int64.min
  /// The number of the entity's selected rows that were read.
  private var selected = 0
  /// The number of rows to read at once: fewer if they have large values.
  private var sliceSize = StoreTransfer.firstSliceSize
  private static let firstSliceSize = 64
  private static let largestSliceSize = 1000
  /// The size in bytes of the texts and data that a slice should have at most.
  private static let sliceBytes = 16 << 20
  /// The number of members that are read at once.
  private static let memberLimit = 20_000

  /// - Parameters:
  ///   - identifier: The identifier of the store that gets the rows.
  ///   - selection: The rows to read, with the relationships among them; nil for all.
  package init(_ source: any PersistentStore, to identifier: String, only selection: RowSelection? = nil) {
    self.source = source
    self.selection = selection
    decoder = RowDecoder(source.model, storeIdentifier: identifier) { try source.externalData(named: $0) }
    entities = source.model.entities.filter { !$0.isAbstract }
  }

  /// The next slice; nil after the last one.
  package func next() throws -> ImportSlice? {
    while position < entities.count {
      let entity = entities[position]
      let rows = try selection.map { try nextRows(of: entity, among: $0) } ?? nextRows(of: entity)
      guard !rows.isEmpty else { continue }
      let slice = try slice(rows, of: entity)
      if position < entities.count, entities[position] === entity { adaptSliceSize(to: slice) }
      return slice
    }
    return nil
  }

  private func nextRows(of entity: Entity) throws -> RowBatch {
    let rows = try source.rows(
      RowQuery(entity: entity, includesSubentities: false, afterKey: lastKey, limit: sliceSize))
    if rows.readCount < sliceSize { beginNextEntity() } else { lastKey = rows.greatestReadKey ?? .max }
    return rows
  }

  private func nextRows(of entity: Entity, among selection: RowSelection) throws -> RowBatch {
    let all = selection.keys[entity.index]
    let keys = Array(all[selected..<min(selected + sliceSize, all.count)])
    selected += keys.count
    if selected == all.count { beginNextEntity() }
    guard !keys.isEmpty else { return RowBatch() }
    return try source.rows(RowQuery(entity: entity, includesSubentities: false, keys: keys))
  }

  private func beginNextEntity() {
    position += 1
    lastKey = .min
    selected = 0
    sliceSize = Self.firstSliceSize
  }

  private func slice(_ rows: RowBatch, of entity: Entity) throws -> ImportSlice {
    var slice = ImportSlice()
    for row in rows {
      guard let snapshot = row.snapshot else { continue }
      slice.inserts.append(
        RowWrites.Insert(
          key: .permanent(row.key), entity: entity,
          values: selectedReferences(try decoder.values(snapshot, of: entity)),
          version: max(1, snapshot.version)))
    }
    slice.members = Array(repeating: [], count: slice.inserts.count)
    for property in entity.properties where isListed(property) {
      let members = try members(by: property, of: entity, keys: slice.inserts.map(Self.key))
      for (index, insert) in slice.inserts.enumerated() {
        let keys = selectedKeys(members[Self.key(insert)] ?? [], by: property)
        guard !keys.isEmpty else { continue }
        slice.members[index].append(.init(slot: property.slot, keys: keys))
      }
    }
    return slice
  }

  /// Reads more rows with the next slice, or fewer if the last ones were large.
  private func adaptSliceSize(to slice: ImportSlice) {
    let count = slice.inserts.count
    guard count > 0 else { return }
    let bytes = slice.inserts.reduce(0) { sum, insert in
      sum + insert.values.slots.reduce(0) { $0 + (insert.values[$1]?.contentSize ?? 0) }
    }
    let fitting = Self.sliceBytes / max(1, bytes / count)
    sliceSize = min(max(1, fitting), 4 * count, Self.largestSliceSize)
  }

  /// The values without references to rows that aren't selected.
  private func selectedReferences(_ values: SlotValues) -> SlotValues {
    guard let selection else { return values }
    var selected = values
    for slot in values.slots {
      guard case .objectID(let id)? = values[slot], let entity = source.model.entitiesByName[id.entityName],
        id.primaryKey.map({ selection.contains($0, inHierarchyOf: entity) }) != true
      else { continue }
      selected[slot] = .null
    }
    return selected
  }

  private func selectedKeys(_ keys: [Int64], by property: Property) -> [Int64] {
    guard let selection, let relationship = property.relationship else { return keys }
    let destination = source.model.destination(of: relationship)
    return keys.filter { selection.contains($0, inHierarchyOf: destination) }
  }

  private static func key(_ insert: RowWrites.Insert) -> Int64 {
    if case .permanent(let key) = insert.key { key } else { 0 }
  }

  // MARK: Members

  /// Whether the members of a relationship have to be listed. Otherwise their own rows name the owner.
  private func isListed(_ property: Property) -> Bool {
    guard let relationship = property.relationship, relationship.isToMany, !property.isTransient else { return false }
    let inverse = relationship.inverse.flatMap { source.model.destination(of: relationship).property(named: $0) }
    return relationship.isOrdered || inverse?.isToOne != true
  }

  private func members(by property: Property, of entity: Entity, keys: [Int64]) throws -> [Int64: [Int64]] {
    guard var start = keys.min(), let end = keys.max() else { return Dictionary() }
    var found: [Int64: [Int64]] = Dictionary()
    while start <= end {
      let window = try source.related(by: property, of: entity, owners: start...end, limit: Self.memberLimit)
      guard let last = window.end else {
        // The first owner alone exceeds the limit.
        found[start] = try source.related(by: property, of: entity, key: start).compactMap(\.primaryKey)
        start += 1
        continue
      }
      for (owner, members) in window.byOwner where owner <= last { found[owner] = members.compactMap(\.primaryKey) }
      start = last + 1
    }
    return found
  }
}

extension StoredValue {
  /// The size of the texts and data in bytes.
  @inline(never)
  fileprivate var contentSize: Int {
    switch self {
    case .string(let text), .uri(let text): text.utf8.count
    case .data(let data): data.count
    case .composite(let elements): elements.values.reduce(0) { $0 + $1.contentSize }
    default: 0
    }
  }
}
