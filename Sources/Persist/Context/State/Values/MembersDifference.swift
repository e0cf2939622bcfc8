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
    // Additions and removals that are no longer pending may have been saved by others.
    var (won, left) = (oldRemoved.subtracting(members.removed), oldAdded.subtracting(members.added))
    if members.isSearchable {
      won = OrderedSet(won.filter { members.contains($0) == true })
      left = OrderedSet(left.filter { members.contains($0) == false })
    }
    gained = members.added.subtracting(oldAdded).union(won)
    lost = members.removed.subtracting(oldRemoved).union(left)
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
