import Foundation

extension SavePass {
  /// Takes a store's receipt: new objects get their keys, and every object written a snapshot of what was written, so
  /// that nothing needs to be read again. None of the objects counts as changed any more.
  func accept(_ writes: StoreWrites, _ receipt: CommitReceipt) throws {
    guard receipt.insertedKeys.count == writes.inserted.count else {
      throw PersistError(
        .saveFailed, at: .store(writes.tables.store.url),
        "The store inserted \(receipt.insertedKeys.count) of \(writes.inserted.count) rows.")
    }
    context.rowGeneration += 1
    context.inserted.remove(writes.inserted)
    for (index, object) in writes.inserted.enumerated() {
      object.change = .none
      object.changeIndex = Int32(truncatingIfNeeded: index)
    }
    for objects in [writes.updated, writes.touched] {
      context.updated.remove(objects)
      for object in objects { object.change = .none }
    }
    context.deleted.remove(writes.deleted)

    let unsaved = context.unsavedTable
    // A parent counts the version up when it is saved itself.
    let (step, isForParent): (Int64, Bool) = context.parent == nil ? (1, false) : (0, true)
    var writers = SnapshotWriters(
      layouts: context.layouts, unsaved: isForParent ? nil : unsaved, keys: receipt.insertedKeys)
    for object in writes.inserted { object.snapshot = writers.snapshot(of: object, version: object.insertedVersion) }
    for object in writes.updated {
      if let old = object.snapshot { object.snapshot = writers.snapshot(of: object, version: old.version + step) }
    }
    let new = writes.inserted.filter { $0.table === unsaved }
    let numbers = new.map(\.key)
    if !context.assignedStores.isEmpty { for number in numbers { context.assignedStores[number] = nil } }
    give(receipt.insertedKeys, to: writes.inserted, in: writes.tables)
    // New objects are still found by their temporary numbers, for the members that name them so.
    for objects in [writes.inserted, writes.updated, writes.touched] {
      for object in objects { settle(object, unsaved) }
    }
    if unsaved.map.count == numbers.count {
      unsaved.map.removeAll()
    } else {
      for number in numbers { unsaved.map.remove(number) }
    }
    for object in writes.deleted { object.detach() }
    if !isForParent, !context.children.isEmpty {
      WrittenRows(zip(numbers, new), writes).tell(context.children)
    }
  }

  /// Changes are now what is stored; only transient values are left in the object.
  private func settle(_ object: ManagedObject, _ unsaved: ObjectTable) {
    if object.layout.transientSlots.isEmpty {
      object.pending = []
    } else if !object.pending.isEmpty {
      for stored in object.layout.storedSlots { object.pending[stored.slot] = nil }
    }
    for members in object.toManys {
      members?.accept { id in
        guard case .temporary(let number) = id.key else { return id }
        return unsaved.map[Int64(bitPattern: number)]?.objectID ?? id
      }
    }
  }

  /// Makes new objects those of rows.
  private func give(_ keys: [Int64], to objects: [ManagedObject], in tables: StoreTables) {
    for (object, key) in zip(objects, keys) {
      let table = tables.table(for: object.layout)
      // A row that others deleted, and that came back.
      if object.table === table, object.key == key { continue }
      table.take(object, key: key)
    }
  }
}

/// Writes the snapshots of saved objects, those of an entity one after the other.
struct SnapshotWriters {
  private var writers: [RowChunkWriter?]
  private let layouts: [EntityLayout]
  private let unsaved: ObjectTable?
  private let keys: [Int64]
  private let expectedRows: Int?
  /// Keys to put in the place of others wherever a row leads to those.
  var keysInPlace: [Int64: Int64] = [:]
  private var indexByName: [String: Int] = [:]

  /// - Parameters:
  ///   - unsaved: where new objects are found by their temporary numbers; nil for rows that a parent context stands
  ///     for, which name new objects by the negative of those numbers.
  ///   - keys: what those that are saved now got, by ``ManagedObject/changeIndex``.
  ///   - expectedRows: how many snapshots there will be, where they are few.
  init(layouts: [EntityLayout], unsaved: ObjectTable?, keys: [Int64] = [], expectedRows: Int? = nil) {
    self.expectedRows = expectedRows
    self.layouts = layouts
    self.unsaved = unsaved
    self.keys = keys
    writers = Array(repeating: nil, count: layouts.count)
  }

  /// The row as it is stored now: what the object had, with its changes.
  mutating func snapshot(of object: ManagedObject, version: Int64) -> RowSnapshot {
    snapshot(of: object.layout, object.pending, over: object.snapshot, version: version)
  }

  /// A row with `pending` over what it had.
  mutating func snapshot(
    of layout: EntityLayout, _ pending: ContiguousArray<StoredValue?>, over old: RowSnapshot?, version: Int64
  ) -> RowSnapshot {
    var writer =
      writers[layout.index] ?? RowChunkWriter(slotCount: layout.rowSlotCount, expectedRows: expectedRows)
    writers[layout.index] = nil
    writer.beginRow(version: version)
    for stored in layout.storedSlots {
      if !pending.isEmpty, let value = pending[stored.slot] {
        write(value, of: stored, layout, to: &writer)
      } else if let old {
        copy(stored, layout, from: old, to: &writer)
      }
    }
    let snapshot = writer.endRow()
    writers[layout.index] = writer
    return snapshot
  }

  private mutating func write(
    _ value: StoredValue, of stored: EntityLayout.StoredSlot, _ layout: EntityLayout, to writer: inout RowChunkWriter
  ) {
    switch value {
    case .objectID(let id):
      guard let key = key(of: id) else { return }
      writer.setInteger(key, slot: stored.slot)
      if let slot = stored.entityNumberSlot, let index = index(of: id.entityName) {
        writer.setInteger(Int64(index + 1), slot: slot)
      }
    case .composite:
      for element in layout.properties[stored.slot].elements {
        let part = value.element(at: element.path.dropFirst())
        writer.set(part, slot: element.slot, as: SlotForm(element.attribute))
      }
    default: writer.set(value, slot: stored.slot, as: stored.form)
    }
  }

  private func copy(
    _ stored: EntityLayout.StoredSlot, _ layout: EntityLayout, from old: RowSnapshot, to writer: inout RowChunkWriter
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
    if stored.kind == .toOne, !keysInPlace.isEmpty, !old.isNull(stored.slot, of: layout.rowSlotCount),
      let key = keysInPlace[old.integer(stored.slot)]
    {
      writer.setInteger(key, slot: stored.slot)
    } else {
      copy(stored.slot, as: stored.form)
    }
    if let slot = stored.entityNumberSlot { copy(slot, as: .integer) }
    guard stored.kind == .composite else { return }
    for element in layout.properties[stored.slot].elements { copy(element.slot, as: SlotForm(element.attribute)) }
  }

  private func key(of id: ManagedObjectID) -> Int64? {
    switch id.key {
    case .permanent(let key): return key
    case .temporary(let number):
      guard let unsaved else { return id.rowKey }
      guard let object = unsaved.map[Int64(bitPattern: number)], keys.indices.contains(Int(object.changeIndex)) else {
        return nil
      }
      return keys[Int(object.changeIndex)]
    }
  }

  private mutating func index(of entityName: String) -> Int? {
    if let index = indexByName[entityName] { return index }
    let index = layouts.firstIndex { $0.entity.name == entityName }
    indexByName[entityName] = index
    return index
  }
}
