/// The storage of a ``RelationshipSet``'s members.
enum MemberSource {
  /// An object's relationship: the set is a view of it.
  case relationship(RelationshipLayout, of: ManagedObject)
  /// The set itself, which was created from an array to be assigned to a relationship.
  case collection(CollectedMembers)
  /// The relationship of an object that was never inserted into a context: it has no members and takes none.
  case uninserted(slot: Int, of: ManagedObject)

  var owner: ManagedObject? {
    if case .relationship(_, let owner) = self { owner } else { nil }
  }

  /// The name of the set in messages.
  var name: String {
    switch self {
    case .relationship(let relationship, _): relationship.name
    case .collection: "set"
    case .uninserted(let slot, let owner): owner.layout.properties[slot].name
    }
  }

  /// Whether members have indexes.
  var isOrdered: Bool {
    switch self {
    case .relationship(let relationship, _): relationship.isOrdered
    case .collection: true
    case .uninserted(let slot, let owner): owner.layout.properties[slot].relationship?.isOrdered == true
    }
  }

  var list: MemberList {
    switch self {
    case .relationship(let relationship, let owner):
      owner.recordRead(at: relationship.slot)
      return owner.memberListInRun(of: relationship)
    case .collection(let members): return .objects(Array(members.objects))
    case .uninserted(let slot, let owner):
      owner.recordRead(at: slot)
      owner.recordEmptyAnswer(at: slot)
      return .objects([])
    }
  }

  var count: Int {
    guard case .relationship(let relationship, let owner) = self else { return list.count }
    owner.recordRead(at: relationship.slot)
    return owner.memberCountInRun(of: relationship)
  }

  /// The list of members for an iteration.
  var listWithRows: MemberList {
    guard case .relationship(let relationship, let owner) = self else { return list }
    owner.recordRead(at: relationship.slot)
    return owner.memberListWithRows(of: relationship)
  }

  func member(at index: Int, of list: MemberList) -> ManagedObject? {
    switch self {
    case .relationship(let relationship, let owner): owner.member(at: index, of: list, relationship)
    case .collection: list.objects(index..<index + 1, of: nil).first
    case .uninserted: nil
    }
  }

  /// Called after an iteration has created a group of members.
  func didReach(_ group: [ManagedObject], of list: MemberList, isEnd: Bool) {
    guard case .relationship(let relationship, let owner) = self else { return }
    owner.retainGroup(group, of: relationship)
    if isEnd { owner.retainAllMembers(list, at: relationship.slot) }
  }

  func contains(_ object: ManagedObject) -> Bool {
    switch self {
    case .relationship(let relationship, let owner):
      owner.recordRead(at: relationship.slot)
      guard let probe = owner.table?.readProbe else { return false }
      // The result may depend on the inverse.
      if let back = object.back(of: relationship), !back.isToMany { object.recordRead(at: back.slot) }
      probe.pause()
      defer { probe.resume() }
      return owner.isMember(object, of: relationship)
    case .collection(let members): return members.objects.contains(object)
    case .uninserted(let slot, let owner):
      owner.recordRead(at: slot)
      return false
    }
  }

  func firstIndex(of object: ManagedObject) -> Int? {
    switch self {
    case .relationship(let relationship, let owner):
      owner.recordRead(at: relationship.slot)
      let probe = owner.table?.readProbe
      probe?.pause()
      defer { probe?.resume() }
      return owner.memberIDs(of: relationship).firstIndex(of: object.objectID)
    case .collection(let members): return members.objects.firstIndex(of: object)
    case .uninserted(let slot, let owner):
      owner.recordRead(at: slot)
      return nil
    }
  }

  func insert(_ object: ManagedObject) {
    switch self {
    case .relationship(let relationship, let owner): owner.insertMember(object, of: relationship)
    case .collection(let members): members.objects.append(object)
    case .uninserted(let slot, let owner): owner.failWithoutContext(at: slot)
    }
  }

  /// Adds an object at an index, or moves a member there.
  func insert(_ object: ManagedObject, at index: Int) {
    switch self {
    case .relationship(let relationship, let owner): owner.insertMember(object, at: index, of: relationship)
    case .collection(let members):
      members.objects.remove(object)
      members.objects.insert(object, at: min(index, members.objects.count))
    case .uninserted(let slot, let owner): owner.failWithoutContext(at: slot)
    }
  }

  func remove(_ object: ManagedObject) {
    switch self {
    case .relationship(let relationship, let owner): owner.removeMember(object, of: relationship)
    case .collection(let members): members.objects.remove(object)
    case .uninserted: break
    }
  }

  func replace(with objects: [ManagedObject]) {
    switch self {
    case .relationship(let relationship, let owner): owner.replaceMembers(with: objects, of: relationship)
    case .collection(let members): members.objects = OrderedSet(objects)
    case .uninserted(let slot, let owner): if !objects.isEmpty { owner.failWithoutContext(at: slot) }
    }
  }
}

/// The members of a set without a relationship. A class, because a set is mutated without being a variable.
final class CollectedMembers {
  var objects: OrderedSet<ManagedObject>

  init(_ objects: [ManagedObject]) { self.objects = OrderedSet(objects) }
}
