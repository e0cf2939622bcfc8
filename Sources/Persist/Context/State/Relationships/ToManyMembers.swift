/// The members of one to-many relationship of one object, as identifiers.
///
/// Changes are stored as differences, so that an object can be related to one with a hundred thousand others without
/// reading them. The known members have one of five forms:
///
/// | ``Known`` | what is known | it becomes |
/// |---|---|---|
/// | `nothing` | ``added`` and ``removed`` | one of the others when the members are read |
/// | `arriving` | all members, without differences, when another thread has read them | `sorted` or `list` |
/// | `sorted` | the stored members, by key | `sets` when members are visited after a change |
/// | `list` | all members, without differences | `sets` at the first lookup or change |
/// | `sets` | all members, stored and current | `nothing` when others saved members, which must be read again |
///
/// In `sets`, the current members are always the stored ones minus the removed ones plus the added ones, in this order
/// unless ``isReordered``.
///
/// In `sorted`, a member of an unordered relationship is found, added or removed without visiting the others. Added
/// members are never among the stored ones there, and removed ones always are: a change that contradicts the stored
/// members creates the sets first.
final class ToManyMembers {
  // Unchecked: members belong to an object and so to its context's isolation, and nothing here calls out.

  private enum Known {
    case nothing
    /// Being read for a prefetch.
    case arriving(ArrivingMembers, owner: Int64)
    case sorted(SortedMembers)
    /// Read and equal to the stored ones. Iteration needs no sets, and creating them costs more than reading the rows.
    case list(MemberList)
    case sets(stored: OrderedSet<ManagedObjectID>, current: OrderedSet<ManagedObjectID>)
  }

  @exclusivity(unchecked) private var state: Known
  /// The members as far as they are known, never `arriving`: reading the property waits for those being read.
  private var known: Known {
    get {
      awaitArrival()
      return state
    }
    set { state = newValue }
  }

  @inline(__always)
  private func awaitArrival() { if case .arriving(let members, let owner) = state { finish(members, ofOwner: owner) } }

  @inline(never)
  private func finish(_ members: ArrivingMembers, ofOwner key: Int64) {
    state = members.list(ofOwner: key).map(form) ?? .nothing
  }

  /// Returns the form of members that were read.
  private func form(of list: MemberList) -> Known {
    if !isOrdered, let members = SortedMembers(list) { .sorted(members) } else { .list(list) }
  }

  /// The members added and removed since the last save.
  private(set) var added: OrderedSet<ManagedObjectID> = []
  private(set) var removed: OrderedSet<ManagedObjectID> = []
  /// Whether members were moved to particular positions, so that the order is no longer the stored one without removed
  /// members and with added ones at its end.
  private(set) var isReordered = false

  /// Whether the stored members may already include some of the differences: others have saved members since the stored
  /// ones were last read.
  private(set) var mayOverlapStored = false

  private let isOrdered: Bool
  /// The slot of the relationship, while its owner is observed.
  private var observedSlot: Int32 = -1
  /// The owner, while it is observed. Not retained, because it owns this.
  @exclusivity(unchecked) private unowned(unsafe) var observedOwner: ManagedObject?

  /// - Parameter base: The stored members if they are known, such as none for a new object.
  init(isOrdered: Bool, base: OrderedSet<ManagedObjectID>? = nil) {
    self.isOrdered = isOrdered
    state = base.map { .sets(stored: $0, current: $0) } ?? .nothing
  }

  /// The stored members, in order; nil until they are read.
  var base: OrderedSet<ManagedObjectID>? { sets?.stored }

  /// The current members, in order; nil until they are read.
  var current: OrderedSet<ManagedObjectID>? { sets?.current }

  /// The stored and the current members as sets, created from the list if there is one; nil until the members are read.
  private var sets: (stored: OrderedSet<ManagedObjectID>, current: OrderedSet<ManagedObjectID>)? {
    @inline(never) get {
      let stored: OrderedSet<ManagedObjectID>
      switch known {
      case .nothing, .arriving: return nil
      case .sorted(let members): stored = members.set
      case .list(let list): stored = OrderedSet(list.identifiers)
      case .sets(let stored, let current): return (stored, current)
      }
      let current = stored.subtracting(removed).union(added)
      known = .sets(stored: stored, current: current)
      return (stored, current)
    }
  }

  /// Whether the sets for lookups exist.
  var isHashed: Bool { if case .sets = known { true } else { false } }
  /// Whether the members are read, and looking one up creates no sets.
  var isSearchable: Bool { if case .sorted = known { true } else { isHashed } }
  /// Whether the members are read.
  var areKnown: Bool {
    awaitArrival()
    if case .nothing = state { return false } else { return true }
  }

  /// Whether an object is a member; nil until the members are read.
  func contains(_ member: ManagedObjectID) -> Bool? {
    guard case .sorted(let stored) = known else { return current?.contains(member) }
    return added.contains(member) || (!removed.contains(member) && stored.contains(member))
  }

  /// The number of current members; nil until they are read.
  var count: Int? {
    guard case .sorted(let stored) = known else { return list?.count }
    return stored.count - removed.count + added.count
  }

  /// The current members in order, for iteration; nil until they are read.
  var list: MemberList? {
    switch known {
    case .nothing, .arriving: return nil
    case .list(let list): return list
    case .sorted(let members): if !hasChanges, let list = members.list { return list }
    case .sets: break
    }
    return current.map { .identifiers($0.elements) }
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
    state = other.known
    (added, removed, isReordered) = (other.added, other.removed, other.isReordered)
    mayOverlapStored = other.mayOverlapStored
  }

  /// Notifies the owner's observers of member changes from now on.
  func observe(as slot: Int, of owner: ManagedObject) {
    observedSlot = Int32(truncatingIfNeeded: slot)
    observedOwner = owner
  }

  @inline(__always)
  private func willChange() {
    if let observedOwner { observedOwner.recordChange(at: Int(observedSlot)) }
  }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Sets the stored members. Differences that still exist are kept.
  func load(_ stored: MemberList) {
    let wereKnown = areKnown
    if wereKnown { willChange() }
    mayOverlapStored = false
    known = form(of: stored)
    guard !removed.isEmpty || !added.isEmpty else { return }
    let (additions, removals): (OrderedSet<ManagedObjectID>, OrderedSet<ManagedObjectID>)
    if case .sorted(let stored) = known {
      additions = OrderedSet(added.filter { !stored.contains($0) })
      removals = OrderedSet(removed.filter(stored.contains))
    } else {
      let stored = OrderedSet(stored.identifiers)
      (additions, removals) = (added.subtracting(stored), removed.intersection(stored))
      known = .sets(stored: stored, current: stored.subtracting(removals).union(additions))
    }
    // Additions and removals that others have already saved are no longer changes.
    if !wereKnown, additions.count + removals.count < added.count + removed.count { willChange() }
    (added, removed) = (additions, removals)
  }

  /// Sets the stored members to those of an owner that are being read. Differences that still exist are kept.
  func load(_ members: ArrivingMembers, ofOwner key: Int64) {
    if !hasChanges {
      mayOverlapStored = false
      state = .arriving(members, owner: key)
    } else if let list = members.list(ofOwner: key) {
      load(list)
    }
  }

  /// Adds a member, at the end if no index is given.
  func insert(_ member: ManagedObjectID, at index: Int? = nil) {
    willChange()
    prepareForChange(of: member, isMember: false)
    let isBack = remove(member, from: &removed)
    if !isBack { added.append(member) }
    var isMoved = false
    changeCurrent { members in
      isMoved = isOrdered && (isBack || index.map { $0 < members.count } == true)
      members.insert(member, at: index ?? members.count)
    }
    if isMoved { compareOrder() }
  }

  func remove(_ member: ManagedObjectID) {
    willChange()
    prepareForChange(of: member, isMember: true)
    if !remove(member, from: &added) { removed.append(member) }
    changeCurrent { _ = remove(member, from: &$0) }
    if isReordered { compareOrder() }
  }

  /// Creates the sets of members that are read, unless they are sorted and a change is a difference from them.
  ///
  /// - Parameter isMember: What the members say before such a change of one of them.
  private func prepareForChange(of member: ManagedObjectID, isMember: Bool) {
    if case .sorted = known, contains(member) == isMember { return }
    _ = sets
  }

  /// Changes the current members in place if there are sets, without copying one that isn't shared.
  @inline(never)
  private func changeCurrent(_ change: (inout OrderedSet<ManagedObjectID>) -> Void) {
    guard case .sets(let stored, var current) = known else { return }
    known = .nothing
    change(&current)
    known = .sets(stored: stored, current: current)
  }

  /// Compares the order with the stored order minus the removed members, with the added ones at the end.
  private func compareOrder() {
    guard let (stored, members) = sets else { return }
    // Added members that were only reordered among themselves remain at the end, whatever others save.
    added = members.subtracting(stored)
    isReordered = !members.elementsEqual(stored.subtracting(removed).union(added))
  }

  /// Removes a member from a set, without moving all that follow it if the order doesn't matter.
  private func remove(_ member: ManagedObjectID, from members: inout OrderedSet<ManagedObjectID>) -> Bool {
    isOrdered ? members.remove(member) != nil : members.removeUnordered(member)
  }

  /// Replaces the members, in this order. The stored ones must have been read.
  func replace(with members: OrderedSet<ManagedObjectID>) {
    willChange()
    let stored = base ?? []
    added = members.subtracting(stored)
    removed = stored.subtracting(members)
    known = .sets(stored: stored, current: members)
    if isOrdered { compareOrder() } else { isReordered = false }
  }

  /// Replaces the identifiers of new members.
  func rename(_ names: [ManagedObjectID: ManagedObjectID]) {
    guard added.contains(where: { names[$0] != nil }) else { return }
    willChange()
    added = OrderedSet(added.map { names[$0] ?? $0 })
    changeCurrent { members in members = OrderedSet(members.map { names[$0] ?? $0 }) }
  }

  /// Replaces the identifiers of members, which keep their positions.
  func replaceIdentifiers(_ replacement: (ManagedObjectID) -> ManagedObjectID) {
    func replaced(_ members: OrderedSet<ManagedObjectID>) -> OrderedSet<ManagedObjectID> {
      members.contains(where: \.isTemporaryID) ? OrderedSet(members.map(replacement)) : members
    }
    let areHere = switch known {
    case .sorted(let stored): stored.hasTemporary
    case .sets(_, let current): current.contains(where: \.isTemporaryID)
    case .nothing, .arriving, .list: false
    }
    if areHere || added.contains(where: \.isTemporaryID) { willChange() }
    (added, removed) = (replaced(added), replaced(removed))
    if case .sorted(var stored) = known {
      known = .nothing
      stored.replaceIdentifiers(replaced)
      known = .sorted(stored)
      // A member that was read meanwhile isn't added, unless it was removed before.
      added = OrderedSet(added.filter { !stored.contains($0) || removed.contains($0) })
    } else if let (stored, current) = sets {
      known = .sets(stored: replaced(stored), current: replaced(current))
    }
  }

  /// Discards all changes since the last save.
  func revert() {
    if hasChanges { willChange() }
    (added, removed, isReordered) = ([], [], false)
    if case .sets(let stored, _) = known { known = .sets(stored: stored, current: stored) }
  }

  /// Discards the stored members, so that they are read again; the differences are kept.
  @inline(never)
  func forgetStored() {
    guard !isReordered else { return }
    willChange()
    if hasChanges { mayOverlapStored = true }
    known = .nothing
  }

  /// Discards the addition or removal of a member, which the store already includes.
  func discardDifference(of member: ManagedObjectID) {
    guard added.contains(member) || removed.contains(member) else { return }
    added.remove(member)
    removed.remove(member)
    forgetStored()
  }

  /// Reapplies the changes to the members now stored: members that others removed are removed, those that others added
  /// are appended.
  func rebase(onto stored: [ManagedObjectID]) {
    willChange()
    let stored = OrderedSet(stored)
    guard isReordered, let (old, mine) = sets else { return load(.identifiers(stored.elements)) }
    let lost = old.subtracting(stored)
    let gained = stored.subtracting(old).subtracting(removed)
    known = .sets(stored: stored, current: mine)
    replace(with: mine.subtracting(lost).union(gained))
  }

  /// Discards a new order and the stored members, which are read again; additions and removals are kept.
  @inline(never)
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
    if case .sorted(var stored) = known {
      known = .nothing
      stored.remove(member)
      known = .sorted(stored)
      return
    }
    guard sets != nil, case .sets(var stored, var current) = known else { return }
    known = .nothing
    stored.remove(member)
    current.remove(member)
    known = .sets(stored: stored, current: current)
    if isReordered { compareOrder() }
  }

  /// All current and removed members, as far as they are known.
  var mentioned: [ManagedObjectID] {
    if case .sorted(let stored) = known { return stored.identifiers + added }
    return (list?.identifiers ?? added.elements) + removed
  }

  /// Restores a removed member at its old position.
  func revertRemoval(of member: ManagedObjectID) {
    guard removed.remove(member) != nil else { return }
    willChange()
    forgetOrder()
  }

  /// Treats the current members as stored.
  ///
  /// Without an order, the work is that of the differences, however many members there are: both sets are changed in
  /// place, and aren't shared, since the next change would copy a shared one.
  ///
  /// - Parameter permanent: Returns the permanent identifier of a member that was saved for the first time.
  func accept(permanent: (ManagedObjectID) -> ManagedObjectID) {
    let areNew = added.contains(where: \.isTemporaryID)
    if areNew { willChange() }
    if hasChanges, case .sorted(var stored) = known {
      known = .nothing
      for member in removed { stored.remove(member) }
      for member in added { stored.insert(permanent(member)) }
      known = .sorted(stored)
    } else if hasChanges, case .sets(var stored, var current) = known {
      known = .nothing
      if areNew { for member in added { current.replace(member, with: permanent(member)) } }
      if isOrdered {
        stored = current
      } else {
        for member in removed { _ = remove(member, from: &stored) }
        for member in added { stored.append(permanent(member)) }
      }
      known = .sets(stored: stored, current: current)
    }
    (added, removed, isReordered) = ([], [], false)
  }
}
