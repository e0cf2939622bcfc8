/// The objects that an object holds because they were reached from it through its relationships.
///
/// It affects only lifetimes: no relationship is read from it, and an object in it that is no longer related costs only
/// memory. Each reference counts in the ``ManagedObject/holderCount`` of the object it refers to.
final class RelatedObjects {
  private struct End {
    let slot: Int
    /// Kept alive by its holder count.
    let object: ObjectReferences.Reference
  }

  private struct Members {
    let slot: Int
    var objects = ObjectReferences()
    /// Whether all members were iterated over, so that future ones are held too.
    var areWhole = false
  }

  // Unchecked: they belong to an object and so to its context's isolation. Entries are removed before their objects are
  // released.
  @exclusivity(unchecked) private var ends: ContiguousArray<End> = []
  @exclusivity(unchecked) private var members: ContiguousArray<Members> = []

  deinit { forEach(ManagedObject.loseHolder) }

  @inline(__always)
  func forEach(_ body: (ObjectReferences.Reference) -> Void) {
    for end in ends { body(end.object) }
    for members in members { members.objects.forEach(body) }
  }

  // MARK: To-one relationships

  func holds(_ end: ManagedObject, at slot: Int) -> Bool {
    let end = ObjectReferences.Reference.passUnretained(end).toOpaque()
    return ends.contains { $0.slot == slot && $0.object.toOpaque() == end }
  }

  func hold(_ end: ManagedObject, at slot: Int) {
    ends.append(End(slot: slot, object: .passUnretained(end)))
    end.gainHolder()
  }

  /// Releases former destinations of to-one relationships.
  func releaseEnds(where isFormer: (Int, ManagedObject) -> Bool) {
    guard !ends.isEmpty else { return }
    var former: [End] = []
    ends.removeAll { end in
      let isFormer = isFormer(end.slot, end.object.takeUnretainedValue())
      if isFormer { former.append(end) }
      return isFormer
    }
    for end in former { ManagedObject.loseHolder(end.object) }
  }

  // MARK: To-many relationships

  private func index(of slot: Int) -> Int? { members.firstIndex { $0.slot == slot } }

  /// Reserves space for more members of a relationship.
  func reserveMembers(_ count: Int, at slot: Int) { members[makeIndex(of: slot)].objects.reserve(count) }

  private func makeIndex(of slot: Int) -> Int {
    if let index = index(of: slot) { return index }
    members.append(Members(slot: slot))
    return members.count - 1
  }

  func holdMember(_ member: ManagedObject, at slot: Int) {
    let index = makeIndex(of: slot)
    if members[index].objects.insert(member) { member.gainHolder() }
  }

  func areMembersWhole(at slot: Int) -> Bool { index(of: slot).map { members[$0].areWhole } ?? false }

  /// Records that all members are held. Other held objects are former members, and are released.
  ///
  /// - Parameter present: Returns the live members; called only if more objects than members are held.
  func haveAllMembers(count: Int, at slot: Int, _ present: () -> [ManagedObject]) {
    guard let index = index(of: slot), members[index].objects.count >= count else { return }
    members[index].areWhole = true
    guard members[index].objects.count > count else { return }
    let former = members[index].objects
    var held = ObjectReferences()
    for member in present() where former.contains(.passUnretained(member)) { _ = held.insert(member) }
    members[index].objects = held
    former.forEach { member in
      if !held.contains(member) { ManagedObject.loseHolder(member) }
    }
  }

  func releaseMember(_ member: ManagedObject, at slot: Int) {
    guard let index = index(of: slot), members[index].objects.remove(member) else { return }
    ManagedObject.loseHolder(.passUnretained(member))
  }
}
