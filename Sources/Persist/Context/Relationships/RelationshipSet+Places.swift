public import Foundation

extension RelationshipSet {
  /// Inserts objects into an ordered relationship, or moves members, so that each has the given index afterward.
  ///
  /// - Parameters:
  ///   - objects: The objects to insert or to move.
  ///   - indexes: One index per object, ascending; each at most the count at the time of its insertion.
  public func insert(_ objects: [Element], at indexes: IndexSet) {
    precondition(objects.count == indexes.count, "\(objects.count) objects can't take \(indexes.count) places.")
    for (index, object) in zip(indexes, objects) { insert(object, at: index) }
  }

  /// Removes the members at several indexes from an ordered relationship.
  public func remove(at indexes: IndexSet) {
    for index in indexes.reversed() { remove(at: index) }
  }

  /// Replaces members of an ordered relationship with other objects.
  ///
  /// - Parameters:
  ///   - indexes: One index per object, ascending.
  ///   - objects: The new members.
  public func replace(at indexes: IndexSet, with objects: [Element]) {
    precondition(objects.count == indexes.count, "\(objects.count) objects can't take \(indexes.count) places.")
    for (index, object) in zip(indexes, objects) { replace(at: index, with: object) }
  }
}
