/// Members of to-many relationships without an inverse.
///
/// The member's row names its owner, so that an object has at most one owner in such a relationship. A member that is
/// added to another owner, or deleted, is removed from its former owner, as it would be with an inverse: both owners
/// count as changed.
extension ManagedObject {
  /// Removes an object that becomes a member from its former owner.
  ///
  /// - Complexity: O(1) with one read for a saved member of an owner whose members are read; otherwise O(*live
  ///   objects*), because others may have moved the member since its owner here was read.
  final func removeFromFormerOwner(_ member: ManagedObject, of relationship: RelationshipLayout) {
    guard let context = table?.context else { return }
    let place = OneWayPlace(relationship, of: layout)
    for owner in context.oneWayOwners(of: member, in: place) where owner !== self {
      owner.loseOneWayMember(member, of: relationship)
    }
    context.oneWay.add(OneWayMember(member.objectID, place), to: objectID)
  }

  /// Removes a member. The relationship may be that of another entity in the object's hierarchy; the object's own has
  /// the same slot.
  @inline(never)
  final func loseOneWayMember(_ member: ManagedObject, of relationship: RelationshipLayout) {
    forget(member, in: layout.relationshipsBySlot[relationship.slot] ?? relationship)
  }

  /// Removes the object from its owners, because it is deleted.
  final func leaveOneWayOwners() {
    let hasReferrers = withLayout { !$0.oneWayReferrers.isEmpty }
    guard hasReferrers, let context = table?.context else { return }
    for (place, relationship) in layout.oneWayPlaces(in: context.layouts) {
      guard let owner = context.oneWayOwner(of: self, in: place) else { continue }
      owner.loseOneWayMember(self, of: relationship)
    }
  }

  /// Returns the stored members without those that unsaved changes added to other owners, unless this owner removed
  /// them.
  final func withoutTakenMembers(
    _ stored: [ManagedObjectID], of relationship: RelationshipLayout
  ) -> [ManagedObjectID] {
    guard let context = table?.context else { return stored }
    let taken = context.addedOneWayMembers(of: relationship, layout)
    return without(taken, .identifiers(stored), of: relationship).identifiers
  }

  /// Does the same for members that unsaved changes added to owners, as ``addedOneWayMembers(of:_:)`` returns them.
  final func without(
    _ taken: [ManagedObjectID: ManagedObject], _ stored: MemberList, of relationship: RelationshipLayout
  ) -> MemberList {
    guard !taken.isEmpty else { return stored }
    let removed = members(of: relationship).removed
    let ids = stored.identifiers
    let rest = ids.filter { id in taken[id].map { $0 === self || removed.contains(id) } ?? true }
    if rest.count == ids.count { return stored }
    table?.context.oneWay.recordWithoutTaken(objectID)
    return .identifiers(rest)
  }
}

extension ManagedObjectContext {
  /// Returns the members that unsaved changes added to owners in a relationship without an inverse, with these owners.
  func addedOneWayMembers(
    of relationship: RelationshipLayout, _ layout: EntityLayout
  ) -> [ManagedObjectID: ManagedObject] {
    guard hasChanges else { return Dictionary() }
    var added: [ManagedObjectID: ManagedObject] = Dictionary()
    let place = OneWayPlace(relationship, of: layout)
    for owner in graph.insertedAndUpdated
    where !owner.toManys.isEmpty && place.isRelationship(of: owner.layout) {
      for id in owner.toManys[relationship.slot]?.added ?? [] { added[id] = owner }
    }
    return added
  }

  /// Returns the object that has another one as a member of a relationship without an inverse; nil if there is none, or
  /// if it is deleted.
  ///
  /// Read errors are thrown by the context's next call that can throw.
  func oneWayOwner(of member: ManagedObject, in place: OneWayPlace) -> ManagedObject? {
    if let owner = unsavedOneWayOwner(of: member.objectID, in: place) { return owner }
    guard member.change != .inserted else { return nil }
    do {
      return try storedOwners(of: [member], in: place).first?.owner
    } catch {
      deferError(error)
      return nil
    }
  }

  /// Returns the object to which an unsaved change has added a member; nil if there is none, or if it is deleted.
  private func unsavedOneWayOwner(of member: ManagedObjectID, in place: OneWayPlace) -> ManagedObject? {
    guard let owner = oneWay.owner(of: OneWayMember(member, place)).flatMap({ registeredObject(for: $0) }),
      owner.change != .deleted, owner.hasAddedOneWayMember(member, at: place.slot)
    else { return nil }
    return owner
  }

  /// Returns the objects that show another one as a member of a relationship without an inverse. There can be more than
  /// one after others have moved the member.
  fileprivate func oneWayOwners(of member: ManagedObject, in place: OneWayPlace) -> [ManagedObject] {
    let owner = oneWayOwner(of: member, in: place)
    if let owner, owner.shows(member, at: place.slot) { return [owner] }
    guard member.change != .inserted else { return [] }
    let others = tables.flatMap { table in
      table.map.objects.filter { object in
        object !== owner && object.change != .deleted && place.isRelationship(of: object.layout)
          && object.shows(member, at: place.slot)
      }
    }
    return others + (owner.map { [$0] } ?? [])
  }

  /// Returns the owners of members according to the store, except deleted ones and those from which the members were
  /// removed here.
  ///
  /// - Throws: The store's errors.
  func storedOwners(
    of members: [ManagedObject], in place: OneWayPlace
  ) throws -> [(member: ManagedObject, owner: ManagedObject)] {
    let owning = layouts[place.entityIndex]
    var found: [(member: ManagedObject, owner: ManagedObject)] = []
    for (_, members) in Dictionary(grouping: members, by: { $0.table.map(ObjectIdentifier.init) }) {
      guard let store = members.first?.table?.store else { continue }
      let ids = try store.owners(
        by: owning.properties[place.slot], of: owning.entity, members: members.map(\.rowKey))
      for member in members {
        guard let owner = ids[member.rowKey].flatMap({ registeredOrFault($0) }), owner.change != .deleted,
          !owner.hasRemovedOneWayMember(member.objectID, at: place.slot)
        else { continue }
        // The owner's row may have been deleted.
        if owner.loading == .fault { owner.fulfill() }
        if owner.loading != .missing { found.append((member, owner)) }
      }
    }
    return found
  }

  /// Removes members that were added here from other owners, to which others have moved them since.
  ///
  /// - Returns: Whether an owner lost a member.
  /// - Throws: The store's errors.
  func removeAddedOneWayMembersFromStoredOwners() throws -> Bool {
    guard oneWay.hasAdded else { return false }
    var hasMoved = false
    for owner in graph.insertedAndUpdated where !owner.toManys.isEmpty {
      for relationship in owner.layout.relationships where relationship.isOneWayToMany {
        let place = OneWayPlace(relationship, of: owner.layout)
        let added = owner.toManys[relationship.slot]?.added.filter { !$0.isTemporaryID } ?? []
        let members = added.compactMap { registeredOrFault($0) }.filter { $0.change != .inserted }
        for (member, former) in try storedOwners(of: members, in: place) where former !== owner {
          former.loseOneWayMember(member, of: relationship)
          hasMoved = true
        }
      }
    }
    return hasMoved
  }

  /// Does the same for owners whose deletion was reverted: others may have added the members to them while they were
  /// deleted. Read errors are thrown by the context's next call that can throw.
  func removeAddedOneWayMembersFromReturnedOwners() {
    do { _ = try removeAddedOneWayMembersFromStoredOwners() } catch { deferError(error) }
  }

  /// Makes owners that were read without members taken by other owners reread them, after unsaved changes were
  /// discarded or reverted.
  func returnTakenMembers() {
    for owner in oneWay.takeOwnersWithoutTaken().compactMap({ registeredObject(for: $0) })
    where !owner.toManys.isEmpty {
      for relationship in owner.layout.relationships where relationship.isOneWayToMany {
        owner.toManys[relationship.slot]?.forgetStored()
      }
    }
  }

  /// Removes members that were deleted here from owners to which others have added them since.
  ///
  /// - Returns: Whether an owner lost a member.
  /// - Throws: The store's errors.
  func removeDeletedOneWayMembersFromStoredOwners() throws -> Bool {
    var hasMoved = false
    let gone = graph.deleted.filter { object in
      object.withLayout { $0.isOneWayMember(in: layouts) }
    }
    for (_, members) in Dictionary(grouping: gone, by: { ObjectIdentifier($0.layout) }) {
      for (place, relationship) in members.first?.layout.oneWayPlaces(in: layouts) ?? [] {
        for (member, former) in try storedOwners(of: members, in: place) {
          former.loseOneWayMember(member, of: relationship)
          hasMoved = true
        }
      }
    }
    return hasMoved
  }

  /// Registers the owners of members again after members have received other identifiers.
  func renameOneWayMembers() {
    guard oneWay.hasAdded else { return }
    var owners: [OneWayMember: ManagedObjectID] = Dictionary()
    for owner in graph.insertedAndUpdated where !owner.toManys.isEmpty {
      for relationship in owner.layout.relationships where relationship.isOneWayToMany {
        let place = OneWayPlace(relationship, of: owner.layout)
        for member in owner.toManys[relationship.slot]?.added ?? [] {
          owners[OneWayMember(member, place)] = owner.objectID
        }
      }
    }
    oneWay.replaceAdded(by: owners)
  }

  /// Returns the owners of members by the members' row keys, including unsaved changes.
  ///
  /// - Throws: The store's errors.
  func owners(
    ofOneWayMembers keys: [Int64], in place: OneWayPlace, of tables: StoreTables
  ) throws -> [Int64: ManagedObjectID] {
    let owning = layouts[place.entityIndex]
    let property = owning.properties[place.slot]
    var owners = try tables.store.owners(by: property, of: owning.entity, members: keys.filter { $0 > 0 })
    guard hasChanges, let destination = property.relationship.map({ layout(of: model.destination(of: $0)) }) else {
      return owners
    }
    for key in keys {
      // Members that were added or removed here are registered.
      guard let member = registeredObject(ofRow: key, destination, in: tables)?.objectID else { continue }
      if let owner = unsavedOneWayOwner(of: member, in: place) {
        owners[key] = owner.objectID
      } else if let owner = owners[key].flatMap({ registeredObject(for: $0) }),
        owner.hasRemovedOneWayMember(member, at: place.slot)
      {
        owners[key] = nil
      }
    }
    return owners
  }
}

extension ManagedObject {
  /// Whether the members have been read and include an object.
  fileprivate final func shows(_ member: ManagedObject, at slot: Int) -> Bool {
    !toManys.isEmpty && toManys[slot]?.contains(member.objectID) == true
  }

  fileprivate final func hasAddedOneWayMember(_ member: ManagedObjectID, at slot: Int) -> Bool {
    !toManys.isEmpty && toManys[slot]?.added.contains(member) == true
  }

  fileprivate final func hasRemovedOneWayMember(_ member: ManagedObjectID, at slot: Int) -> Bool {
    !toManys.isEmpty && toManys[slot]?.removed.contains(member) == true
  }
}

/// A to-many relationship without an inverse, in the entity that declares it or one of its subentities.
struct OneWayPlace {
  let slot: Int
  /// The entity that declares the relationship.
  let declaringEntity: String
  /// An entity that has the relationship.
  let entityIndex: Int

  init(_ relationship: RelationshipLayout, of layout: EntityLayout) {
    slot = relationship.slot
    declaringEntity = layout.properties[slot].declaringEntity
    entityIndex = layout.index
  }

  func isRelationship(of layout: EntityLayout) -> Bool {
    slot < layout.properties.count && layout.properties[slot].declaringEntity == declaringEntity
      && layout.relationshipsBySlot[slot]?.isOneWayToMany == true
  }
}

extension EntityLayout {
  /// The to-many relationships without an inverse whose members include objects of the entity.
  func oneWayPlaces(in layouts: EntityLayouts) -> [(place: OneWayPlace, relationship: RelationshipLayout)] {
    oneWayReferrers.compactMap { referrer in
      let owning = layouts[referrer.entityIndex]
      guard let relationship = owning.relationshipsBySlot[referrer.slot], relationship.isOneWayToMany else {
        return nil
      }
      return (OneWayPlace(relationship, of: owning), relationship)
    }
  }

  func isOneWayMember(in layouts: EntityLayouts) -> Bool {
    oneWayReferrers.contains { layouts[$0.entityIndex].relationshipsBySlot[$0.slot]?.isOneWayToMany == true }
  }
}

/// A member of a to-many relationship without an inverse.
struct OneWayMember: Hashable {
  private let member: ManagedObjectID
  private let slot: Int
  private let declaringEntity: String

  init(_ member: ManagedObjectID, _ place: OneWayPlace) {
    self.member = member
    slot = place.slot
    declaringEntity = place.declaringEntity
  }
}

extension RelationshipLayout {
  /// Whether the members' rows alone name the owner.
  var isOneWayToMany: Bool { isToMany && inverse == nil && !isTransient }
}
