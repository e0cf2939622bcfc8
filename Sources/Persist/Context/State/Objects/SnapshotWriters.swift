/// Writes the snapshots of saved objects in sequence.
struct SnapshotWriters {
  /// Created for the first snapshot.
  private var writer: RowChunkWriter?
  private let layouts: EntityLayouts
  private let unsaved: ObjectTable?
  private let keys: [Int64]
  private let expectedRows: Int?
  /// Replacement keys for references in rows.
  var keysInPlace: [Int64: Int64] = Dictionary()
  private var indexByName: [String: Int] = Dictionary()

  /// - Parameters:
  ///   - unsaved: The table of new objects by temporary number; nil for rows of a parent context, which identify new
  ///     objects by the negative of that number.
  ///   - keys: The keys of the objects being saved, by ``ManagedObject/changeIndex``.
  ///   - expectedRows: The number of snapshots, if it is small.
  init(layouts: EntityLayouts, unsaved: ObjectTable?, keys: [Int64] = [], expectedRows: Int? = nil) {
    self.expectedRows = expectedRows
    self.layouts = layouts
    self.unsaved = unsaved
    self.keys = keys
  }

  /// Returns the row as now stored: the object's row with its changes.
  mutating func snapshot(of object: ManagedObject, version: Int64) -> RowSnapshot {
    object.withLayout { snapshot(of: $0, object.pending, over: object.snapshot, version: version) }
  }

  /// Returns a row with `pending` on top of its old values.
  mutating func snapshot(
    of layout: EntityLayout, _ pending: SlotValues, over old: RowSnapshot?, version: Int64
  ) -> RowSnapshot {
    // Taken out and put back, so that its chunk isn't retained again for each row.
    var writer = writer.take() ?? RowChunkWriter(slotCount: layout.rowSlotCount, expectedRows: expectedRows)
    // Only values of a fixed size are changed in a copy of the row. A new text would be appended behind the old one, so
    // that rows that change again and again would grow.
    if let old, keysInPlace.isEmpty, pending.slots.allSatisfy(layout.hasFixedPlace) {
      writer.beginRow(
        copying: old, byteCount: layout.byteCount(of: old), version: version, slotCount: layout.rowSlotCount)
      pending.forEach { slot, value in
        guard layout.kinds[slot] == .attribute else { return }
        if !writer.set(value, slot: slot, as: layout.forms[slot]) { writer.setNull(slot: slot) }
      }
    } else {
      writer.beginRow(version: version, slotCount: layout.rowSlotCount)
      for stored in layout.storedSlots {
        if let value = pending[stored.slot] {
          write(value, of: stored, layout, to: &writer)
        } else if let old {
          copy(stored, layout, from: old, to: &writer)
        }
      }
    }
    let snapshot = writer.endRow()
    self.writer = writer
    return snapshot
  }

  private mutating func write(
    _ value: StoredValue, of stored: EntityLayout.StoredSlot, _ layout: EntityLayout, to writer: inout RowChunkWriter
  ) {
    switch value {
    case .objectID(let id): set(id, slot: stored.slot, entityNumberSlot: stored.entityNumberSlot, in: writer.fixedPart)
    case .composite:
      for element in layout.properties[stored.slot].elements {
        let part = value.element(at: element.path.dropFirst())
        writer.set(part, slot: element.slot, as: SlotForm(element.attribute))
      }
    default: writer.set(value, slot: stored.slot, as: stored.form)
    }
  }

  /// Sets a to-one relationship in a row.
  mutating func set(_ id: ManagedObjectID, of relationship: RelationshipLayout, in row: MutableRowView) {
    set(id, slot: relationship.slot, entityNumberSlot: relationship.entityNumberSlot, in: row)
  }

  private mutating func set(_ id: ManagedObjectID, slot: Int, entityNumberSlot: Int?, in row: MutableRowView) {
    guard let key = key(of: id) else { return }
    row.setInteger(key, slot: slot)
    if let entityNumberSlot, let index = index(of: id.entityName) {
      row.setInteger(Int64(index + 1), slot: entityNumberSlot)
    }
  }

  private func copy(
    _ stored: EntityLayout.StoredSlot, _ layout: EntityLayout, from old: RowSnapshot, to writer: inout RowChunkWriter
  ) {
    func copy(_ slot: Int, as form: SlotForm) {
      writer.copy(slot, as: form, from: old, slotCount: layout.rowSlotCount)
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
