import Foundation

extension SavePass {
  /// Takes a store's receipt: new objects get their keys, and every object written a snapshot of what was written, so
  /// that nothing needs to be read again.
  func accept(_ writes: StoreWrites, _ receipt: CommitReceipt) throws {
    guard receipt.inserted.count == writes.inserted.count else {
      throw PersistError(
        .saveFailed, at: .store(writes.tables.store.url),
        "The store inserted \(receipt.inserted.count) of \(writes.inserted.count) rows.")
    }
    var permanent: [ManagedObjectID.Key: ManagedObjectID] = [:]
    permanent.reserveCapacity(writes.inserted.count)
    for (object, id) in zip(writes.inserted, receipt.inserted) {
      permanent[.temporary(UInt64(bitPattern: object.key))] = id
    }
    var writers = SnapshotWriters(layouts: context.layouts, permanent: permanent)
    for (object, id) in zip(writes.inserted, receipt.inserted) {
      object.snapshot = writers.snapshot(of: object, version: 1)
      settle(object, permanent)
      give(object, id, in: writes.tables)
    }
    for object in writes.updated {
      if object.hasPersistentChangedValues, let old = object.snapshot {
        object.snapshot = writers.snapshot(of: object, version: old.version + 1)
      }
      settle(object, permanent)
    }
    for object in writes.deleted { object.detach() }
  }

  /// Changes are now what is stored; only transient values are left in the object.
  private func settle(_ object: ManagedObject, _ permanent: [ManagedObjectID.Key: ManagedObjectID]) {
    if object.layout.transientSlots.isEmpty {
      object.pending = []
    } else if !object.pending.isEmpty {
      for property in object.layout.properties where !property.isTransient { object.pending[property.slot] = nil }
    }
    for members in object.toManys { members?.accept { permanent[$0.key] ?? $0 } }
  }

  /// Moves a new object to the rows of its store.
  private func give(_ object: ManagedObject, _ id: ManagedObjectID, in tables: StoreTables) {
    guard let key = id.primaryKey else { return }
    object.table?.map.remove(object.key)
    let table = tables.table(for: object.layout)
    // A fault for a key that had no row yet: it is none of the new object's business, and has no row of its own.
    if let stale = table.map[key] { stale.detach() }
    object.table = table
    object.key = key
    object.identifier = id
    table.map.insert(object, key: key)
  }
}

/// Writes the snapshots of saved objects, those of an entity one after the other.
private struct SnapshotWriters {
  private var writers: [RowChunkWriter?]
  private let layouts: [EntityLayout]
  private let permanent: [ManagedObjectID.Key: ManagedObjectID]
  private var indexByName: [String: Int] = [:]

  init(layouts: [EntityLayout], permanent: [ManagedObjectID.Key: ManagedObjectID]) {
    self.layouts = layouts
    self.permanent = permanent
    writers = Array(repeating: nil, count: layouts.count)
  }

  /// The row as it is stored now: what the object had, with its changes.
  mutating func snapshot(of object: ManagedObject, version: Int64) -> RowSnapshot {
    let layout = object.layout
    var writer = writers[layout.index] ?? RowChunkWriter(slotCount: layout.rowSlotCount)
    writers[layout.index] = nil
    writer.beginRow(version: version)
    for property in layout.properties where !property.isTransient && !property.isToMany {
      if !object.pending.isEmpty, let value = object.pending[property.slot] {
        write(value, of: property, layout, to: &writer)
      } else if let old = object.snapshot {
        copy(property, layout, from: old, to: &writer)
      }
    }
    let snapshot = writer.endRow()
    writers[layout.index] = writer
    return snapshot
  }

  private mutating func write(
    _ value: StoredValue, of property: Property, _ layout: EntityLayout, to writer: inout RowChunkWriter
  ) {
    switch value {
    case .objectID(let id):
      let id = permanent[id.key] ?? id
      guard let key = id.primaryKey else { return }
      writer.setInteger(key, slot: property.slot)
      if let slot = property.entityNumberSlot, let index = index(of: id.entityName) {
        writer.setInteger(Int64(index + 1), slot: slot)
      }
    case .composite(let parts):
      for element in property.elements {
        let value = element.path.dropFirst().reduce(StoredValue.composite(parts)) { value, name in
          if case .composite(let parts) = value { parts[name] ?? .null } else { .null }
        }
        writer.set(value, slot: element.slot, as: SlotForm(element.attribute))
      }
    default: writer.set(value, slot: property.slot, as: layout.forms[property.slot])
    }
  }

  private func copy(
    _ property: Property, _ layout: EntityLayout, from old: RowSnapshot, to writer: inout RowChunkWriter
  ) {
    func copy(_ slot: Int, as form: SlotForm) {
      guard !old.isNull(slot, of: layout.rowSlotCount) else { return }
      switch form {
      case .none, .integer, .boolean, .double, .date: writer.setInteger(old.integer(slot), slot: slot)
      case .decimal, .string, .uri, .uuid, .data, .externalData:
        let bytes = old.bytes(slot)
        writer.setBytes(bytes.baseAddress, count: bytes.count, slot: slot)
      }
    }
    copy(property.slot, as: layout.forms[property.slot])
    if let slot = property.entityNumberSlot { copy(slot, as: .integer) }
    for element in property.elements { copy(element.slot, as: SlotForm(element.attribute)) }
  }

  private mutating func index(of entityName: String) -> Int? {
    if let index = indexByName[entityName] { return index }
    let index = layouts.firstIndex { $0.entity.name == entityName }
    indexByName[entityName] = index
    return index
  }
}
