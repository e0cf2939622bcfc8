/// Keeps both sides of relationships consistent when a row is replaced under unsaved changes.
///
/// If a relationship has a to-one side, that side decides: an unsaved value takes precedence over a stored one, and the
/// other ends follow.
extension ManagedObject {
  /// Updates the other ends of the to-one relationships to match this object, after it and everything that others saved
  /// with it has its new row.
  final func matchToOneEnds() {
    guard table?.context != nil, snapshot != nil, loading != .missing else { return }
    for relationship in layout.toOnes where relationship.inverse != nil && !relationship.isTransient {
      guard change == .none || change == .updated else { return }
      matchEnds(of: relationship)
    }
  }

  private final func matchEnds(of relationship: RelationshipLayout) {
    let slot = relationship.slot
    if hasUnsavedValue(at: slot), pending[slot] == committedValue(at: slot) { clearPending(at: slot) }
    let stored = storedEnd(of: relationship)
    if let stored, !hasUnsavedValue(at: slot), !mayLead(to: stored, by: relationship) {
      return follow(deletionOf: stored, by: relationship)
    }
    let present = destination(at: slot)
    if let present, present !== stored, refersToMissingRow(of: present, by: relationship) { return }
    if relationship.inverse?.isToMany == true {
      if let stored, let back = stored.back(of: relationship), stored.change != .deleted {
        if present !== stored {
          stored.removeUnstored(self, in: back)
        } else if !stored.toManys.isEmpty {
          table?.context.recordFormerEnds(of: stored)
          stored.toManys[back.slot]?.discardDifference(of: objectID)
        }
      }
      if let present, present !== stored, let back = present.back(of: relationship) {
        present.gainUnlessMember(self, in: back)
      }
    } else {
      matchPartner(present, stored: stored, by: relationship)
    }
  }

  /// Does the same for a one-to-one relationship.
  private final func matchPartner(
    _ present: ManagedObject?, stored: ManagedObject?, by relationship: RelationshipLayout
  ) {
    let slot = relationship.slot
    if let stored, stored !== present, let back = stored.back(of: relationship), stored.refers(to: self, at: back) {
      stored.forget(self, in: back)
    }
    guard let present, let back = present.back(of: relationship), !present.refers(to: self, at: back) else { return }
    let partner = present.destination(at: back.slot)
    if hasUnsavedValue(at: slot) {
      if let partner, partner.destination(at: slot) === present { partner.forget(present, in: relationship) }
      present.willChange()
      present.setPending(.objectID(objectID), at: back.slot)
    } else if present.hasUnsavedValue(at: back.slot) {
      willChange()
      setPending(.null, at: slot)
    }
  }

  /// Removes the object from the members of destinations in a newer row that the object doesn't adopt.
  final func leaveEnds(of row: RowSnapshot) {
    guard let context = table?.context, let siblings = table?.siblings else { return }
    for relationship in layout.toOnes where relationship.inverse?.isToMany == true {
      guard let key = committedKey(of: relationship, in: row) else { continue }
      let target = context.layout(ofDestination: relationship, in: row, of: layout)
      let end = context.registeredOrFault(target, key: key, in: siblings)
      guard end !== destination(at: relationship.slot), end.change != .deleted, let back = end.back(of: relationship)
      else { continue }
      end.removeUnstored(self, in: back)
    }
  }

  /// Applies a deletion made here to an object that others have since related to the deleted one.
  private final func follow(deletionOf other: ManagedObject, by relationship: RelationshipLayout) {
    willChange()
    setPending(.null, at: relationship.slot)
    if other.back(of: relationship)?.deleteRule == .cascade, let context = table?.context {
      DeletePropagation(in: context).delete(self)
    }
  }

  private final func hasUnsavedValue(at slot: Int) -> Bool { pending.contains(slot) }

  /// Whether the object's unsaved reference leads to a row that is gone, as a delete rule had left it. The other side
  /// of the relationship doesn't exist then.
  private final func refersToMissingRow(of end: ManagedObject, by relationship: RelationshipLayout) -> Bool {
    guard relationship.mayOutlast(end), end.change == .none, end.loading != .loaded else { return false }
    if end.loading == .missing { return true }
    guard let context = end.table?.context else { return false }
    do { return try context.isGone(end.objectID) } catch {
      context.deferError(error)
      return false
    }
  }

  /// Removes a stored member that has left, on this side only.
  private final func removeUnstored(_ other: ManagedObject, in relationship: RelationshipLayout) {
    let members = members(of: relationship)
    let isMember = members.contains(other.objectID) ?? !members.removed.contains(other.objectID)
    if isMember { forget(other, in: relationship) }
  }

  /// Adds a member that isn't stored, on this side only.
  private final func gainUnlessMember(_ other: ManagedObject, in relationship: RelationshipLayout) {
    let members = members(of: relationship)
    let isMember = members.contains(other.objectID) ?? members.added.contains(other.objectID)
    if !isMember { gain(other, in: relationship) }
  }
}

extension RelationshipLayout {
  /// Whether the relationship still refers to an object after its deletion.
  func mayOutlast(_ end: ManagedObject) -> Bool {
    guard let inverse, inverse.slot < end.layout.relationshipsBySlot.count,
      let back = end.layout.relationshipsBySlot[inverse.slot], back.name == inverse.name
    else { return inverse == nil }
    return back.leavesOthersAlone
  }
}
