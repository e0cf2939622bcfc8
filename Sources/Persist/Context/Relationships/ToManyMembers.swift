import OrderedCollections

/// The other ends of one to-many relationship of one object, as identifiers.
///
/// Changes are kept as differences, so that an object can be related to one with a hundred thousand others without
/// reading them. The whole is known once someone asked for it.
final class ToManyMembers {
  // Unchecked: members belong to an object and so to its context's isolation; nothing here calls out.

  /// The members as they are stored, in order; nil until they were read, and while they are ``unhashed``.
  @exclusivity(unchecked) private var storedSet: OrderedSet<ManagedObjectID>?
  /// The members as they are now; nil as ``storedSet``.
  @exclusivity(unchecked) private var currentSet: OrderedSet<ManagedObjectID>?
  /// The members while they are what is stored and nobody looked one up: walking needs no sets, and making them costs
  /// more than reading the rows.
  @exclusivity(unchecked) private var unhashed: MemberList?
  /// Members that are new since the last save, and those that left since.
  private(set) var added: OrderedSet<ManagedObjectID> = []
  private(set) var removed: OrderedSet<ManagedObjectID> = []
  /// Whether members were put to particular places, so that the order is no longer the stored one without the removed
  /// members and with the added ones at its end.
  private(set) var isReordered = false

  /// Whether the store may have told of some of the differences by now: others saved members meanwhile, and those that
  /// are stored weren't read since.
  private(set) var areDifferencesOld = false

  private let isOrdered: Bool

  /// - Parameter base: the stored members where they are known, as of a new object, which has none.
  init(isOrdered: Bool, base: OrderedSet<ManagedObjectID>? = nil) {
    self.isOrdered = isOrdered
    storedSet = base
    currentSet = base
  }

  /// The members as they are stored, in order; nil until they were read.
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

  /// The members as they are now; nil until the base was read.
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

  /// Whether the sets were made that looking members up takes.
  var isHashed: Bool { currentSet != nil }
  /// Whether the members were read.
  var areKnown: Bool { unhashed != nil || currentSet != nil }

  /// The members as they are now, in order; nil until they were read. The way to walk through them.
  var list: MemberList? { unhashed ?? currentSet.map { .identifiers($0.elements) } }

  private func makeSets() {
    guard let list = unhashed else { return }
    unhashed = nil
    storedSet = OrderedSet(list.identifiers)
    currentSet = storedSet
  }

  /// How the members differ from the stored ones.
  struct Changes {
    let added: OrderedSet<ManagedObjectID>
    let removed: OrderedSet<ManagedObjectID>
    let isReordered: Bool
    /// The members in order, where they have one and were read.
    let order: OrderedSet<ManagedObjectID>?
  }

  var changes: Changes {
    Changes(added: added, removed: removed, isReordered: isReordered, order: isOrdered ? current : nil)
  }

  init(copying other: ToManyMembers) {
    isOrdered = other.isOrdered
    (storedSet, currentSet, unhashed) = (other.storedSet, other.currentSet, other.unhashed)
    (added, removed, isReordered) = (other.added, other.removed, other.isReordered)
  }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Takes in what the store holds. The differences stay, as far as they are any.
  func load(_ stored: MemberList) {
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

  /// Adds a member, at the end where no place is given.
  func insert(_ member: ManagedObjectID, at index: Int? = nil) {
    let isBack = take(member, from: &removed)
    if !isBack { added.append(member) }
    guard var members = current else { return }
    currentSet = nil
    if isOrdered, isBack || index.map({ $0 < members.count }) == true { isReordered = true }
    members.insert(member, at: index ?? members.count)
    current = members
  }

  func remove(_ member: ManagedObjectID) {
    if !take(member, from: &added) { removed.append(member) }
    guard var members = current else { return }
    currentSet = nil
    _ = take(member, from: &members)
    current = members
  }

  /// Takes a member out, without moving all that follow it where order doesn't matter.
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

  /// Makes `members` the members, in their order. The stored ones were read before.
  func replace(with members: OrderedSet<ManagedObjectID>) {
    let stored = base ?? []
    added = members.subtracting(stored)
    removed = stored.subtracting(members)
    isReordered = isOrdered && !members.elementsEqual(stored.subtracting(removed).union(added))
    current = members
  }

  /// Puts other identifiers in the places of new members'.
  func rename(_ names: [ManagedObjectID: ManagedObjectID]) {
    guard added.contains(where: { names[$0] != nil }) else { return }
    added = OrderedSet(added.map { names[$0] ?? $0 })
    current = current.map { members in OrderedSet(members.map { names[$0] ?? $0 }) }
  }

  /// Puts other identifiers in the place of members'; everyone stays where it is.
  func replaceIdentifiers(_ replacement: (ManagedObjectID) -> ManagedObjectID) {
    func replaced(_ members: OrderedSet<ManagedObjectID>) -> OrderedSet<ManagedObjectID> {
      members.contains(where: \.isTemporaryID) ? OrderedSet(members.map(replacement)) : members
    }
    (added, removed) = (replaced(added), replaced(removed))
    (base, current) = (base.map(replaced), current.map(replaced))
  }

  /// Forgets all changes since the last save.
  func revert() {
    (added, removed, isReordered) = ([], [], false)
    current = base
  }

  /// Forgets what the store held, so that it is read again; the differences stay.
  func forgetStored() {
    guard !isReordered else { return }
    if hasChanges { areDifferencesOld = true }
    (storedSet, currentSet, unhashed) = (nil, nil, nil)
  }

  /// Forgets that a member was added or removed, which the store has told of by now.
  func settle(_ member: ManagedObjectID) {
    guard added.contains(member) || removed.contains(member) else { return }
    added.remove(member)
    removed.remove(member)
    forgetStored()
  }

  /// Puts the changes on top of what the store holds now: members that others removed go, those that others added come
  /// in at the end.
  func rebase(onto stored: [ManagedObjectID]) {
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

  /// Gives up a new order, and has the stored members read again; new and lost members stay so.
  func forgetOrder() {
    isReordered = false
    forgetStored()
  }

  /// Takes a member out that is no more, as if it had never been one.
  func drop(_ member: ManagedObjectID) {
    added.remove(member)
    removed.remove(member)
    base?.remove(member)
    current?.remove(member)
  }

  /// Makes a member that was removed one again, in its old place.
  func takeBackRemoval(of member: ManagedObjectID) {
    guard removed.remove(member) != nil else { return }
    forgetOrder()
  }

  /// Takes the members as they are now for the stored ones.
  ///
  /// - Parameter permanent: the permanent identifier of a member that was saved for the first time.
  func accept(permanent: (ManagedObjectID) -> ManagedObjectID) {
    if let members = currentSet {
      base = added.contains(where: \.isTemporaryID) ? OrderedSet(members.map(permanent)) : members
      current = base
    }
    (added, removed, isReordered) = ([], [], false)
  }
}
