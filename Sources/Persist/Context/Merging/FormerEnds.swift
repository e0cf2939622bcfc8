/// The ends of an object's relationships before it got a newer row, as far as they are in memory.
///
/// A save that encounters changes by others replaces only the rows of objects in conflict. Objects that were or are
/// related to these may have been read before the others saved, so that their side of the relationship is outdated.
struct FormerEnds {
  let object: ManagedObject
  /// The whole state of the object at that time.
  let state: UnsavedState.Saved
  private let ends: [(relationship: RelationshipLayout, ids: [ManagedObjectID])]

  init(of object: ManagedObject) {
    self.object = object
    state = UnsavedState.Saved(object)
    ends = Self.ends(of: object)
  }

  private static func ends(of object: ManagedObject) -> [(relationship: RelationshipLayout, ids: [ManagedObjectID])] {
    guard object.table != nil, object.loading == .loaded else { return [] }
    return object.layout.relationships.compactMap { relationship in
      guard relationship.inverse != nil, !relationship.isTransient else { return nil }
      guard relationship.isToMany else {
        guard case .objectID(let id) = object.presentValue(at: relationship.slot) else { return (relationship, []) }
        return (relationship, [id])
      }
      guard !object.toManys.isEmpty, object.toManys[relationship.slot]?.areKnown == true else { return nil }
      return (relationship, object.memberList(of: relationship).identifiers)
    }
  }

  /// The objects whose side of a relationship contradicts this object's current side.
  var stale: [ManagedObject] {
    guard let context = object.table?.context, !ends.isEmpty else { return [] }
    if object.loading == .fault { object.fulfill() }
    var stale: [ManagedObject] = []
    for (relationship, former) in ends {
      let now: [ManagedObjectID]
      if relationship.isToMany {
        now = object.memberList(of: relationship).identifiers
      } else if case .objectID(let id) = object.presentValue(at: relationship.slot) {
        now = [id]
      } else {
        now = []
      }
      let present = Set(now)
      for id in present.union(former) {
        guard let other = context.registeredObject(for: id), other.change != .deleted, other.loading == .loaded,
          let back = other.back(of: relationship)
        else { continue }
        // Unread members will be read from the store.
        if back.isToMany, other.toManys.isEmpty || other.toManys[back.slot]?.areKnown != true { continue }
        if other.leads(to: object, back: relationship) != present.contains(id) { stale.append(other) }
      }
    }
    return stale
  }
}
