/// The holding of related objects: an object holds those that were reached from it through its relationships, for as
/// long as it lives itself, until it becomes a fault or leaves its context.
///
/// Every object knows how many others hold it, and retains itself while any do. That makes two things possible which
/// plain references between objects don't: ``HeldCycles`` finds those that only hold each other, and a chain of a
/// million objects is let go one after the other, without a million nested calls.
extension ManagedObject {
  /// ``heldSlot`` while nothing is held there.
  static var noSlot: UInt8 { .max }

  /// Holds the other end of a to-one relationship in place of the former one.
  ///
  /// While the relationship has an unsaved change, the former end is held too: a rollback leads to it again.
  @inline(__always)
  final func hold(_ end: ManagedObject, at slot: Int) {
    if Int(heldSlot) == slot, heldEnd?.toOpaque() == Unmanaged.passUnretained(end).toOpaque() { return }
    holdAnew(end, at: slot)
  }

  @inline(never)
  private final func holdAnew(_ end: ManagedObject, at slot: Int) {
    guard end !== self, let table, end.table != nil, related?.holds(end, at: slot) != true else { return }
    let isUnsaved = !pending.isEmpty && pending[slot] != nil
    if !isUnsaved { letGoOfFormerEnds { other, former in other == slot && former !== end } }
    if heldEnd == nil, slot < Int(Self.noSlot) {
      (heldEnd, heldSlot) = (.passUnretained(end), UInt8(truncatingIfNeeded: slot))
      end.gainHolder()
    } else {
      makeRelated().hold(end, at: slot)
    }
    becomeHolder(in: table)
  }

  private final func letGoOfFormerEnds(where isFormer: (Int, ManagedObject) -> Bool) {
    related?.letGoOfEnds(where: isFormer)
    guard let end = heldEnd, isFormer(Int(heldSlot), end.takeUnretainedValue()) else { return }
    (heldEnd, heldSlot) = (nil, Self.noSlot)
    Self.loseHolder(end)
  }

  /// Lets go of objects that to-one relationships don't lead to any more, after changes were saved or discarded.
  final func letGoOfFormerEnds() {
    guard heldEnd != nil || related != nil, loading == .loaded else { return }
    letGoOfFormerEnds { slot, end in destination(at: slot) !== end }
  }

  /// Holds members of a to-many relationship that the program asked for.
  final func holdMembers(_ members: some Sequence<ManagedObject>, at slot: Int) {
    guard let table else { return }
    let related = makeRelated()
    for member in members where member !== self { related.holdMember(member, at: slot) }
    becomeHolder(in: table)
  }

  /// Takes note that all members were asked for: those to come are held too.
  final func holdAllMembers(_ list: MemberList, at slot: Int) {
    related?.haveAllMembers(count: list.count, at: slot) {
      guard let context = table?.context else { return [] }
      return list.identifiers.compactMap { context.registeredObject(for: $0) }
    }
  }

  /// Holds a new member where all the others are held.
  final func holdNewMember(_ member: ManagedObject, at slot: Int) {
    guard let related, related.areMembersWhole(at: slot) else { return }
    holdMembers(CollectionOfOne(member), at: slot)
  }

  final func letGoOfMember(_ member: ManagedObject, at slot: Int) { related?.letGoOfMember(member, at: slot) }

  private final func makeRelated() -> RelatedObjects {
    if let related { return related }
    let made = RelatedObjects()
    related = made
    return made
  }

  /// Lets go of what isn't related any more, before changes become what is stored.
  final func letGoOfRemovedMembers() {
    guard related != nil, let context = table?.context else { return }
    for slot in toManys.indices {
      guard let members = toManys[slot], !members.removed.isEmpty else { continue }
      for id in members.removed {
        if let member = context.registeredObject(for: id) { letGoOfMember(member, at: slot) }
      }
    }
  }

  /// Lets go of what was related by discarded changes, before they are.
  final func letGoOfAddedMembers() {
    guard related != nil, let context = table?.context else { return }
    for slot in toManys.indices {
      guard let members = toManys[slot], !members.added.isEmpty else { continue }
      for id in members.added {
        if let member = context.registeredObject(for: id) { letGoOfMember(member, at: slot) }
      }
    }
  }

  /// Lets go of everything that is held.
  final func letGoOfRelated() {
    guard heldEnd != nil || related != nil else { return }
    if linkIndex >= 0 { table?.cycles.remove(self) }
    let former = (heldEnd, related)
    (heldEnd, heldSlot, related) = (nil, Self.noSlot, nil)
    if let end = former.0 { Self.loseHolder(end) }
  }
}

/// The count of an object's holders.
extension ManagedObject {
  private final var holdsAny: Bool { heldEnd != nil || related != nil }

  private final func becomeHolder(in table: ObjectTable) {
    if holderCount > 0, linkIndex < 0 { table.cycles.insert(self) }
    table.cycles.collectIfDue()
  }

  final func gainHolder() {
    if holderCount == 0 {
      // All holders share one reference, which the object owns itself.
      _ = Unmanaged.passRetained(self)
      if holdsAny, linkIndex < 0, let table { table.cycles.insert(self) }
    }
    holderCount &+= 1
  }

  /// Takes a holder from an object, which is released with its last one.
  ///
  /// Nothing counted refers to the object here, so that it is released by the list of those that wait for it, and not
  /// by the end of a call within others.
  static func loseHolder(_ object: ObjectReferences.Reference) {
    let loss = object._withUnsafeGuaranteedRef { $0.loseHolder() }
    guard loss.wasLast else { return }
    // An object without a context holds nothing: nothing follows its end.
    if let cycles = loss.cycles { cycles.release(object) } else { object.release() }
  }

  private final func loseHolder() -> (wasLast: Bool, cycles: HeldCycles?) {
    holderCount &-= 1
    guard holderCount == 0 else { return (false, nil) }
    let cycles = table?.cycles
    if linkIndex >= 0 { cycles?.remove(self) }
    return (true, cycles)
  }
}
