import Foundation

extension ManagedObject {
  /// Prepares a fault for reading a property.
  final func fulfill(reading slot: Int) {
    guard table == nil else { return fulfill() }
    if let recording = KeyPathRecording.current { return recording.recordRead(slot, of: self) }
    if snapshot == nil, !pending.contains(slot) { recordEmptyAnswer(at: slot) }
  }

  /// Fulfills a fault, reading its row if necessary.
  ///
  /// A getter can't throw: the context saves the error for its next call that can.
  package final func fulfill() {
    guard loading == .fault else { return }
    if snapshot == nil {
      // A refreshed new object has its initial values already, and no row even if it has a permanent identifier.
      if change == .inserted { loading = .loaded }
      guard change != .inserted, let table, let store = table.store else { return }
      table.context.recordRow(of: self)
      if let batch = table.context.faultBatch?(self), !batch.isEmpty {
        table.context.prefetchRows(of: batch)
        if snapshot != nil { return awake() }
      }
      do {
        guard let row = try table.row(of: self, from: store) else {
          loading = .missing
          if !table.context.shouldDeleteInaccessibleFaults {
            table.context.deferError(ManagedObjectContext.notFound(objectID))
          }
          return
        }
        replaceRow(with: row)
      } catch {
        table.context.deferError(error)
        return
      }
    }
    awake()
  }

  final func awake() {
    loading = .awakening
    if withLayout({ !$0.transientSlots.isEmpty }) { adoptTransientValuesOfParent() }
    // Nil for nearly every object, whose loose values needn't be copied.
    let unsaved = change == .none ? nil : looseValues
    awakeFromFetch()
    if loading == .awakening { loading = .loaded }
    if change != .none { recordTransientValues(setSince: unsaved ?? SlotValues()) }
  }

  /// Discards the row and all changes, so that the next use reads the row again. The caller has already updated both
  /// sides of relationships.
  package final func becomeFault() {
    if loading == .loaded { willTurnIntoFault() }
    let wasLoaded = loading == .loaded
    table?.observedChanges.begin()
    defer { table?.observedChanges.end() }
    recordChangeOfAll()
    forgetUnreadable()
    loading = .fault
    replaceRow(with: nil)
    replacePending(with: SlotValues())
    formerValues = SlotValues()
    replaceMembers(with: [])
    companions = nil
    releaseRelated()
    if wasLoaded { didTurnIntoFault() }
  }

  /// Turns a new object into a fault that has its initial values. The caller has already updated both sides of
  /// relationships.
  final func restoreInitialValues() {
    if isDraft { endDraft() }
    if loading == .loaded { willTurnIntoFault() }
    recordChangeOfAll()
    replacePending(with: layout.slotTable(of: Swift.type(of: self)).values(orElse: layout.initialValues))
    given = .none
    loading = .fault
    didTurnIntoFault()
  }

  /// Turns the object into a fault whose row and members are read again on the next use.
  final func forgetRow() {
    loading = .fault
    replaceRow(with: nil)
    replaceMembers(with: [])
  }

  /// Turns the object into a fault without a row, whose unsaved changes remain.
  final func discardRow() {
    let wasLoaded = loading == .loaded
    if wasLoaded { willTurnIntoFault() }
    recordChangeOfAll()
    loading = .fault
    replaceRow(with: nil)
    if change == .none { releaseRelated() }
    if wasLoaded { didTurnIntoFault() }
  }

  /// Discards all changes since the last save, without updating the other sides of relationships.
  final func discardChanges() {
    releaseAddedMembers()
    replacePending(with: formerTransientValues)
    for members in toManys { members?.revert() }
    change = .none
    releaseFormerEnds()
  }

  /// Records the values of transient properties before the first unsaved change, so that they return when the changes
  /// are discarded. The fetch hook, which sets them, isn't called again for a row that was read.
  final func recordTransientValues() {
    guard !layout.transientSlots.isEmpty else { return }
    formerValues = looseValues
  }

  /// Records the transient values that the fetch hook has set on a changed object. The others may be unsaved: if a save
  /// fails, an object that it read becomes a fault with its changes.
  private final func recordTransientValues(setSince unsaved: SlotValues) {
    for slot in layout.transientSlots where looseValues[slot] != unsaved[slot] {
      formerValues[slot] = looseValues[slot]
    }
  }

  /// The values of transient properties before the object's unsaved changes.
  final var formerTransientValues: SlotValues {
    var values = formerValues
    for slot in formerValues.slots where layout.kinds[slot] != .transient { values.remove(at: slot) }
    return values
  }

  /// Whether a transient property has another value than before the object's unsaved changes.
  final func isChangedTransient(at slot: Int) -> Bool {
    guard change != .none, layout.kinds[slot] == .transient else { return false }
    return (pending[slot] ?? committedValue(at: slot)) != (formerValues[slot] ?? committedValue(at: slot))
  }

  /// Copies the values of transient attributes, which aren't part of a row, from the parent's object if it is
  /// registered.
  final func adoptTransientValuesOfParent() {
    guard let parent = table?.context.parent, let original = parent.registeredObject(for: objectID) else { return }
    for slot in layout.transientSlots {
      if let value = original.pending[slot] { setPending(value, at: slot) }
    }
  }

  /// Whether the object is a fault whose row hasn't been read yet.
  final var isWithoutRow: Bool {
    loading == .fault && row == nil && change != .inserted
      && tableReference?._withUnsafeGuaranteedRef { $0.isTemporary } == false
  }
}

extension ManagedObjectContext {
  /// Prefetches the missing rows of faults with a few statements in total. They remain faults. A row that is the only
  /// missing one isn't read: its first use reads it as well.
  package func prefetchRows(of objects: [ManagedObject]) {
    if objects.allSatisfyUnretained({ !$0.isWithoutRow }) { return }
    let waiting = objects.filter(\.isWithoutRow)
    guard waiting.count > 1 else { return }
    do { try readRows(of: waiting) } catch { deferError(error) }
  }

  /// Reads the rows of faults, with one statement for each entity and store; objects without a row remain unchanged.
  package func readRows(of objects: [ManagedObject]) throws {
    struct Place: Hashable {
      let table: ObjectIdentifier?
      let layout: ObjectIdentifier
    }
    let places = Dictionary(grouping: objects) { object in
      Place(table: object.table.map(ObjectIdentifier.init), layout: ObjectIdentifier(object.layout))
    }
    for objects in places.values {
      guard let first = objects.first, let table = first.table, let store = table.store else { continue }
      let query = RowQuery(entity: first.layout.entity, includesSubentities: false, keys: objects.map(\.key))
      for row in try store.rows(query) { table.map[row.key]?.find(row.snapshot) }
      for object in objects { recordRow(of: object) }
    }
  }
}
