/// The members of a to-many relationship as objects, as programs ask for them: held, and their rows read in groups.
extension ManagedObject {
  /// Holds members that a walk has come to, and reads the rows of those that have none yet.
  final func holdGroup(_ group: [ManagedObject], of relationship: RelationshipLayout) {
    guard !group.isEmpty else { return }
    holdMembers(group, at: relationship.slot)
    table?.context.prefetchRows(of: group)
  }

  /// The member at a place. Who asks for one after the other gets them in groups: that is how `map` and slices walk.
  final func member(at index: Int, of list: MemberList, _ relationship: RelationshipLayout) -> ManagedObject? {
    guard let member = list.objects(index..<index + 1, of: self).first else { return nil }
    if index > 0, member.isWithoutRow, list.objects(index - 1..<index, of: self).first?.isWithoutRow == false {
      holdGroup(list.objects(index..<min(index + MemberList.groupSize, list.count), of: self), of: relationship)
    } else {
      holdMembers(CollectionOfOne(member), at: relationship.slot)
    }
    if index == list.count - 1 { holdAllMembers(list, at: relationship.slot) }
    return member
  }
}
