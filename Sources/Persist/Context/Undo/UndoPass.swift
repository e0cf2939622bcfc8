import OrderedCollections

/// Takes one event back, by ordinary changes of its context: what they change is recorded in turn, for the way back.
struct UndoPass {
  private let step: UndoStep
  private let context: ManagedObjectContext

  init(_ step: UndoStep, in context: ManagedObjectContext) {
    self.step = step
    self.context = context
  }

  func run() {
    let formers = step.deleted + step.updated
    for former in step.deleted { bringBack(former) }
    for former in formers where isAlive(former.object) { restoreProperties(of: former) }
    for object in step.inserted where isAlive(object) { retire(object) }
    for former in formers where isAlive(former.object) { restoreOrders(of: former) }
    for former in formers where isAlive(former.object) { former.object.becomeUnchangedIfEqual() }
    callHooks()
  }

  /// Whether the object is one of the context that a relationship may lead to.
  private func isAlive(_ object: ManagedObject) -> Bool {
    object.table?.context === context && object.change != .deleted
  }

  /// Takes a deletion back; where it was saved, the object becomes a new one.
  private func bringBack(_ former: UndoStep.Former) {
    let object = former.object
    if object.table == nil {
      object.snapshot = nil
      object.toManys = []
      object.pending = object.layout.initialValues
      for (slot, value) in former.values { object.pending[slot] = value }
      context.register(object)
    } else if object.table?.context === context, object.change == .deleted {
      if object.eventIndex < 0 { object.enterEvent() }
      context.deleted.remove(object)
      context.noteUpdate(of: object)
      object.dropOneSidedEnds()
    }
  }

  private func restoreProperties(of former: UndoStep.Former) {
    let object = former.object
    for (slot, value) in former.values where object.presentValue(at: slot) != value {
      object.setAttributeValue(value, at: slot)
    }
    for (slot, other) in former.toOnes { object.setToOne(other.flatMap { isAlive($0) ? $0 : nil }, at: slot) }
    for members in former.toManys {
      for other in members.gained where isAlive(other) { object.removeMember(other, of: members.relationship) }
      for other in members.lost where isAlive(other) { object.insertMember(other, of: members.relationship) }
    }
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

  /// Takes an object out of the context, or marks its row for deletion. What it was related to isn't deleted with it:
  /// that has its own way back.
  private func retire(_ object: ManagedObject) {
    for relationship in object.layout.relationships where relationship.inverse != nil {
      if relationship.isToMany {
        object.replaceMembers(with: [], of: relationship)
      } else {
        object.setToOne(nil, at: relationship.slot)
      }
    }
    context.markDeleted(object)
  }

  private func callHooks() {
    for object in step.inserted { object.awakeFromSnapshotEvents(.undoInsertion) }
    for former in step.deleted { former.object.awakeFromSnapshotEvents(.undoDeletion) }
    for former in step.updated { former.object.awakeFromSnapshotEvents(.undoUpdate) }
  }
}

extension ManagedObject {
  /// Makes the other ends of a deleted object's relationships that forgot it be forgotten by it too.
  fileprivate final func dropOneSidedEnds() {
    guard let context = table?.context else { return }
    for relationship in layout.relationships {
      if relationship.isToMany {
        guard !toManys.isEmpty, let members = toManys[relationship.slot] else { continue }
        for id in members.current ?? members.added {
          guard let other = context.registeredOrFault(id), let back = other.back(of: relationship) else { continue }
          if !other.leads(to: self, by: back) { members.remove(id) }
        }
      } else if let other = toOne(at: relationship.slot), let back = other.back(of: relationship),
        !other.leads(to: self, by: back)
      {
        setPending(.null, at: relationship.slot)
      }
    }
  }

  /// Whether this object's own side of a relationship has another object. Members that weren't read count as there.
  private final func leads(to other: ManagedObject, by relationship: RelationshipLayout) -> Bool {
    guard relationship.isToMany else { return toOne(at: relationship.slot) === other }
    let members = members(of: relationship)
    return members.current?.contains(other.objectID) ?? !members.removed.contains(other.objectID)
  }

  /// Counts as unchanged where nothing differs from what the store has.
  fileprivate final func becomeUnchangedIfEqual() {
    guard change == .updated, !hasPersistentChangedValues else { return }
    let transient = layout.transientSlots
    guard pending.isEmpty || transient.allSatisfy({ (pending[$0] ?? .null) == committedValue(at: $0) }) else { return }
    table?.context.updated.remove(self)
    change = .none
    pending = []
  }
}
