public import Persist

/// The objects at the other end of an ordered to-many relationship: a live, mutable view.
///
/// It is a `RelationshipSet` with positions.
///
/// ```swift
/// order.lines.append(line)
/// order.lines.insert(first, at: 0)
/// order.lines.move(line, to: 0)
/// order.lines = [first, second]
/// ```
public struct OrderedRelationshipSet<Element: ManagedObject> {
  /// The same members, for code that doesn't depend on their order.
  public let members: RelationshipSet<Element>

  init(members: RelationshipSet<Element>) { self.members = members }

  /// Creates a list of objects to assign to a relationship. Duplicates are dropped.
  public init(_ objects: some Sequence<Element>) { members = RelationshipSet(objects) }

  /// The members' identifiers; reading them materializes no members.
  public var objectIDs: [ManagedObjectID] { members.objectIDs }

  /// Whether an object is a member. Doesn't read the members if the inverse is a to-one relationship.
  public func contains(_ object: ManagedObject) -> Bool { members.contains(object) }

  /// Adds an object at the end. Has no effect if it is already a member.
  public func append(_ object: Element) { members.insert(object) }

  /// Adds objects at the end, in their order. Existing members keep their positions.
  public func append(contentsOf objects: some Sequence<Element>) { members.insert(contentsOf: objects) }

  /// Inserts an object at an index, or moves a member there.
  ///
  /// - Parameters:
  ///   - object: the object to insert or to move.
  ///   - index: at most the number of members; for a member, the index among the others.
  public func insert(_ object: Element, at index: Int) { members.insert(object, at: index) }

  /// Moves a member to an index among the others.
  public func move(_ object: Element, to index: Int) {
    guard contains(object) else { return }
    members.insert(object, at: index)
  }

  /// Removes an object; has no effect if it isn't a member.
  public func remove(_ object: ManagedObject) { members.remove(object) }

  /// Removes the member at an index and returns it, materialized. Traps if there is no such index.
  @discardableResult
  public func remove(at index: Int) -> Element {
    let object = members[index]
    members.remove(object)
    return object
  }

  /// Removes all members. The objects aren't deleted; their inverse is updated.
  public func removeAll() { members.removeAll() }

  /// Replaces the members with these objects, in this order.
  public func replace(with objects: some Sequence<Element>) { members.replace(with: objects) }
}

extension OrderedRelationshipSet: ExpressibleByArrayLiteral {
  /// Creates a list from a literal, to assign to a relationship.
  public init(arrayLiteral objects: Element...) { self.init(objects) }
}

extension OrderedRelationshipSet: RandomAccessCollection {
  /// Always 0.
  public var startIndex: Int { members.startIndex }
  /// The number of members, counted without materializing them.
  public var endIndex: Int { members.endIndex }
  /// The member at an index, materialized if necessary. Traps if there is no such index.
  public subscript(index: Int) -> Element { members[index] }
  /// Returns an iterator over the members as they are now, which may be changed during the iteration. It reads rows in
  /// groups.
  public func makeIterator() -> RelationshipSet<Element>.Iterator { members.makeIterator() }
}

extension OrderedRelationshipSet: RelationshipValue {
  /// The class of the members.
  public typealias Destination = Element

  /// Always true.
  public static var isToMany: Bool { true }
  /// Always true: the store keeps the positions, as for Core Data's ordered relationships.
  public static var isOrdered: Bool { true }
  /// Returns a live view of a relationship's members; nothing is read until it is used.
  public static func related(to owner: ManagedObject, at slot: Int) -> OrderedRelationshipSet<Element> {
    OrderedRelationshipSet(members: owner.toMany(at: slot))
  }
  /// Replaces a relationship's members with these, in this order, and updates the inverse.
  public func relate(to owner: ManagedObject, at slot: Int) {
    owner.toMany(at: slot, of: Element.self).replace(with: self)
  }
}
