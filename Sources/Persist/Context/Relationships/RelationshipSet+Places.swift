public import Foundation

extension RelationshipSet {
  /// Adds objects of an ordered relationship, or moves members, so that each stands at its place afterwards.
  ///
  /// - Parameter indexes: as many as there are objects, upwards; each at most the count that there is by then.
  public func insert(_ objects: [Element], at indexes: IndexSet) {
    precondition(objects.count == indexes.count, "\(objects.count) objects can't take \(indexes.count) places.")
    for (index, object) in zip(indexes, objects) { insert(object, at: index) }
  }

  /// Takes the members at several places out of an ordered relationship.
  public func remove(at indexes: IndexSet) {
    for index in indexes.reversed() { remove(at: index) }
  }

  /// Puts objects in the places of members of an ordered relationship.
  ///
  /// - Parameter indexes: as many as there are objects, upwards.
  public func replace(at indexes: IndexSet, with objects: [Element]) {
    precondition(objects.count == indexes.count, "\(objects.count) objects can't take \(indexes.count) places.")
    for (index, object) in zip(indexes, objects) { replace(at: index, with: object) }
  }
}
