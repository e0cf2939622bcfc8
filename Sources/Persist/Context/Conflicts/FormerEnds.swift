/// The ends of the relationships of an object before it got a newer row, as far as they are in memory.
///
/// A save that meets others' changes exchanges the rows of the objects in conflict alone. Objects that these led to, or
/// lead to now, may have been read before the others saved: their side of the relationship is that of an older moment.
struct FormerEnds {
  let object: ManagedObject
  private let ends: [(relationship: RelationshipLayout, ids: [ManagedObjectID])]

  init(of object: ManagedObject) {
    self.object = object
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

  /// The objects whose side of a relationship with this one isn't that of the object now.
  var stale: [ManagedObject] {
    guard let context = object.table?.context, !ends.isEmpty else { return [] }
    if object.loading == .fault { object.fulfil() }
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
        // Members that weren't read yet are those of the store when they are.
        if back.isToMany, other.toManys.isEmpty || other.toManys[back.slot]?.areKnown != true { continue }
        if other.leads(to: object, back: relationship) != present.contains(id) { stale.append(other) }
      }
    }
    return stale
  }
}

extension ManagedObjectContext {
  /// Notes what an object leads to before it gets a newer row, or reads its members again, while a save collects that.
  func noteFormerEnds(of object: ManagedObject) { formerEnds?.append(FormerEnds(of: object)) }

  /// Has objects read their rows again that are at the other ends of objects with newer rows, and don't know it.
  func refreshStaleEnds() {
    var seen: Set<ObjectIdentifier> = []
    do {
      while let waiting = formerEnds, !waiting.isEmpty {
        formerEnds = []
        let stale = waiting.flatMap(\.stale).filter { seen.insert(ObjectIdentifier($0)).inserted }
        if !stale.isEmpty { try mergeNewerRows(of: stale) }
      }
    } catch {
      deferError(error)
    }
  }

  private func mergeNewerRows(of objects: [ManagedObject]) throws {
    var pass = MergePass(self, leavingConflicts: false)
    try pass.merge(SavedChanges(updated: Set(objects.map(\.objectID))))
    announce { noted in
      noted.deleted.formUnion(pass.merged.deleted)
      noted.refreshed.formUnion(pass.merged.refreshed)
    }
  }
}
