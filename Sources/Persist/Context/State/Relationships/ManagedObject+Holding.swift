/// Holding of related objects: an object holds those that were reached from it through its relationships, until it is
/// deallocated, becomes a fault or leaves its context.
///
/// Every object counts its holders, and retains itself while it has any. Unlike plain references between objects, this
/// allows ``HeldCycles`` to find objects held only by each other, and releases a chain of a million objects one by one,
/// without a million nested calls.
extension ManagedObject {
  /// The value of ``heldSlot`` while nothing is held there.
  static var noSlot: UInt8 { .max }

  /// Holds the destination of a to-one relationship instead of the former one.
  ///
  /// While the relationship has an unsaved change, the former destination is held too, because a rollback restores it.
  @inline(__always)
  final func hold(_ end: ManagedObject, at slot: Int) {
    if Int(heldSlot) == slot, heldEnd?.toOpaque() == Unmanaged.passUnretained(end).toOpaque() { return }
    retainAgain(end, at: slot)
  }

  @inline(never)
  private final func retainAgain(_ end: ManagedObject, at slot: Int) {
    guard end !== self, tableReference != nil, end.tableReference != nil, related?.holds(end, at: slot) != true
    else { return }
    let isUnsaved = isDraft || looseValues.contains(slot)
    if !isUnsaved { releaseFormerEnds { other, former in other == slot && former !== end } }
    if heldEnd == nil, slot < Int(Self.noSlot) {
      (heldEnd, heldSlot) = (.passUnretained(end), UInt8(truncatingIfNeeded: slot))
      end.gainHolder()
    } else {
      makeRelated().hold(end, at: slot)
    }
    becomeHolder()
  }

  private final func releaseFormerEnds(where isFormer: (Int, ManagedObject) -> Bool) {
    related?.releaseEnds(where: isFormer)
    guard let end = heldEnd, isFormer(Int(heldSlot), end.takeUnretainedValue()) else { return }
    (heldEnd, heldSlot) = (nil, Self.noSlot)
    Self.loseHolder(end)
  }

  /// Releases former destinations of to-one relationships, after changes were saved or discarded.
  final func releaseFormerEnds() {
    guard heldEnd != nil || related != nil, loading == .loaded else { return }
    releaseFormerEnds { slot, end in destination(at: slot) !== end }
  }

  /// Holds members of a to-many relationship that the program accessed.
  final func holdMembers(_ members: some Sequence<ManagedObject>, at slot: Int) {
    guard tableReference != nil, members.contains(where: { $0 !== self }) else { return }
    let related = makeRelated()
    related.reserveMembers(members.underestimatedCount, at: slot)
    for member in members where member !== self { related.holdMember(member, at: slot) }
    becomeHolder()
  }

  /// Records that all members were accessed, so that future members are held too.
  final func retainAllMembers(_ list: MemberList, at slot: Int) {
    related?.haveAllMembers(count: list.count, at: slot) {
      guard let context = table?.context else { return [] }
      return list.identifiers.compactMap { context.registeredObject(for: $0) }
    }
  }

  /// Holds a new member if all the others are held.
  final func retainNewMember(_ member: ManagedObject, at slot: Int) {
    guard let related, related.areMembersWhole(at: slot) else { return }
    holdMembers(CollectionOfOne(member), at: slot)
  }

  final func releaseMember(_ member: ManagedObject, at slot: Int) { related?.releaseMember(member, at: slot) }

  private final func makeRelated() -> RelatedObjects {
    if let related { return related }
    let made = RelatedObjects()
    related = made
    return made
  }

  /// Releases removed members, before changes become the stored state.
  final func releaseRemovedMembers() {
    guard related != nil, let context = table?.context else { return }
    for slot in toManys.indices {
      guard let members = toManys[slot], !members.removed.isEmpty else { continue }
      for id in members.removed {
        if let member = context.registeredObject(for: id) { releaseMember(member, at: slot) }
      }
    }
  }

  /// Releases added members, before their additions are discarded.
  final func releaseAddedMembers() {
    guard related != nil, let context = table?.context else { return }
    for slot in toManys.indices {
      guard let members = toManys[slot], !members.added.isEmpty else { continue }
      for id in members.added {
        if let member = context.registeredObject(for: id) { releaseMember(member, at: slot) }
      }
    }
  }

  /// Releases all held objects.
  final func releaseRelated() {
    // An object remains a link if what it held was released one by one.
    if marks.contains(.link) { table?.cycles.remove(self) }
    guard heldEnd != nil || related != nil else { return }
    let former = (heldEnd, related)
    (heldEnd, heldSlot, related) = (nil, Self.noSlot, nil)
    if let end = former.0 { Self.loseHolder(end) }
  }
}

/// Access to the members of a to-many relationship as objects: they are held, and their rows are read in groups.
extension ManagedObject {
  /// Holds members that an iteration has reached, and reads their rows if necessary.
  final func retainGroup(_ group: [ManagedObject], of relationship: RelationshipLayout) {
    guard !group.isEmpty else { return }
    holdMembers(group, at: relationship.slot)
    table?.context.prefetchRows(of: group)
  }

  /// Returns the member at an index. Sequential access, as by `map` and slices, reads the members in groups.
  final func member(at index: Int, of list: MemberList, _ relationship: RelationshipLayout) -> ManagedObject? {
    guard let member = list.objects(index..<index + 1, of: self).first else { return nil }
    if index > 0, member.isWithoutRow, list.objects(index - 1..<index, of: self).first?.isWithoutRow == false {
      retainGroup(list.objects(index..<min(index + MemberList.groupSize, list.count), of: self), of: relationship)
    } else {
      holdMembers(CollectionOfOne(member), at: relationship.slot)
    }
    if index == list.count - 1 { retainAllMembers(list, at: relationship.slot) }
    return member
  }
}

/// The count of an object's holders.
extension ManagedObject {
  /// The number of objects that hold this one. While it isn't zero, the object retains itself once.
  final var holderCount: Int32 {
    @inline(__always)
    get { marks.contains(.link) ? linkedHolderCount : holderCountOrLink }
    @inline(__always)
    set { if marks.contains(.link) { linkedHolderCount = newValue } else { holderCountOrLink = newValue } }
  }

  /// The same for a link, which always has a table.
  private final var linkedHolderCount: Int32 {
    get { tableReference?._withUnsafeGuaranteedRef { $0.cycles[self] } ?? 0 }
    set { tableReference?._withUnsafeGuaranteedRef { $0.cycles[self] = newValue } }
  }

  private final var holdsAny: Bool { heldEnd != nil || related != nil }

  private final func becomeHolder() {
    let isPassDue = tableReference?._withUnsafeGuaranteedRef { table in
      if holderCount > 0, !marks.contains(.link) { table.cycles.insert(self) }
      return table.cycles.isPassDue
    }
    // Retained during a pass, because objects that it releases may run code of the program.
    if isPassDue == true, let cycles = table?.cycles { cycles.collect() }
  }

  final func gainHolder() {
    if holderCount == 0 {
      // All holders share one reference, which the object owns itself.
      _ = Unmanaged.passRetained(self)
      if holdsAny, !marks.contains(.link) { tableReference?._withUnsafeGuaranteedRef { $0.cycles.insert(self) } }
    }
    holderCount &+= 1
  }

  /// Removes a holder from an object, which is released with its last one.
  ///
  /// No counted reference to the object exists here, so that it is released through the waiting list, and not at the
  /// end of a nested call.
  static func loseHolder(_ object: ObjectReferences.Reference) {
    let loss = object._withUnsafeGuaranteedRef { $0.loseHolder() }
    guard loss.wasLast else { return }
    // An object without a context holds nothing, so its release has no consequences.
    if let cycles = loss.cycles { cycles.release(object) } else { object.release() }
  }

  private final func loseHolder() -> (wasLast: Bool, cycles: HeldCycles?) {
    holderCount &-= 1
    guard holderCount == 0 else { return (false, nil) }
    let cycles = tableReference?._withUnsafeGuaranteedRef { $0.cycles }
    if marks.contains(.link) { cycles?.remove(self) }
    return (true, cycles)
  }
}
