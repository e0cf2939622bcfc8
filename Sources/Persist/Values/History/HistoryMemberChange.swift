/// The members that a to-many relationship gained and lost in one ``HistoryChange``.
public struct HistoryMemberChange: Sendable, Hashable {
  /// The members that the relationship gained.
  public var added: Set<ManagedObjectID>
  /// The members that the relationship lost.
  public var removed: Set<ManagedObjectID>

  /// Creates a change from its parts.
  public init(added: Set<ManagedObjectID> = [], removed: Set<ManagedObjectID> = []) {
    self.added = added
    self.removed = removed
  }

  package mutating func record(_ member: ManagedObjectID, isAdded: Bool) {
    if isAdded { added.insert(member) } else { removed.insert(member) }
  }
}
