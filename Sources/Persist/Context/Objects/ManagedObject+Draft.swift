import Foundation

/// Drafts: new objects whose values are in rows, where the save finds them; see ``DraftRows``.
///
/// A draft's ``row`` has the values that fit, and ``looseValues`` the others, which take precedence. Whoever needs all
/// unsaved values as an array ends the draft: ``pending`` turns it into an ordinary new object.
extension ManagedObject {
  /// Whether the object is new and ``row`` has unsaved values.
  @inline(__always)
  final var isDraft: Bool { marks.contains(.draft) }

  /// Makes the object, which is being created, a draft with the initial values of its class and the model.
  final func beginDraft(_ slots: Unmanaged<SlotTable>?, in context: ManagedObjectContext) {
    row = context.drafts.begin(layout)
    marks = .draft
    func set(_ value: StoredValue, _ slot: Int) {
      if !value.isNull, !setInDraft(value, at: slot, in: context) { setLoose(value, at: slot) }
    }
    let classSlots = slots?._withUnsafeGuaranteedRef(\.initialSlots) ?? []
    for slot in classSlots {
      if let value = slots?._withUnsafeGuaranteedRef({ $0.initialValue(at: slot) }) { set(value, slot) }
    }
    for slot in layout.defaultSlots where !classSlots.contains(slot) {
      if let value = layout.initialValues[slot] { set(value, slot) }
    }
  }

  /// Sets a value in the row of a draft.
  ///
  /// - Returns: False if the value must be a loose one.
  final func setInDraft(_ value: StoredValue, at slot: Int, in context: ManagedObjectContext) -> Bool {
    guard let view = row?.view,
      setInRow(value, at: slot, in: context, MutableRowView(view, slotCount: layout.rowSlotCount))
    else { return false }
    if !looseValues.isEmpty { looseValues[slot] = nil }
    return true
  }

  /// Switches on the form first: matching value and form as a pair would copy the value.
  @inline(__always)
  private final func setInRow(
    _ value: StoredValue, at slot: Int, in context: ManagedObjectContext, _ fixedPart: MutableRowView
  ) -> Bool {
    let column = layout.draftColumns[slot]
    if case .null = value {
      if column.form != .none { fixedPart.setNull(slot: slot) }
      return column.form != .none
    }
    switch column.form {
    case .integer:
      guard case .integer(let number) = value, column.range.contains(number) else { return false }
      fixedPart.setInteger(number, slot: slot)
    case .boolean:
      guard case .boolean(let flag) = value else { return false }
      fixedPart.setInteger(flag ? 1 : 0, slot: slot)
    case .double:
      guard case .double(let number) = value, !number.isNaN else { return false }
      fixedPart.setDouble(number, slot: slot)
    case .date:
      guard case .date(let date) = value, !date.timeIntervalSinceReferenceDate.isNaN else { return false }
      fixedPart.setDouble(date.timeIntervalSinceReferenceDate, slot: slot)
    case .string:
      guard case .string(let text) = value else { return false }
      return setTextInDraft(text, at: slot, in: context)
    case .uri:
      guard case .uri(let text) = value else { return false }
      return setTextInDraft(text, at: slot, in: context)
    case .uuid:
      guard case .uuid(let uuid) = value else { return false }
      return withUnsafeBytes(of: uuid.uuid) { context.drafts.setBytes($0, at: slot, of: &row, layout) }
    case .data:
      guard case .data(let data) = value else { return false }
      return data.withUnsafeBytes { context.drafts.setBytes($0, at: slot, of: &row, layout) }
    case .none, .decimal, .externalData: return false
    }
    return true
  }

  private final func setTextInDraft(_ text: String, at slot: Int, in context: ManagedObjectContext) -> Bool {
    // Nearly every text is contiguous, and needn't be copied first.
    let isSet = text.utf8.withContiguousStorageIfAvailable {
      context.drafts.setBytes(UnsafeRawBufferPointer($0), at: slot, of: &row, layout)
    }
    if let isSet { return isSet }
    var text = text
    return text.withUTF8 { context.drafts.setBytes(UnsafeRawBufferPointer($0), at: slot, of: &row, layout) }
  }

  /// Returns a draft's value that isn't a loose one.
  final func draftValue(at slot: Int) -> StoredValue {
    row?.value(slot, as: layout.draftColumns[slot].form, slotCount: layout.rowSlotCount) ?? .null
  }

  /// Moves a draft's values out of its row, for those who need them as an array. Nothing changes for the program.
  @inline(never)
  final func endDraft() {
    var values = looseValues.isEmpty ? Self.noValues(layout.kinds.count) : looseValues
    for slot in values.indices where values[slot] == nil { values[slot] = draftValue(at: slot) }
    marks.remove(.draft)
    row = nil
    looseValues = values
  }

  /// Makes the row of a saved draft its snapshot.
  ///
  /// - Returns: False if the snapshot must be written from ``pending``: the object has loose values of variable size,
  ///   or observers, who are told of each change.
  final func acceptDraft(version: Int64, _ writers: inout SnapshotWriters) -> Bool {
    guard let view = row?.view, !marks.contains(.observed) else { return false }
    let fixedPart = MutableRowView(view, slotCount: layout.rowSlotCount)
    if !looseValues.isEmpty {
      for stored in layout.storedSlots where stored.kind != .toOne && looseValues[stored.slot] != nil { return false }
      for relationship in layout.toOnes {
        guard case .objectID(let id)? = looseValues[relationship.slot] else { continue }
        writers.set(id, of: relationship, in: fixedPart)
      }
    }
    fixedPart.setVersion(version)
    marks.remove(.draft)
    return true
  }
}
