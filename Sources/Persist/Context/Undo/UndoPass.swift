/// Undoes one event with ordinary changes to its context, which are recorded in turn for redo.
struct UndoPass {
  private let step: UndoStep
  private let context: ManagedObjectContext

  init(_ step: UndoStep, in context: ManagedObjectContext) {
    self.step = step
    self.context = context
  }

  func run() {
    context.observedChanges.begin()
    defer { context.observedChanges.end() }
    // A row that others also deleted and reinserted already exists, with the values that they gave it.
    let deleted = step.deleted.filter { !isAlive($0.object) }
    let marked = deleted.filter { $0.object.table?.context === context && $0.object.change == .deleted }
    let kept = marked.filter { !$0.hadNoRow }
    context.recordReferences(to: deleted.map(\.object).filter { $0.table == nil })
    for former in deleted { restore(former) }
    let withRow = Set(kept.map { ObjectIdentifier($0.object) })
    for former in marked { former.object.rebaseMembers() }
    var orders = storedOrders(of: kept) { !$0.isOneWayToMany }
    // If rows still exist, others may have changed the values that the object had read.
    let overRows = kept.map(\.overItsRow)
    for former in kept { former.object.matchOwnEnds() }
    for former in kept { former.object.reclaimOneWayMembers() }
    let wereMarked = Set(marked.map { ObjectIdentifier($0.object) })
    for former in deleted where !wereMarked.contains(ObjectIdentifier(former.object)) { former.object.adoptMembers() }
    let back = overRows.filter { isAlive($0.object) }
    let rest = (deleted + step.updated).filter { isAlive($0.object) && !withRow.contains(ObjectIdentifier($0.object)) }
    for former in back + rest { restoreValues(of: former) }
    // Relationships are emptied before others are filled, which would lose their new ends. Unsaved values come last.
    for former in back + rest { restoreToOnes(of: former) { $0 == nil } }
    for former in back { restoreToOnes(of: former) { $0 != nil } }
    for former in rest { restoreToOnes(of: former) { $0 != nil } }
    let deletedAgain = Set(step.inserted.filter(isDeletedAgain).map { ObjectIdentifier($0.object) })
    for former in back { restoreMembers(of: former) }
    for former in rest { restoreMembers(of: former, except: withRow, deletedAgain) }
    for arrival in step.inserted where isAlive(arrival.object) { revertArrival(arrival) }
    // Releases members whose new owners were never saved.
    for former in kept { former.object.rebaseMembers(where: \.isOneWayToMany) }
    if !kept.isEmpty { context.removeAddedOneWayMembersFromReturnedOwners() }
    orders.merge(storedOrders(of: kept, where: \.isOneWayToMany)) { $0.merging($1) { _, later in later } }
    for former in back + rest where isAlive(former.object) { restoreOrders(of: former, orders) }
    for former in back + rest where isAlive(former.object) { former.object.becomeUnchangedIfEqual() }
    callHooks(broughtBack: deleted)
  }

  /// Whether the object belongs to the context and isn't deleted.
  private func isAlive(_ object: ManagedObject) -> Bool {
    object.table?.context === context && object.change != .deleted && object.loading != .missing
  }

  /// Reverts a deletion. An object that has left the context is re-registered under its former identifier, so that
  /// existing references resolve to it; if its row was deleted, the next save reinserts it.
  private func restore(_ former: UndoStep.Former) {
    let object = former.object
    if object.table == nil {
      object.replaceMembers(with: [])
      var values = object.layout.initialValues
      for (slot, value) in former.values { values[slot] = value }
      object.replacePending(with: values)
      context.reregister(object, given: .all)
    } else if object.table?.context === context, object.change == .deleted {
      context.graph.undelete(object)
    }
  }

  private func restoreValues(of former: UndoStep.Former) {
    for (slot, value) in former.values where former.object.presentValue(at: slot) != value {
      former.object.setAttributeValue(value, at: slot)
    }
  }

  /// - Parameter isIncluded: Whether to include an end; nil represents none.
  private func restoreToOnes(of former: UndoStep.Former, where isIncluded: (ManagedObject?) -> Bool) {
    let object = former.object
    for (slot, other) in former.toOnes {
      guard let relationship = object.layout.relationshipsBySlot[slot] else { continue }
      let end = other.map(registered)
      if let end, isIncluded(end), relationship.mayOutlast(end), isGone(end) {
        object.point(to: end.objectID, at: slot)
        continue
      }
      let wanted = end.flatMap { canRelate(object, to: $0, by: relationship) ? $0 : nil }
      if isIncluded(wanted) { object.setToOne(wanted, at: slot) }
    }
  }

  /// Restores the members of relationships without a to-one inverse, and deleted members. Other members return with
  /// their own to-one relationship.
  ///
  /// - Parameters:
  ///   - restored: the objects whose own rows have already restored their pairs.
  ///   - deletedAgain: the objects that keep their own side for the next time they return.
  private func restoreMembers(
    of former: UndoStep.Former, except restored: Set<ObjectIdentifier> = [], _ deletedAgain: Set<ObjectIdentifier> = []
  ) {
    for members in former.toManys {
      let (object, relationship) = (former.object, members.relationship)
      func canChange(_ other: ManagedObject) -> Bool {
        if relationship.inverse?.isToMany == false, other.change != .deleted { return false }
        if let back = other.back(of: relationship) {
          if restored.contains(ObjectIdentifier(other)) { return false }
          if deletedAgain.contains(ObjectIdentifier(other)), !back.leavesOthersAlone { return false }
        }
        return canRelate(object, to: other, by: relationship)
      }
      for other in members.gained.map(registered) where canChange(other) {
        object.removeMember(other, of: relationship)
      }
      for other in (members.lost + members.all).map(registered) where canChange(other) {
        object.insertMember(other, of: relationship)
      }
    }
  }

  /// The registered object of the same row, if an object has left the context.
  private func registered(_ object: ManagedObject) -> ManagedObject {
    object.table == nil ? context.registeredObject(for: object.objectID) ?? object : object
  }

  private func isGone(_ object: ManagedObject) -> Bool {
    !object.objectID.isTemporaryID && (object.table == nil || object.loading == .missing)
  }

  private func canRelate(
    _ object: ManagedObject, to other: ManagedObject, by relationship: RelationshipLayout
  ) -> Bool {
    other.table?.context === context && other.loading != .missing && object.mayLead(to: other, by: relationship)
  }

  /// The orders of restored objects whose rows still exist: the stored ones, unless they had been changed.
  private func storedOrders(
    of kept: [UndoStep.Former], where isIncluded: (RelationshipLayout) -> Bool
  ) -> [ObjectIdentifier: [Int: OrderedSet<ManagedObjectID>]] {
    kept.reduce(into: Dictionary()) { orders, former in
      for members in former.toManys where members.order != nil && !members.isOrderUnsaved {
        guard isIncluded(members.relationship) else { continue }
        _ = former.object.memberIDs(of: members.relationship)
        let known = former.object.members(of: members.relationship)
        guard let base = known.base else { continue }
        orders[ObjectIdentifier(former.object), default: Dictionary()][members.relationship.slot] = base.union(
          members.order?.map(\.objectID) ?? [])
      }
    }
  }

  private func restoreOrders(
    of former: UndoStep.Former, _ stored: [ObjectIdentifier: [Int: OrderedSet<ManagedObjectID>]]
  ) {
    for members in former.toManys {
      guard let order = members.order else { continue }
      let present = former.object.memberIDs(of: members.relationship)
      let formerOrder =
        stored[ObjectIdentifier(former.object)]?[members.relationship.slot] ?? OrderedSet(order.map(\.objectID))
      let wanted = formerOrder.intersection(present).union(present)
      guard wanted != present else { continue }
      former.object.willChangeMembers()
      former.object.members(of: members.relationship).replace(with: wanted)
    }
  }

  /// Removes an object from the context, or marks its row for deletion. Related objects aren't deleted with it, because
  /// their changes are undone separately.
  private func revertArrival(_ arrival: UndoStep.Arrival) {
    let object = arrival.object
    guard isDeletedAgain(arrival) else { return context.deleteAlone(object) }
    DeletePropagation(in: context).letGo(of: object)
    object.leaveOneWayOwners()
    context.markDeleted(object)
  }

  /// Whether a row returns to its deleted state. An object without one leaves no trace, whatever its rules.
  private func isDeletedAgain(_ arrival: UndoStep.Arrival) -> Bool {
    arrival.wasDeleted && arrival.object.change != .inserted
  }

  private func callHooks(broughtBack: [UndoStep.Former]) {
    for arrival in step.inserted { arrival.object.awakeFromSnapshotEvents(.undoInsertion) }
    for former in broughtBack { former.object.awakeFromSnapshotEvents(.undoDeletion) }
    for former in step.updated { former.object.awakeFromSnapshotEvents(.undoUpdate) }
  }
}

extension UndoStep.Former {
  /// The former state of a deleted object, with its row's current values in place of those that it had only
  /// read.
  fileprivate var overItsRow: Self {
    var former = self
    former.values = values.map { slot, value in
      let isRestored = object.hasPending(at: slot) && !pendingAtDeletion.contains(slot)
      let isOwn = unsaved.contains(slot) || isRestored || object.layout.kinds[slot] == .transient
      return (slot, isOwn ? value : object.committedValue(at: slot))
    }
    former.toOnes = toOnes.map { slot, other in
      guard !unsaved.contains(slot), object.layout.kinds[slot] == .toOne else { return (slot, other) }
      guard case .objectID(let id) = object.committedValue(at: slot) else { return (slot, nil) }
      return (slot, object.table?.context.registeredOrFault(id))
    }
    // The members that it had are those of its own side.
    former.toManys = toManys.map { members in
      var members = members
      members.all = []
      return members
    }
    return former
  }
}

extension ManagedObject {
  /// Marks the object as unchanged if it differs neither from the store nor in its transient values.
  fileprivate final func becomeUnchangedIfEqual() {
    guard change == .updated, !hasPersistentChangedValues else { return }
    guard !layout.transientSlots.contains(where: isChangedTransient) else { return }
    table?.context.graph.discardChanges(of: self)
    replacePending(with: formerTransientValues)
  }
}
