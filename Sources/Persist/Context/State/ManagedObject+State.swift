import Foundation

/// The changes of one object's state. The verbs of ``ObjectGraph`` are built on them.
extension ManagedObject {
  /// Enters the object into the table of unsaved objects.
  final func join(_ table: Unmanaged<ObjectTable>, underTemporaryNumber number: UInt64?) {
    join(table)
    key = Int64(bitPattern: number ?? ManagedObjectID.nextTemporaryNumber())
    // The program may hold the identifier, whose instance will lead to the permanent one.
    if identifier != nil, number == nil || ownTemporaryNumber != number { identifier = nil }
    table._withUnsafeGuaranteedRef { $0.insertEntry(of: self, key: key) }
  }

  /// Registers the object under the key of its row. A temporary identifier that the program holds then leads to the
  /// permanent one.
  final func join(_ table: ObjectTable, under key: Int64) {
    join(.passUnretained(table))
    self.key = key
    table.insertEntry(of: self, key: key)
    guard identifier != nil else { return }
    var former = identifier
    identifier = nil
    guard former?.isTemporaryID == true, !isKnownUniquelyReferenced(&former) else { return }
    former?.lead(to: objectID)
  }

  /// Gives the object an identifier that was created elsewhere.
  final func identify(as id: ManagedObjectID) { identifier = id }

  /// The number of the object's temporary identifier, if it has been created and no other object has taken it over:
  /// an object that was merged into another one has that one's identifier.
  final var ownTemporaryNumber: UInt64? {
    guard let identifier, case .temporary(let number) = identifier.key, Int64(bitPattern: number) == key,
      identifier.current === identifier
    else { return nil }
    return number
  }

  /// Calls the insertion hook. Values that the class sets there are defaults.
  final func awakeAsNew() {
    guard withLayout({ $0.isConstrained }) else { return awakeFromInsert() }
    let given = given
    awakeFromInsert()
    self.given = given
  }

  /// Records that the object became a link of ``HeldCycles``, or one with another index.
  final func becomeLink(at index: Int) {
    marks.insert(.link)
    holderCountOrLink = Int32(truncatingIfNeeded: index)
  }

  /// Records that the object is no link any more.
  final func endLink(holderCount: Int32) {
    marks.remove(.link)
    holderCountOrLink = holderCount
  }

  /// Records that somebody observes the object.
  final func markObserved() {
    marks.insert(.observed)
    for slot in toManys.indices { toManys[slot]?.observe(as: slot, of: self) }
  }

  /// Records that a value of the object can't be read, or that this was forgotten.
  final func markUnreadable(_ isUnreadable: Bool) {
    if isUnreadable { marks.insert(.unreadable) } else { marks.remove(.unreadable) }
  }

  /// Takes over the row, the identity and the unsaved changes of an object that leaves the context.
  final func takeState(of other: ManagedObject) {
    (key, identifier) = (other.key, other.objectID)
    replaceRow(with: other.snapshot)
    (loading, change) = (other.loading, other.change)
    replacePending(with: other.pending)
    formerValues = other.formerValues
    replaceMembers(with: other.toManys)
  }

  /// Restores a recorded state. Another object that is registered under the same key leaves the context.
  final func resume(_ state: UnsavedState.Saved) {
    if table !== state.table || key != state.key {
      detach()
      key = state.key
      table = state.table
      recordChangeOfAll()
      if let table = state.table {
        table.map[state.key]?.detach()
        table.insertEntry(of: self, key: state.key)
      }
    }
    identifier = state.identifier
    replaceRow(with: state.snapshot)
    replacePending(with: state.pending)
    replaceMembers(with: state.toManys)
    loading = state.loading
    change = state.change
  }
}

/// The kind of an object, and so its table and its layout.
extension ManagedObject {
  /// The object's table; nil for an object without a context.
  @inline(__always)
  final var tableReference: Unmanaged<ObjectTable>? { kind._withUnsafeGuaranteedRef { $0.table } }

  /// The object's table; nil for an object without a context.
  @inline(__always)
  package final var table: ObjectTable? {
    get { tableReference?.takeUnretainedValue() }
    set { if let newValue { join(.passUnretained(newValue)) } else { leaveTable() } }
  }

  @inlinable @inline(__always)
  final var layoutReference: Unmanaged<EntityLayout> { kind._withUnsafeGuaranteedRef { $0.layoutReference } }

  /// Calls a closure with the layout without counting a reference to it, unlike ``layout``.
  @inlinable @inline(__always)
  final func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
    try layoutReference._withUnsafeGuaranteedRef { try body($0) }
  }

  /// The facts about the object's entity.
  package final var layout: EntityLayout { layoutReference.takeUnretainedValue() }

  /// The number of slots of the object's rows.
  @inlinable @inline(__always)
  final var rowSlotCount: Int { kind._withUnsafeGuaranteedRef { $0.rowSlotCount } }

  /// Enters the object into a table, which retains the kinds of its objects.
  final func join(_ table: Unmanaged<ObjectTable>) {
    guard tableReference?.toOpaque() != table.toOpaque() else { return }
    let type = Swift.type(of: self)
    let new = table._withUnsafeGuaranteedRef { table in withLayout { table.kind(of: $0, as: type) } }
    releaseKind()
    kind = new
  }

  /// Takes the object out of its table. From now on it retains its kind.
  final func leaveTable() {
    forgetUnreadable()
    guard tableReference != nil else { return }
    kind = kind._withUnsafeGuaranteedRef { .passUnretained($0.detached) }
    holdKind()
  }

  /// Adopts the layout of another context's model, before the object is inserted there.
  final func changeLayout(to new: EntityLayout, in table: ObjectTable) {
    let kind = table.kind(of: new, as: Swift.type(of: self))
    releaseKind()
    self.kind = kind._withUnsafeGuaranteedRef { .passUnretained($0.detached) }
    holdKind()
  }

  final func holdKind() {
    guard !marks.contains(.holdsKind) else { return }
    marks.insert(.holdsKind)
    _ = kind.retain()
  }

  final func releaseKind() {
    guard marks.contains(.holdsKind) else { return }
    marks.remove(.holdsKind)
    kind.release()
  }
}

/// An object's row, unsaved values and members.
extension ManagedObject {
  /// The row as it was read or saved; nil for an object without one.
  @inline(__always)
  package final var snapshot: RowSnapshot? { isDraft ? nil : row }

  /// The version of the row that the next save inserts for the object.
  ///
  /// A reinserted row must not repeat a former version: contexts that still hold the old row would mistake it for that
  /// version. The last version of the old row isn't known; the increment exceeds any number of saves between a read and
  /// a deletion.
  final var insertedVersion: Int64 { snapshotVersion.map { $0 &+ (1 << 20) } ?? 1 }

  /// The version of ``snapshot``, without retaining it.
  final var snapshotVersion: Int64? { isDraft ? nil : row?.view.version }

  /// Puts another row beneath the object's unsaved values.
  @inline(__always)
  final func replaceRow(with new: consuming RowSnapshot?) {
    if isDraft { endDraft() }
    if marks.contains(.observed) { recordObserved(row: new) }
    row = new
  }

  /// Gives the fault of a fetched row, which has just been created, that row.
  @inline(__always)
  final func begin(with fetched: RowSnapshot?) { row = fetched }

  /// Discards the row of a fault, which reads it again on the next use.
  package final func forgetFetchedRow() { replaceRow(with: nil) }

  /// Gives an object a row that was found in the store. An object whose row was missing becomes a fault.
  @inline(__always)
  final func find(_ found: consuming RowSnapshot?) {
    let exists = found != nil
    replaceRow(with: found)
    if loading == .missing, exists { loading = .fault }
  }

  /// Gives an object a row whose values are used at once, without calling the fetch hook.
  final func load(_ found: RowSnapshot?) {
    replaceRow(with: found)
    loading = .loaded
  }

  /// Marks a fault as loaded, whose values are known or can't be read.
  final func finishLoading() { loading = .loaded }

  /// Records that the store no longer has the object's row. Values that it had read remain readable.
  final func loseRow() { loading = .missing }

  /// Records that the store has no row, and discards the one that was read.
  final func countAsMissing() {
    replaceRow(with: nil)
    loading = .missing
  }

  /// Values set since the row was read, and the values of transient attributes. For a new object, all values. Ends a
  /// draft, which costs an allocation.
  @inline(__always)
  final var pending: SlotValues {
    if isDraft { endDraft() }
    return looseValues
  }

  @inline(__always)
  package final func setPending(_ value: consuming StoredValue, at slot: Int) {
    recordChange(at: slot)
    if isDraft, let tableReference,
      setInDraft(value, at: slot, in: tableReference._withUnsafeGuaranteedRef(\.contextReference))
    {
      return
    }
    setLoose(value, at: slot)
  }

  /// Discards a property's unsaved value, so that it shows the row's value again.
  final func clearPending(at slot: Int) {
    guard pending.contains(slot) else { return }
    recordChange(at: slot)
    removeLoose(at: slot)
  }

  final func replacePending(with values: SlotValues) {
    if isDraft { endDraft() }
    if marks.contains(.observed) { recordObserved(pending: values) }
    replaceLoose(with: values)
  }

  /// Whether the object was changed since a save last looked.
  final var isNewlyChanged: Bool { marks.contains(.newlyChanged) }

  final func markNewlyChanged() { marks.insert(.newlyChanged) }

  /// Records that a save has seen the object's changes.
  final func clearNewlyChanged() { marks.remove(.newlyChanged) }
}

extension ManagedObject {
  /// Removes the object from its context permanently.
  final func detach() {
    // Few programs ask for the identifiers of deleted objects, and creating them takes a tenth of a deletion: the key
    // and the kind determine that of a row.
    if let tableReference, key <= 0 || tableReference._withUnsafeGuaranteedRef({ $0.isTemporary }) { _ = objectID }
    releaseRelated()
    tableReference?._withUnsafeGuaranteedRef { $0.removeEntry(key) }
    let observedChanges = marks.contains(.observed) ? table?.observedChanges : nil
    leaveTable()
    guard let observedChanges else { return }
    observedChanges.record(everything, of: self)
    observedChanges.record { [self] in observers?.objectHasLeft() }
  }
}
