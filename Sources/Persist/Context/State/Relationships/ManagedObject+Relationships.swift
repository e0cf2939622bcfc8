/// Every change keeps both sides of a relationship consistent, before and after saving: setting one side sets the
/// other.
///
/// An object without a context has no relationships: they read as empty, and setting them has no effect. In an object
/// that was never inserted into one, setting them traps, because the program expects to find the objects there later.
extension ManagedObject {
  /// Returns the destination of a to-one relationship by slot, and holds it as long as this object lives.
  public final func toOne(at slot: Int) -> ManagedObject? {
    recordRead(at: slot)
    guard let end = destination(at: slot) else { return nil }
    hold(end, at: slot)
    return end
  }

  /// Does the same as ``toOne(at:)`` without holding the object.
  final func destination(at slot: Int) -> ManagedObject? {
    if loading == .fault { fulfill() }
    if !hasLooseValues, let object = storedDestination(at: slot) { return withCompanions(object) }
    return uncommonDestination(at: slot)
  }

  /// Returns a destination that was changed or isn't registered. Not inlined, so that the common case retains nothing
  /// of what is needed here.
  @inline(never)
  private final func uncommonDestination(at slot: Int) -> ManagedObject? {
    guard let table else {
      if let recording = KeyPathRecording.current { return recording.destination(of: slot, of: self) }
      recordEmptyAnswer(at: slot)
      return nil
    }
    if let value = looseValues[slot] {
      guard case .objectID(let id) = value else { return nil }
      return withCompanions(table.context.registeredOrFault(id))
    }
    guard let snapshot, let siblings = table.siblings, let relationship = layout.relationshipsBySlot[slot],
      let key = committedKey(of: relationship, in: snapshot)
    else { return nil }
    let target = table.context.layout(ofDestination: relationship, in: snapshot, of: layout)
    return withCompanions(table.context.registeredOrFault(target, key: key, in: siblings))
  }

  /// Returns the stored destination if it is registered: the most common case, found without other reference counts
  /// than its own.
  @inline(__always)
  private final func storedDestination(at slot: Int) -> ManagedObject? {
    let rootIndex = withLayout { $0.destinationRoots[slot] }
    guard rootIndex >= 0, !isDraft, let row = row?.view, !row.isNull(slot, of: rowSlotCount) else { return nil }
    return tableReference?._withUnsafeGuaranteedRef {
      $0.siblings?.registeredObject(key: row.integer(slot), rootIndex: rootIndex)
    }
  }

  /// Returns a related object, with its row if that was prefetched.
  @inline(__always)
  final func withCompanions(_ object: ManagedObject?) -> ManagedObject? {
    guard let companions, let object else { return object }
    if companions.areWanted(by: object) { companions.fill(object) }
    return object
  }

  /// Sets a to-one relationship by slot, along with its other side.
  ///
  /// - Parameters:
  ///   - other: An object of the same context, with the relationship's destination entity.
  ///   - slot: The slot of the relationship.
  public final func setToOne(_ other: ManagedObject?, at slot: Int) {
    guard let relationship = layout.relationshipsBySlot[slot] else {
      if other != nil { failWithoutContext(at: slot) }
      return
    }
    guard let table else { return }
    if let other { requireRelatable(other, by: relationship) }
    if loading == .fault { fulfill() }
    if let other, relationship.inverse?.isToMany == false, other.loading == .fault { other.fulfill() }
    // An object whose row is gone can't be related to others: assigning it, or to it, counts as assigning nil.
    let other = loading == .missing || other?.loading == .missing ? nil : other
    markGiven(slot)
    let old = destination(at: slot)
    if old === other, old != nil || committedOrPendingIsNull(at: slot) { return }
    recordChange(at: slot)
    table.observedChanges.begin()
    defer { table.observedChanges.end() }
    willChange()
    setPending(other.map { .objectID($0.objectID) } ?? .null, at: slot)
    if let other { hold(other, at: slot) }
    if let other, relationship.inverse == nil { table.context.oneWay.record(other, of: self) }
    // In some stores the old destination refers to another object; it is then left unchanged.
    if let old, let back = old.back(of: relationship), back.isToMany || old.refers(to: self, at: back) {
      old.forget(self, in: back)
      if other == nil { endStored(relationship, with: old) }
    }
    guard let other, let back = other.back(of: relationship) else { return }
    if back.isToMany {
      other.gain(self, in: back)
    } else {
      if other.destination(at: back.slot) === self { other.catchUp(at: back) }
      if let previous = other.destination(at: back.slot), previous !== self,
        previous.refers(to: other, at: relationship)
      {
        previous.forget(other, in: relationship)
      }
      other.willChange()
      other.setPending(.objectID(objectID), at: back.slot)
      other.markGiven(back.slot)
    }
  }

  private final func committedOrPendingIsNull(at slot: Int) -> Bool {
    if let value = looseValues[slot] { return value.isNull }
    guard let snapshot else { return true }
    return snapshot.isNull(slot, of: layout.rowSlotCount)
  }

  /// Returns this object's inverse of a relationship, or nil if there is none.
  @inline(never) final func back(of relationship: RelationshipLayout) -> RelationshipLayout? {
    guard let inverse = relationship.inverse, inverse.slot < layout.relationshipsBySlot.count,
      let back = layout.relationshipsBySlot[inverse.slot], back.name == inverse.name
    else { return nil }
    return back
  }

  /// Adds a member to one of this object's to-many relationships, on this side only.
  ///
  /// A member that left an ordered relationship and is added again goes to the end, whether or not the members were
  /// read.
  final func gain(_ other: ManagedObject, in relationship: RelationshipLayout, at index: Int? = nil) {
    willChangeMembers()
    let members = members(of: relationship)
    if relationship.isOrdered || members.mayOverlapStored, members.removed.contains(other.objectID) {
      _ = memberIDs(of: relationship)
    }
    if relationship.isOneWayToMany { removeFromFormerOwner(other, of: relationship) }
    if relationship.inverse == nil { table?.context.oneWay.record(other, of: self) }
    members.insert(other.objectID, at: index)
    retainNewMember(other, at: relationship.slot)
  }

  /// Removes an object from one of this object's relationships, on this side only.
  final func forget(_ other: ManagedObject, in relationship: RelationshipLayout) {
    if relationship.isToMany {
      willChangeMembers()
      let members = members(of: relationship)
      let isNew = members.added.contains(other.objectID)
      if members.mayOverlapStored, isNew { _ = memberIDs(of: relationship) }
      members.remove(other.objectID)
      if isNew, !members.removed.contains(other.objectID) { releaseMember(other, at: relationship.slot) }
      if isNew, relationship.isOneWayToMany { table?.context.returnTakenMembers() }
    } else {
      willChange()
      setPending(.null, at: relationship.slot)
      endStored(relationship, with: other)
    }
  }

  /// Ends a relationship that is nil here in the newest row too, if that is one-to-one and others have since related
  /// this object to the one that it had here: a nil that equals an older row would not be saved.
  private final func endStored(_ relationship: RelationshipLayout, with other: ManagedObject) {
    guard other.isStoredPartner(of: self, back: relationship) else { return }
    catchUp(at: relationship)
    if destination(at: relationship.slot) === other {
      willChange()
      setPending(.null, at: relationship.slot)
    }
  }

  /// Whether the object's row refers to another one as the partner of a one-to-one relationship.
  final func isStoredPartner(of other: ManagedObject, back relationship: RelationshipLayout) -> Bool {
    guard snapshot != nil, relationship.inverse?.isToMany == false, let own = back(of: relationship) else {
      return false
    }
    return committedValue(at: own.slot) == .objectID(other.objectID)
  }

  /// Whether a relationship may refer to an object: to a deleted one only if its delete rule leaves the other end
  /// unchanged.
  final func mayLead(to other: ManagedObject, by relationship: RelationshipLayout) -> Bool {
    guard other.change == .deleted else { return true }
    guard let back = other.back(of: relationship) else { return !relationship.isOneWayToMany }
    return back.deleteRule == .deny || back.deleteRule == .noAction
  }

  /// Whether this object's own side of a relationship refers to another object, which refers to this one by
  /// `relationship`.
  @inline(never) final func leads(to other: ManagedObject, back relationship: RelationshipLayout) -> Bool {
    guard let own = back(of: relationship) else { return true }
    guard own.isToMany else { return destination(at: own.slot) === other }
    let members = members(of: own)
    if let isMember = members.contains(other.objectID) { return isMember }
    if members.added.contains(other.objectID) { return true }
    if members.removed.contains(other.objectID) { return false }
    // If unread, the store's members are the objects whose rows refer to this object.
    if !relationship.isToMany { return other.committedValue(at: relationship.slot) == .objectID(objectID) }
    return isReadMember(other, of: own)
  }

  /// Whether a to-one relationship of this object refers to another one that refers to this object. If this object was
  /// read before others related the two, it adopts its newest row.
  final func refers(to other: ManagedObject, at relationship: RelationshipLayout) -> Bool {
    if destination(at: relationship.slot) === other { return true }
    guard other.change != .inserted else { return false }
    catchUp(at: relationship)
    return change != .deleted && destination(at: relationship.slot) === other
  }

  /// Adopts the object's newest row if its side of a relationship disagrees with the other one and isn't changed here.
  ///
  /// If a save would detect others' changes of the row as a conflict, it is left to do so, even if the changes that it
  /// would write are taken back.
  private final func catchUp(at relationship: RelationshipLayout) {
    guard let context = table?.context else { return }
    if isCheckedBySave {
      context.graph.watchEnd(self)
    } else if !isChanged(at: relationship.slot), canBeReplaced {
      context.hooks.adoptNewerRow(self, context)
    }
  }

  /// Whether the object can adopt its newest row at any time. If a save checks its row, others' changes are a conflict.
  final var canBeReplaced: Bool {
    loading != .missing && (change == .none || change == .updated) && table != nil && !isCheckedBySave
  }

  /// The destination of a to-one relationship according to the object's row, whatever value it has now.
  final func storedEnd(of relationship: RelationshipLayout) -> ManagedObject? {
    guard case .objectID(let id) = committedValue(at: relationship.slot) else { return nil }
    return table?.context.registeredOrFault(id)
  }

  /// Does the same as ``willChange()`` for a to-many relationship: the row isn't needed until the save.
  final func willChangeMembers() {
    markNewlyChanged()
    if !isInEvent { enterEvent() }
    if change == .none, loading == .loaded || loading == .fault { table?.context.graph.update(self) }
  }

  private final func requireRelatable(_ other: ManagedObject, by relationship: RelationshipLayout) {
    precondition(
      other.table?.context === table?.context,
      "\(layout.entity.name).\(relationship.name) can contain only objects of its owner's context.")
    precondition(
      other.layout.isKind(ofEntityAt: relationship.destinationIndex),
      "\(layout.entity.name).\(relationship.name) can't contain objects of '\(other.layout.entity.name)'.")
  }
}

extension ManagedObject {
  /// Returns the members of a to-many relationship with their changes, whether or not they are read.
  final func members(of relationship: RelationshipLayout) -> ToManyMembers {
    if !toManys.isEmpty, let members = toManys[relationship.slot] { return members }
    let isKnown = table?.isTemporary != false || change == .inserted || relationship.isTransient
    let members = ToManyMembers(isOrdered: relationship.isOrdered, base: isKnown ? [] : nil)
    setMembers(members, at: relationship.slot)
    return members
  }

  /// Returns the current members of a to-many relationship as a set for lookups, reading them from the store if
  /// necessary.
  @inline(never)
  final func memberIDs(of relationship: RelationshipLayout) -> OrderedSet<ManagedObjectID> {
    guard let members = readMembers(of: relationship) else { return [] }
    return members.current ?? members.added
  }

  /// Does the same as ``memberIDs(of:)``, as a list for iteration.
  @inline(never)
  final func memberList(of relationship: RelationshipLayout) -> MemberList {
    guard let members = readMembers(of: relationship) else { return .identifiers([]) }
    return members.list ?? .identifiers(members.added.elements)
  }

  /// Returns the number of members, reading them from the store if necessary.
  final func memberCount(of relationship: RelationshipLayout) -> Int {
    guard let members = readMembers(of: relationship) else { return 0 }
    return members.count ?? members.added.count
  }

  /// Returns every member as an object.
  final func memberObjects(of relationship: RelationshipLayout) -> [ManagedObject] {
    let list = memberList(of: relationship)
    return list.objects(0..<list.count, of: self)
  }

  /// Returns the members of a to-many relationship, known except after an error; nil if there is no source to read them
  /// from.
  @inline(never) private final func readMembers(of relationship: RelationshipLayout) -> ToManyMembers? {
    guard let table else {
      if let recording = KeyPathRecording.current {
        recording.recordWalk(relationship, of: self)
      } else {
        recordEmptyAnswer(at: relationship.slot)
      }
      return nil
    }
    let members = members(of: relationship)
    if members.areKnown { return members }
    guard let store = table.store else { return nil }
    table.context.recordMembers(of: self, at: relationship.slot)
    do {
      var stored = try store.related(by: layout.properties[relationship.slot], of: layout.entity, key: key)
      if relationship.isOneWayToMany { stored = withoutTakenMembers(stored, of: relationship) }
      members.load(.identifiers(stored))
    } catch {
      table.context.deferError(error)
    }
    return members
  }

  /// Whether an object is a member. With a to-one inverse, the members needn't be read.
  @inline(never) final func isMember(_ other: ManagedObject, of relationship: RelationshipLayout) -> Bool {
    if change == .inserted || !toManys.isEmpty, let isMember = members(of: relationship).contains(other.objectID) {
      return isMember
    }
    if let back = other.back(of: relationship), !back.isToMany { return other.destination(at: back.slot) === self }
    readMembersInRun(of: relationship)
    return isReadMember(other, of: relationship)
  }

  /// Does the same, reading the members if necessary.
  private final func isReadMember(_ other: ManagedObject, of relationship: RelationshipLayout) -> Bool {
    guard let members = readMembers(of: relationship) else { return false }
    return members.contains(other.objectID) ?? members.added.contains(other.objectID)
  }

  /// Adds a member, or moves an existing one to an index.
  final func insertMember(_ other: ManagedObject, at index: Int? = nil, of relationship: RelationshipLayout) {
    guard let table else { return }
    requireRelatable(other, by: relationship)
    if index != nil { _ = memberIDs(of: relationship) }
    if isMember(other, of: relationship) {
      if let index { move(other, to: index, in: relationship) }
      return
    }
    recordChange(at: relationship.slot)
    table.observedChanges.begin()
    defer { table.observedChanges.end() }
    gain(other, in: relationship, at: index)
    guard let back = other.back(of: relationship), !(other === self && relationship.isOwnInverse) else { return }
    if back.isToMany {
      other.gain(self, in: back)
    } else {
      if let owner = other.destination(at: back.slot), owner !== self {
        owner.forget(other, in: relationship)
      }
      other.willChange()
      other.setPending(.objectID(objectID), at: back.slot)
      other.markGiven(back.slot)
    }
  }

  @inline(never) final func removeMember(_ other: ManagedObject, of relationship: RelationshipLayout) {
    guard let table, isMember(other, of: relationship) else { return }
    recordChange(at: relationship.slot)
    table.observedChanges.begin()
    defer { table.observedChanges.end() }
    forget(other, in: relationship)
    guard let back = other.back(of: relationship), !(other === self && relationship.isOwnInverse) else { return }
    other.forget(self, in: back)
  }

  /// Replaces the members, in this order for an ordered relationship.
  final func replaceMembers(with others: [ManagedObject], of relationship: RelationshipLayout) {
    guard let context = table?.context else { return }
    for other in others { requireRelatable(other, by: relationship) }
    let old = memberIDs(of: relationship)
    let new = OrderedSet(others.map(\.objectID))
    if relationship.isOrdered ? old == new : old.isEqualSet(to: new) { return }
    recordChange(at: relationship.slot)
    context.observedChanges.begin()
    defer { context.observedChanges.end() }
    for id in old.subtracting(new) {
      guard let other = context.registeredOrFault(id) else { continue }
      removeMember(other, of: relationship)
    }
    for other in others where !old.contains(other.objectID) { insertMember(other, of: relationship) }
    if relationship.isOrdered {
      willChangeMembers()
      members(of: relationship).replace(with: new)
    }
  }

  private final func move(_ other: ManagedObject, to index: Int, in relationship: RelationshipLayout) {
    var order = memberIDs(of: relationship)
    guard order.remove(other.objectID) != nil else { return }
    order.insert(other.objectID, at: min(index, order.count))
    guard order != memberIDs(of: relationship) else { return }
    willChangeMembers()
    members(of: relationship).replace(with: order)
  }
}
