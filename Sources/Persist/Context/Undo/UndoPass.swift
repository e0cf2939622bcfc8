import OrderedCollections

/// Undoes one event with ordinary changes to its context, which are recorded in turn for redo.
struct UndoPass {
  private let step: UndoStep
  private let context: ManagedObjectContext

  init(_ step: UndoStep, in context: ManagedObjectContext) {
    self.step = step
    self.context = context
  }

  func run() {
    // A row that others also deleted and reinserted already exists, with the values that they gave it.
    let deleted = step.deleted.filter { !isAlive($0.object) }
    let formers = deleted + step.updated
    let kept = deleted.filter { $0.object.table?.context === context && $0.object.change == .deleted }
    for former in deleted { bringBack(former) }
    // If rows still exist, others may have changed the values that the object had read.
    let withRow = Set(kept.map { ObjectIdentifier($0.object) })
    for former in deleted { former.object.dropOneSidedEnds() }
    for former in formers where isAlive(former.object) {
      restoreProperties(of: withRow.contains(ObjectIdentifier(former.object)) ? former.overItsRow : former)
    }
    for arrival in step.inserted where isAlive(arrival.object) { retire(arrival) }
    for former in formers where isAlive(former.object) { restoreOrders(of: former) }
    for former in formers where isAlive(former.object) { former.object.becomeUnchangedIfEqual() }
    callHooks(broughtBack: deleted)
  }

  /// Whether the object belongs to the context and isn't deleted.
  private func isAlive(_ object: ManagedObject) -> Bool {
    object.table?.context === context && object.change != .deleted && object.loading != .missing
  }

  /// Reverts a deletion. An object that has left the context is re-registered under its former identifier, so that
  /// existing references resolve to it; if its row is gone, the next save reinserts it.
  private func bringBack(_ former: UndoStep.Former) {
    let object = former.object
    if object.table == nil {
      object.toManys = []
      object.pending = object.layout.initialValues
      for (slot, value) in former.values { object.pending[slot] = value }
      object.given = .all
      context.registerAgain(object)
    } else if object.table?.context === context, object.change == .deleted {
      if object.eventIndex < 0 { object.enterEvent() }
      context.deleted.remove(object)
      context.noteUpdate(of: object)
    }
  }

  private func restoreProperties(of former: UndoStep.Former) {
    let object = former.object
    for (slot, value) in former.values where object.presentValue(at: slot) != value {
      object.setAttributeValue(value, at: slot)
    }
    for (slot, other) in former.toOnes {
      guard let relationship = object.layout.relationshipsBySlot[slot] else { continue }
      object.setToOne(other.flatMap { canRelate(object, to: $0, by: relationship) ? $0 : nil }, at: slot)
    }
    for members in former.toManys {
      let relationship = members.relationship
      for other in members.gained where canRelate(object, to: other, by: relationship) {
        object.removeMember(other, of: relationship)
      }
      for other in members.lost where canRelate(object, to: other, by: relationship) {
        object.insertMember(other, of: relationship)
      }
    }
  }

  private func canRelate(
    _ object: ManagedObject, to other: ManagedObject, by relationship: RelationshipLayout
  ) -> Bool {
    other.table?.context === context && other.loading != .missing && object.mayLead(to: other, by: relationship)
  }

  private func restoreOrders(of former: UndoStep.Former) {
    for members in former.toManys {
      guard let order = members.order else { continue }
      let present = former.object.memberIDs(of: members.relationship)
      let formerOrder = OrderedSet(order.map(\.objectID))
      let wanted = formerOrder.intersection(present).union(present)
      guard wanted != present else { continue }
      former.object.willChangeMembers()
      former.object.members(of: members.relationship).replace(with: wanted)
    }
  }

  /// Removes an object from the context, or marks its row for deletion. Related objects aren't deleted with it, because
  /// their changes are undone separately.
  private func retire(_ arrival: UndoStep.Arrival) {
    let object = arrival.object
    for relationship in object.layout.relationships where relationship.inverse != nil {
      if arrival.wasDeleted, [.deny, .noAction].contains(relationship.deleteRule) { continue }
      if relationship.isToMany {
        object.replaceMembers(with: [], of: relationship)
      } else {
        object.setToOne(nil, at: relationship.slot)
      }
    }
    context.markDeleted(object)
  }

  private func callHooks(broughtBack: [UndoStep.Former]) {
    for arrival in step.inserted { arrival.object.awakeFromSnapshotEvents(.undoInsertion) }
    for former in broughtBack { former.object.awakeFromSnapshotEvents(.undoDeletion) }
    for former in step.updated { former.object.awakeFromSnapshotEvents(.undoUpdate) }
  }
}

extension UndoStep.Former {
  /// The former state of a deleted object, with the row's current values in place of those that it had only read.
  fileprivate var overItsRow: Self {
    var former = self
    former.values = values.map { slot, value in
      let isOwn = unsaved.contains(slot) || object.layout.kinds[slot] == .transient
      return (slot, isOwn ? value : object.committedValue(at: slot))
    }
    former.toOnes = toOnes.map { slot, other in
      guard !unsaved.contains(slot), object.layout.kinds[slot] == .toOne else { return (slot, other) }
      guard case .objectID(let id) = object.committedValue(at: slot) else { return (slot, nil) }
      return (slot, object.table?.context.registeredOrFault(id))
    }
    return former
  }
}

extension ManagedObject {
  /// Removes a deleted object's references to objects that no longer refer to it.
  fileprivate final func dropOneSidedEnds() {
    guard let context = table?.context else { return }
    for relationship in layout.relationships where relationship.inverse != nil {
      if relationship.isToMany {
        guard !toManys.isEmpty, let members = toManys[relationship.slot], members.areKnown || members.hasChanges else {
          continue
        }
        for id in memberIDs(of: relationship) {
          let other = context.registeredOrFault(id)
          if other?.leads(to: self, back: relationship) != true { members.remove(id) }
        }
      } else if let other = destination(at: relationship.slot), !other.leads(to: self, back: relationship) {
        setPending(.null, at: relationship.slot)
      }
    }
  }

  /// Whether this object's own side of a relationship refers to another object, which refers to this one by
  /// `relationship`.
  final func leads(to other: ManagedObject, back relationship: RelationshipLayout) -> Bool {
    guard let own = back(of: relationship) else { return true }
    guard own.isToMany else { return destination(at: own.slot) === other }
    let members = members(of: own)
    if let current = members.current { return current.contains(other.objectID) }
    if members.added.contains(other.objectID) { return true }
    if members.removed.contains(other.objectID) { return false }
    // If unread, the store's members are the objects whose rows refer to this object.
    if !relationship.isToMany { return other.committedValue(at: relationship.slot) == .objectID(objectID) }
    return memberIDs(of: own).contains(other.objectID)
  }

  /// Marks the object as unchanged if it doesn't differ from the store.
  fileprivate final func becomeUnchangedIfEqual() {
    guard change == .updated, !hasPersistentChangedValues else { return }
    let transient = layout.transientSlots
    guard pending.isEmpty || transient.allSatisfy({ (pending[$0] ?? .null) == committedValue(at: $0) }) else { return }
    table?.context.updated.remove(self)
    change = .none
    pending = []
  }
}
