import OrderedCollections

/// The members of one to-many relationship of one object, as identifiers.
///
/// Changes are stored as differences, so that an object can be related to one with a hundred thousand others without
/// reading them. The complete members are known after they were requested.
final class ToManyMembers {
  // Unchecked: members belong to an object and so to its context's isolation, and nothing here calls out.

  /// The stored members, in order; nil until they are read, and while they are ``unhashed``.
  @exclusivity(unchecked) private var storedSet: OrderedSet<ManagedObjectID>?
  /// The current members; nil under the same conditions as ``storedSet``.
  @exclusivity(unchecked) private var currentSet: OrderedSet<ManagedObjectID>?
  /// The members while they equal the stored ones and no lookup was made: iteration needs no sets, and creating them
  /// costs more than reading the rows.
  @exclusivity(unchecked) private var unhashed: MemberList?
  /// The members added and removed since the last save.
  private(set) var added: OrderedSet<ManagedObjectID> = []
  private(set) var removed: OrderedSet<ManagedObjectID> = []
  /// Whether members were moved to particular positions, so that the order is no longer the stored one without removed
  /// members and with added ones at its end.
  private(set) var isReordered = false

  /// Whether the stored members may already include some of the differences: others saved members meanwhile, and the
  /// stored members weren't read since.
  private(set) var areDifferencesOld = false

  private let isOrdered: Bool
  /// The slot of the relationship, while somebody observes its owner.
  private var observedSlot: Int32 = -1
  /// The owner, while somebody observes it. Not counted: it owns this.
  @exclusivity(unchecked) private unowned(unsafe) var observedOwner: ManagedObject?

  /// - Parameter base: The stored members if they are known, such as none for a new object.
  init(isOrdered: Bool, base: OrderedSet<ManagedObjectID>? = nil) {
    self.isOrdered = isOrdered
    storedSet = base
    currentSet = base
  }

  /// The stored members, in order; nil until they are read.
  private(set) var base: OrderedSet<ManagedObjectID>? {
    get {
      makeSets()
      return storedSet
    }
    set {
      makeSets()
      storedSet = newValue
    }
  }

  /// The current members; nil until the base is read.
  private(set) var current: OrderedSet<ManagedObjectID>? {
    get {
      makeSets()
      return currentSet
    }
    set {
      makeSets()
      currentSet = newValue
    }
  }

  /// Whether the sets for lookups exist.
  var isHashed: Bool { currentSet != nil }
  /// Whether the members are read.
  var areKnown: Bool { unhashed != nil || currentSet != nil }

  /// The current members in order, for iteration; nil until they are read.
  var list: MemberList? { unhashed ?? currentSet.map { .identifiers($0.elements) } }

  private func makeSets() {
    guard let list = unhashed else { return }
    unhashed = nil
    storedSet = OrderedSet(list.identifiers)
    currentSet = storedSet
  }

  /// The differences between the current and the stored members.
  struct Changes {
    let added: OrderedSet<ManagedObjectID>
    let removed: OrderedSet<ManagedObjectID>
    let isReordered: Bool
    /// The members in order, if they are ordered and read.
    let order: OrderedSet<ManagedObjectID>?
  }

  var changes: Changes {
    Changes(added: added, removed: removed, isReordered: isReordered, order: isOrdered ? current : nil)
  }

  init(copying other: ToManyMembers) {
    isOrdered = other.isOrdered
    (storedSet, currentSet, unhashed) = (other.storedSet, other.currentSet, other.unhashed)
    (added, removed, isReordered) = (other.added, other.removed, other.isReordered)
    areDifferencesOld = other.areDifferencesOld
  }

  /// Has the owner's observers hear of other members from now on.
  func observe(as slot: Int, of owner: ManagedObject) {
    observedSlot = Int32(truncatingIfNeeded: slot)
    observedOwner = owner
  }

  @inline(__always)
  private func willChange() {
    if let observedOwner { observedOwner.noteChange(at: Int(observedSlot)) }
  }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Sets the stored members. Differences that still exist are kept.
  func load(_ stored: MemberList) {
    if areKnown { willChange() }
    areDifferencesOld = false
    guard !removed.isEmpty || !added.isEmpty else {
      (storedSet, currentSet, unhashed) = (nil, nil, stored)
      return
    }
    let stored = OrderedSet(stored.identifiers)
    added.subtract(stored)
    removed.formIntersection(stored)
    base = stored
    current = stored.subtracting(removed).union(added)
  }

  /// Adds a member, at the end if no index is given.
  func insert(_ member: ManagedObjectID, at index: Int? = nil) {
    willChange()
    let isBack = take(member, from: &removed)
    if !isBack { added.append(member) }
    guard var members = current else { return }
    currentSet = nil
    let isMoved = isOrdered && (isBack || index.map { $0 < members.count } == true)
    members.insert(member, at: index ?? members.count)
    current = members
    if isMoved { compareOrder() }
  }

  func remove(_ member: ManagedObjectID) {
    willChange()
    if !take(member, from: &added) { removed.append(member) }
    guard var members = current else { return }
    currentSet = nil
    _ = take(member, from: &members)
    current = members
    if isReordered { compareOrder() }
  }

  /// Compares the order with that of the store, without removed members and with added ones at its end.
  private func compareOrder() {
    guard let stored = base, let members = current else { return }
    // Added members that were moved among one another alone remain at the end, whatever others save.
    added = members.subtracting(stored)
    isReordered = !members.elementsEqual(stored.subtracting(removed).union(added))
  }

  /// Removes a member from a set, without moving all that follow it if the order doesn't matter.
  private func take(_ member: ManagedObjectID, from members: inout OrderedSet<ManagedObjectID>) -> Bool {
    guard let index = members.firstIndex(of: member) else { return false }
    if isOrdered {
      members.remove(at: index)
    } else {
      members.swapAt(index, members.count - 1)
      members.removeLast()
    }
    return true
  }

  /// Replaces the members, in this order. The stored ones must have been read.
  func replace(with members: OrderedSet<ManagedObjectID>) {
    willChange()
    let stored = base ?? []
    added = members.subtracting(stored)
    removed = stored.subtracting(members)
    current = members
    if isOrdered { compareOrder() } else { isReordered = false }
  }

  /// Replaces the identifiers of new members.
  func rename(_ names: [ManagedObjectID: ManagedObjectID]) {
    guard added.contains(where: { names[$0] != nil }) else { return }
    willChange()
    added = OrderedSet(added.map { names[$0] ?? $0 })
    current = current.map { members in OrderedSet(members.map { names[$0] ?? $0 }) }
  }

  /// Replaces the identifiers of members, which keep their positions.
  func replaceIdentifiers(_ replacement: (ManagedObjectID) -> ManagedObjectID) {
    func replaced(_ members: OrderedSet<ManagedObjectID>) -> OrderedSet<ManagedObjectID> {
      members.contains(where: \.isTemporaryID) ? OrderedSet(members.map(replacement)) : members
    }
    if added.contains(where: \.isTemporaryID) || currentSet?.contains(where: \.isTemporaryID) == true { willChange() }
    (added, removed) = (replaced(added), replaced(removed))
    (base, current) = (base.map(replaced), current.map(replaced))
  }

  /// Discards all changes since the last save.
  func revert() {
    if hasChanges { willChange() }
    (added, removed, isReordered) = ([], [], false)
    current = base
  }

  /// Discards the stored members, so that they are read again; the differences are kept.
  func forgetStored() {
    guard !isReordered else { return }
    willChange()
    if hasChanges { areDifferencesOld = true }
    (storedSet, currentSet, unhashed) = (nil, nil, nil)
  }

  /// Discards the addition or removal of a member, which the store already includes.
  func settle(_ member: ManagedObjectID) {
    guard added.contains(member) || removed.contains(member) else { return }
    added.remove(member)
    removed.remove(member)
    forgetStored()
  }

  /// Reapplies the changes to the members now stored: members that others removed are removed, those that others added
  /// are appended.
  func rebase(onto stored: [ManagedObjectID]) {
    willChange()
    let (stored, old) = (OrderedSet(stored), base ?? [])
    guard let mine = current, isReordered else {
      base = nil
      return load(.identifiers(stored.elements))
    }
    let lost = old.subtracting(stored)
    let gained = stored.subtracting(old).subtracting(removed)
    base = stored
    replace(with: mine.subtracting(lost).union(gained))
  }

  /// Discards a new order and the stored members, which are read again; additions and removals are kept.
  func forgetOrder() {
    if isReordered { willChange() }
    isReordered = false
    forgetStored()
  }

  /// Removes a member that no longer exists, as if it had never been one.
  func drop(_ member: ManagedObjectID) {
    willChange()
    added.remove(member)
    removed.remove(member)
    base?.remove(member)
    current?.remove(member)
  }

  /// Restores a removed member at its old position.
  func takeBackRemoval(of member: ManagedObjectID) {
    guard removed.remove(member) != nil else { return }
    willChange()
    forgetOrder()
  }

  /// Treats the current members as stored.
  ///
  /// - Parameter permanent: Returns the permanent identifier of a member that was saved for the first time.
  func accept(permanent: (ManagedObjectID) -> ManagedObjectID) {
    if added.contains(where: \.isTemporaryID) { willChange() }
    if let members = currentSet {
      base = added.contains(where: \.isTemporaryID) ? OrderedSet(members.map(permanent)) : members
      current = base
    }
    (added, removed, isReordered) = ([], [], false)
  }
}
