/// The changes to the members of a to-many relationship between an earlier state and the current one.
struct MembersDifference {
  let gained: OrderedSet<ManagedObjectID>
  let lost: OrderedSet<ManagedObjectID>
  /// The members in their earlier order, for an ordered relationship with known members.
  let oldOrder: OrderedSet<ManagedObjectID>?
  /// The members in their current order, under the same conditions.
  let newOrder: OrderedSet<ManagedObjectID>?

  /// Returns nil if nothing changed.
  init?(of relationship: RelationshipLayout, before: ObjectState, now object: ManagedObject) {
    guard !object.toManys.isEmpty, let members = object.toManys[relationship.slot] else { return nil }
    let old = before.members.isEmpty ? nil : before.members[relationship.slot]
    let (oldAdded, oldRemoved) = (old?.added ?? [], old?.removed ?? [])
    let now = members.isHashed ? members.current : nil
    // Additions and removals that are no longer pending may have been saved by others.
    let (won, left) = (oldRemoved.subtracting(members.removed), oldAdded.subtracting(members.added))
    gained = members.added.subtracting(oldAdded).union(now.map(won.intersection) ?? won)
    lost = members.removed.subtracting(oldRemoved).union(now.map(left.subtracting) ?? left)
    guard relationship.isOrdered else {
      (oldOrder, newOrder) = (nil, nil)
      if gained.isEmpty, lost.isEmpty { return nil }
      return
    }
    if gained.isEmpty, lost.isEmpty, !members.isReordered, old?.isReordered != true, members.added == oldAdded {
      return nil
    }
    // Since order counts, both the old and the new members must be known.
    newOrder = members.current ?? object.memberIDs(of: relationship)
    oldOrder =
      old?.order ?? members.base.map { base in base.subtracting(oldRemoved).union(oldAdded) }
    if gained.isEmpty, lost.isEmpty, oldOrder == newOrder { return nil }
  }
}
