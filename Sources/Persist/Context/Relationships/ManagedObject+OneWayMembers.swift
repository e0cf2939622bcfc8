import OrderedCollections

/// Members of to-many relationships without an inverse.
///
/// The member's row names its owner, so an object belongs to one owner of such a relationship at most.
extension ManagedObject {
  /// Removes an object that becomes a member from its former owner, if that has read or added it.
  ///
  /// - Complexity: O(1) for a new member; otherwise O(*live objects*).
  final func removeFromFormerOwner(_ member: ManagedObject, of relationship: RelationshipLayout) {
    guard let context = table?.context else { return }
    var owners: [ManagedObject] = []
    if member.change == .inserted {
      // Only unsaved additions lead to a new object.
      let place = OneWayMember(
        member: member.objectID, slot: relationship.slot,
        entity: layout.entity.properties[relationship.slot].declaringEntity)
      if let owner = context.oneWayOwners[place].flatMap({ context.registeredObject(for: $0) }), owner !== self {
        owners = [owner]
      }
      context.oneWayOwners[place] = objectID
    } else {
      owners = otherOwners(of: relationship)
    }
    for owner in owners where !owner.toManys.isEmpty {
      guard let members = owner.toManys[relationship.slot] else { continue }
      let isMember = members.current?.contains(member.objectID) ?? members.added.contains(member.objectID)
      if isMember { owner.forget(member, in: relationship) }
    }
  }

  /// The stored members without those that other owners were given since the last save.
  final func withoutTakenMembers(
    _ stored: [ManagedObjectID], of relationship: RelationshipLayout
  ) -> [ManagedObjectID] {
    guard let context = table?.context, context.hasChanges else { return stored }
    var taken: Set<ManagedObjectID> = []
    for owner in context.inserted.objects + context.updated.objects
    where owner !== self && !owner.toManys.isEmpty && owner.has(relationship, of: self) {
      taken.formUnion(owner.toManys[relationship.slot]?.added ?? [])
    }
    return taken.isEmpty ? stored : stored.filter { !taken.contains($0) }
  }

  /// Makes other owners reread their members, when this one discards members that it was given.
  final func returnMembersToOwners() {
    guard !toManys.isEmpty else { return }
    for relationship in layout.relationships where relationship.isOneWayToMany {
      if toManys[relationship.slot]?.added.isEmpty == false { rereadOtherOwners(of: relationship) }
    }
  }

  final func rereadOtherOwners(of relationship: RelationshipLayout) {
    for owner in otherOwners(of: relationship) where owner.change == .none {
      owner.toManys[relationship.slot]?.forgetStored()
    }
  }

  /// The live objects with members of a relationship that aren't deleted.
  private final func otherOwners(of relationship: RelationshipLayout) -> [ManagedObject] {
    guard let context = table?.context else { return [] }
    return context.tables.flatMap { table in
      table.map.objects.filter { owner in
        !owner.toManys.isEmpty && owner !== self && owner.change != .deleted && owner.has(relationship, of: self)
      }
    }
  }

  private final func has(_ relationship: RelationshipLayout, of other: ManagedObject) -> Bool {
    let (slot, properties) = (relationship.slot, layout.entity.properties)
    guard slot < properties.count, slot < layout.relationshipsBySlot.count, layout.relationshipsBySlot[slot] != nil
    else { return false }
    let own = other.layout.entity.properties[slot]
    return properties[slot].name == own.name && properties[slot].declaringEntity == own.declaringEntity
  }
}

/// A member of a to-many relationship without an inverse.
struct OneWayMember: Hashable {
  let member: ManagedObjectID
  let slot: Int
  /// The entity that declares the relationship.
  let entity: String
}

extension RelationshipLayout {
  /// Whether the members' rows alone name the owner.
  var isOneWayToMany: Bool { isToMany && inverse == nil && !isTransient }
}
