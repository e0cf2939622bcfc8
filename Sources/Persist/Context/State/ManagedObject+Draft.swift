import Foundation

/// Drafts: new objects whose values are in rows, where the save finds them; see ``DraftRows``.
///
/// A draft's ``row`` has the values that fit, and ``looseValues`` the others, which take precedence. Whoever needs all
/// unsaved values apart from the row ends the draft: ``pending`` turns it into an ordinary new object.
extension ManagedObject {
  /// Whether the object is new and ``row`` has unsaved values.
  @inline(__always)
  final var isDraft: Bool { marks.contains(.draft) }

  /// Makes the object, which is being created, a draft with the initial values of its class and the model.
  final func beginDraft(in context: ManagedObjectContext) {
    row = context.graph.drafts.begin(slotCount: rowSlotCount)
    marks.insert(.draft)
    guard kind._withUnsafeGuaranteedRef({ $0.hasInitialValues }) else { return }
    setInitialValues(kind._withUnsafeGuaranteedRef { $0.slotTable }, in: context)
  }

  @inline(never)
  private final func setInitialValues(_ slots: SlotTable, in context: ManagedObjectContext) {
    func set(_ value: StoredValue, _ slot: Int) {
      if !value.isNull, !setInDraft(value, at: slot, in: .passUnretained(context)) { setLoose(value, at: slot) }
    }
    for slot in slots.initialSlots {
      if let value = slots.initialValue(at: slot) { set(value, slot) }
    }
    for slot in layout.defaultSlots where !slots.initialSlots.contains(slot) {
      if let value = layout.initialValues[slot] { set(value, slot) }
    }
  }

  /// Sets a value in the row of a draft.
  ///
  /// - Parameter context: Not retained, because a reference count would take a tenth of the time.
  /// - Returns: False if the value must be a loose one.
  final func setInDraft(_ value: StoredValue, at slot: Int, in context: Unmanaged<ManagedObjectContext>) -> Bool {
    guard let view = row?.view else { return false }
    let isSet = withLayout { layout in
      let fixedPart = MutableRowView(view, slotCount: layout.rowSlotCount)
      return layout.draftColumns[slot].set(value, at: slot, in: fixedPart) { bytes in
        context._withUnsafeGuaranteedRef { $0.graph.drafts.setBytes(bytes, at: slot, of: &row, layout) }
      }
    }
    if isSet, hasLooseValues { removeLoose(at: slot) }
    return isSet
  }

  /// Sets attributes to the values of another object's attributes of the same types. Between rows, values are copied
  /// without being created.
  package final func setPending(_ copies: [AttributeCopy], of source: ManagedObject) {
    guard !copies.isEmpty else { return }
    if source.loading == .fault { source.fulfill() }
    guard isDraft, !source.isDraft, !source.hasLooseValues, source.loading == .loaded, let sourceRow = source.row,
      let context = tableReference?._withUnsafeGuaranteedRef(\.contextReference)
    else {
      for copy in copies { setPending(source.unobservedValue(at: copy.sourceSlot), at: copy.slot) }
      return
    }
    let sourceLayout = source.layout
    for copy in copies {
      recordChange(at: copy.slot)
      if !copyInDraft(copy, from: sourceRow.view, sourceLayout, in: context) {
        setPending(source.unobservedValue(at: copy.sourceSlot), at: copy.slot)
      }
    }
  }

  /// - Returns: False if the row can't contain the value, and is unchanged.
  private final func copyInDraft(
    _ copy: AttributeCopy, from source: RowView, _ sourceLayout: EntityLayout,
    in context: Unmanaged<ManagedObjectContext>
  ) -> Bool {
    let column = layout.draftColumns[copy.slot]
    guard let view = row?.view, sourceLayout.draftColumns[copy.sourceSlot].form == column.form else { return false }
    let isSet = column.copy(
      from: source, slotCount: sourceLayout.rowSlotCount, at: copy.sourceSlot, to: copy.slot,
      in: MutableRowView(view, slotCount: layout.rowSlotCount)
    ) { bytes in
      context._withUnsafeGuaranteedRef { $0.graph.drafts.setBytes(bytes, at: copy.slot, of: &row, layout) }
    }
    if isSet, hasLooseValues { removeLoose(at: copy.slot) }
    return isSet
  }

  /// Returns a draft's value that isn't a loose one.
  final func draftValue(at slot: Int) -> StoredValue {
    row?.value(slot, as: layout.draftColumns[slot].form, slotCount: rowSlotCount) ?? .null
  }

  /// Moves a draft's values out of its row. Nothing changes for the program.
  @inline(never)
  final func endDraft() {
    var values = looseValues
    for slot in layout.kinds.indices where !values.contains(slot) { values.set(draftValue(at: slot), at: slot) }
    marks.remove(.draft)
    row = nil
    replaceLoose(with: values)
  }

  /// Makes the row of a saved draft its snapshot.
  ///
  /// - Returns: False if the snapshot must be written from ``pending``: the object has loose values of variable size, a
  ///   version that doesn't fit, or observers, who are told of each change.
  final func acceptDraft(version: Int64, _ writers: inout SnapshotWriters) -> Bool {
    guard let view = row?.view, !marks.contains(.observed), RowVersion.fits(version) else { return false }
    let fixedPart = MutableRowView(view, slotCount: rowSlotCount)
    if hasLooseValues {
      for stored in layout.storedSlots where stored.kind != .toOne && looseValues.contains(stored.slot) {
        return false
      }
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

/// An attribute that gets the value of another entity's attribute.
package struct AttributeCopy {
  let sourceSlot: Int
  let slot: Int

  package init(from sourceSlot: Int, to slot: Int) { (self.sourceSlot, self.slot) = (sourceSlot, slot) }
}
