/// The state of an object besides its row that few objects have at the same time: unsaved values, relationships in use
/// other than a single held destination, and its identifier.
///
/// Separate from the object, because most objects of a fetch never need it: see the fields of ``ManagedObject``.
/// ``ObjectAdditions`` contains it.
@usableFromInline
final class ObjectExtras {
  // Unchecked: they belong to an object and so to its context's isolation, and nothing here calls out.

  /// Values set since the row was read, and the values of transient attributes. For a draft, only those that its row
  /// can't contain.
  @usableFromInline @exclusivity(unchecked) var looseValues = SlotValues()
  /// Created on demand.
  @exclusivity(unchecked) fileprivate var identifier: ManagedObjectID?
  /// The to-many relationships in use, by property slot; empty if there are none.
  @exclusivity(unchecked) fileprivate var toManys: ContiguousArray<ToManyMembers?> = []
  /// Prefetched rows of related objects.
  @exclusivity(unchecked) fileprivate var companions: PrefetchedRows?
  /// The objects held besides ``ManagedObject/heldEnd``.
  @exclusivity(unchecked) fileprivate var related: RelatedObjects?
  /// The values besides the row's before the object's unsaved changes.
  @exclusivity(unchecked) fileprivate var formerValues = SlotValues()
  /// The properties of a new object that the program has set.
  @exclusivity(unchecked) fileprivate var given = AssignedSlots.none

  fileprivate var isEmpty: Bool {
    looseValues.isEmpty && identifier == nil && toManys.isEmpty && companions == nil && related == nil
      && formerValues.isEmpty && given.isEmpty
  }
}

/// The state of an object besides its row. Eight bytes.
///
/// Most changed objects have only unsaved values. ``ObjectExtras`` for these too would take a tenth of the instructions
/// of a change and its save.
@usableFromInline
enum ObjectAdditions {
  case none
  /// The same as ``ObjectExtras/looseValues``; not empty.
  case looseValues(SlotValues)
  case extras(ObjectExtras)

  /// Leaves the values to the caller, who changes them in place.
  mutating func forgetValues() {
    if case .extras(let extras) = self { extras.looseValues = SlotValues() } else { self = .none }
  }
}

/// An object's unsaved values and its identity.
extension ManagedObject {
  /// Relationships in use, the identifier and more; nil for most objects.
  @inline(__always)
  final var extras: ObjectExtras? { if case .extras(let extras) = additions { extras } else { nil } }

  @inline(never)
  final func makeExtras() -> ObjectExtras {
    if let extras { return extras }
    let made = ObjectExtras()
    made.looseValues = looseValues
    additions = .extras(made)
    return made
  }

  /// Frees the memory for what the object no longer has.
  private final func freeEmptyExtras() {
    if extras?.isEmpty == true { additions = .none }
  }

  /// Values set since the row was read, and the values of transient attributes. For a draft, only those that its row
  /// can't contain.
  @inline(__always)
  final var looseValues: SlotValues {
    switch additions {
    case .none: SlotValues()
    case .looseValues(let values): values
    case .extras(let extras): extras.looseValues
    }
  }

  @inlinable @inline(__always)
  final var hasLooseValues: Bool {
    switch additions {
    case .none: false
    case .looseValues: true
    case .extras(let extras): !extras.looseValues.isEmpty
    }
  }

  final func replaceLoose(with values: SlotValues) {
    if case .extras(let extras) = additions {
      extras.looseValues = values
      if values.isEmpty { freeEmptyExtras() }
    } else {
      additions = values.isEmpty ? .none : .looseValues(values)
    }
  }

  /// Sets an unsaved value outside of a row.
  @inline(never)
  final func setLoose(_ value: consuming StoredValue, at slot: Int) {
    switch additions {
    case .extras(let extras): extras.looseValues.set(value, at: slot)
    case .looseValues(var values):
      // The values are changed in place, because nothing else refers to them.
      additions = .none
      values.set(value, at: slot)
      additions = .looseValues(values)
    case .none:
      var values = SlotValues()
      values.set(value, at: slot)
      additions = .looseValues(values)
    }
  }

  @inline(never)
  final func removeLoose(at slot: Int) {
    var values = looseValues
    additions.forgetValues()
    values.remove(at: slot)
    replaceLoose(with: values)
  }

  /// Created on demand; see ``objectID``.
  final var identifier: ManagedObjectID? {
    get { extras?.identifier }
    set {
      if let former = extras?.identifier {
        recordChange(.identifier)
        if newValue === former { return }
      }
      if let newValue { makeExtras().identifier = newValue } else { extras?.identifier = nil }
    }
  }

  /// The properties of a new object that the program has set. Recorded only for entities whose new objects may be
  /// merged into others.
  final var given: AssignedSlots {
    get { extras?.given ?? .none }
    set {
      guard withLayout({ $0.isConstrained }) else { return }
      if newValue.isEmpty { extras?.given = newValue } else { makeExtras().given = newValue }
    }
  }

  /// Records that the program has set a property of a new object.
  @inline(__always)
  final func markGiven(_ slot: Int) {
    if withLayout({ $0.isConstrained }) { makeExtras().given.insert(slot) }
  }

  /// Forgets which properties the program has set, once the object is saved.
  final func forgetGiven() {
    guard extras?.given.isEmpty == false else { return }
    given = .none
    freeEmptyExtras()
  }
}

/// An object's relationships.
extension ManagedObject {
  /// The to-many relationships in use, by property slot; empty if there are none.
  @inline(__always)
  final var toManys: ContiguousArray<ToManyMembers?> { extras?.toManys ?? [] }

  final func setMembers(_ members: ToManyMembers, at slot: Int) {
    let extras = makeExtras()
    if extras.toManys.isEmpty {
      extras.toManys = ContiguousArray(repeating: nil, count: layout.properties.count)
    }
    extras.toManys[slot] = members
    if marks.contains(.observed) { members.observe(as: slot, of: self) }
  }

  /// Has all members read again, or puts others in their place.
  final func replaceMembers(with members: ContiguousArray<ToManyMembers?>) {
    if marks.contains(.observed) {
      recordObserved(toManys: members)
      for slot in members.indices { members[slot]?.observe(as: slot, of: self) }
    }
    if members.isEmpty { extras?.toManys = [] } else { makeExtras().toManys = members }
  }

  /// Records that to-many relationships and fetched properties will be reread or have other members.
  @inline(never)
  private final func recordObserved(toManys new: ContiguousArray<ToManyMembers?>) {
    let slots = layout.properties.indices.filter { slot in
      (!toManys.isEmpty && toManys[slot] != nil) || (!new.isEmpty && new[slot] != nil)
    }
    recordObserved(Set(slots.map { ObservedProperty(slot: $0) }))
  }

  /// Prefetched rows of related objects.
  @inline(__always)
  final var companions: PrefetchedRows? {
    get { extras?.companions }
    set {
      if let newValue { makeExtras().companions = newValue } else { extras?.companions = nil }
    }
  }

  /// The values besides the row's before the object's unsaved changes.
  final var formerValues: SlotValues {
    get { extras?.formerValues ?? SlotValues() }
    set {
      let state = newValue.isEmpty ? extras : makeExtras()
      state?.formerValues = newValue
    }
  }

  /// The objects held besides ``heldEnd``.
  @inline(__always)
  final var related: RelatedObjects? {
    get { extras?.related }
    set {
      if let newValue { makeExtras().related = newValue } else { extras?.related = nil }
    }
  }
}
