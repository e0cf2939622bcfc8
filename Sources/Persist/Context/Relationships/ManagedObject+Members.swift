/// Access to the members of a to-many relationship as objects: they are held, and their rows are read in groups.
extension ManagedObject {
  /// Holds members that an iteration has reached, and reads their rows if necessary.
  final func retainGroup(_ group: [ManagedObject], of relationship: RelationshipLayout) {
    guard !group.isEmpty else { return }
    holdMembers(group, at: relationship.slot)
    table?.context.prefetchRows(of: group)
  }

  /// Returns the member at an index. Sequential access, as by `map` and slices, reads the members in groups.
  final func member(at index: Int, of list: MemberList, _ relationship: RelationshipLayout) -> ManagedObject? {
    guard let member = list.objects(index..<index + 1, of: self).first else { return nil }
    if index > 0, member.isWithoutRow, list.objects(index - 1..<index, of: self).first?.isWithoutRow == false {
      retainGroup(list.objects(index..<min(index + MemberList.groupSize, list.count), of: self), of: relationship)
    } else {
      holdMembers(CollectionOfOne(member), at: relationship.slot)
    }
    if index == list.count - 1 { retainAllMembers(list, at: relationship.slot) }
    return member
  }
}
