/// The state of an object's relationships in use, other than a single held destination, and the transient values that
/// unsaved changes may have replaced.
///
/// Separate from the object, because most objects of a fetch never need it: an object without it takes 120 bytes, for
/// which glibc's allocator has its fast lists. Allocating and freeing a larger one takes about twice as many
/// instructions.
final class RelationshipState {
  // Unchecked: they belong to an object and so to its context's isolation, and nothing here calls out.

  /// The to-many relationships in use, by property slot; empty if there are none.
  @exclusivity(unchecked) fileprivate var toManys: ContiguousArray<ToManyMembers?> = []
  /// Prefetched rows of related objects.
  @exclusivity(unchecked) fileprivate var companions: PrefetchedRows?
  /// The objects held besides ``ManagedObject/heldEnd``.
  @exclusivity(unchecked) fileprivate var related: RelatedObjects?
  /// The values besides the row's before the object's unsaved changes.
  @exclusivity(unchecked) fileprivate var formerValues = SlotValues()
}

extension ManagedObject {
  private final func makeRelationships() -> RelationshipState {
    if let relationships { return relationships }
    let made = RelationshipState()
    relationships = made
    return made
  }

  /// The to-many relationships in use, by property slot; empty if there are none.
  @inline(__always)
  final var toManys: ContiguousArray<ToManyMembers?> { relationships?.toManys ?? [] }

  final func setMembers(_ members: ToManyMembers, at slot: Int) {
    let relationships = makeRelationships()
    if relationships.toManys.isEmpty {
      relationships.toManys = ContiguousArray(repeating: nil, count: layout.properties.count)
    }
    relationships.toManys[slot] = members
    if marks.contains(.observed) { members.observe(as: slot, of: self) }
  }

  /// Has all members read again, or puts others in their place.
  final func replaceMembers(with members: ContiguousArray<ToManyMembers?>) {
    if marks.contains(.observed) {
      recordObserved(toManys: members)
      for slot in members.indices { members[slot]?.observe(as: slot, of: self) }
    }
    if members.isEmpty { relationships?.toManys = [] } else { makeRelationships().toManys = members }
  }

  /// Notes that to-many relationships and fetched properties will be reread or have other members.
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
    get { relationships?.companions }
    set {
      if let newValue { makeRelationships().companions = newValue } else { relationships?.companions = nil }
    }
  }

  /// The values besides the row's before the object's unsaved changes.
  final var formerValues: SlotValues {
    get { relationships?.formerValues ?? SlotValues() }
    set {
      let state = newValue.isEmpty ? relationships : makeRelationships()
      state?.formerValues = newValue
    }
  }

  /// The objects held besides ``heldEnd``.
  @inline(__always)
  final var related: RelatedObjects? {
    get { relationships?.related }
    set {
      if let newValue { makeRelationships().related = newValue } else { relationships?.related = nil }
    }
  }
}
