extension RowSnapshot {
  /// Whether two rows of an entity have the same stored value for a property. Neither decodes values nor reads files.
  func holds(_ stored: EntityLayout.StoredSlot, as other: RowSnapshot, of layout: EntityLayout) -> Bool {
    guard holds(stored.slot, stored.form, as: other, of: layout) else { return false }
    if let slot = stored.entityNumberSlot, !holds(slot, .integer, as: other, of: layout) { return false }
    guard stored.kind == .composite else { return true }
    return layout.properties[stored.slot].elements.allSatisfy { element in
      holds(element.slot, SlotForm(element.attribute), as: other, of: layout)
    }
  }

  func holds(_ slot: Int, _ form: SlotForm, as other: RowSnapshot, of layout: EntityLayout) -> Bool {
    let isNull = isNull(slot, of: layout.rowSlotCount)
    guard isNull == other.isNull(slot, of: layout.rowSlotCount) else { return false }
    if isNull { return true }
    switch form {
    case .none, .integer, .boolean, .double, .date: return integer(slot) == other.integer(slot)
    case .decimal, .string, .uri, .uuid, .data, .externalData: return bytes(slot).elementsEqual(other.bytes(slot))
    }
  }
}
