public import Persist

/// The objects at the other end of an ordered to-many relationship: a live, mutable view.
///
/// It is a ``Persist/RelationshipSet`` with positions.
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

  public func append(contentsOf objects: some Sequence<Element>) { members.insert(contentsOf: objects) }

  /// Inserts an object at an index, or moves a member there.
  ///
  /// - Parameter index: at most the number of members; for a member, the index among the others.
  public func insert(_ object: Element, at index: Int) { members.insert(object, at: index) }

  /// Moves a member to an index among the others.
  public func move(_ object: Element, to index: Int) {
    guard contains(object) else { return }
    members.insert(object, at: index)
  }

  /// Removes an object; has no effect if it isn't a member.
  public func remove(_ object: ManagedObject) { members.remove(object) }

  @discardableResult
  public func remove(at index: Int) -> Element {
    let object = members[index]
    members.remove(object)
    return object
  }

  public func removeAll() { members.removeAll() }

  /// Replaces the members with these objects, in this order.
  public func replace(with objects: some Sequence<Element>) { members.replace(with: objects) }
}

extension OrderedRelationshipSet: ExpressibleByArrayLiteral {
  /// Creates a list from a literal, to assign to a relationship.
  public init(arrayLiteral objects: Element...) { self.init(objects) }
}

extension OrderedRelationshipSet: RandomAccessCollection {
  public var startIndex: Int { members.startIndex }
  public var endIndex: Int { members.endIndex }
  public subscript(index: Int) -> Element { members[index] }
  public func makeIterator() -> RelationshipSet<Element>.Iterator { members.makeIterator() }
}

extension OrderedRelationshipSet: RelationshipValue {
  public typealias Destination = Element

  public static var isToMany: Bool { true }
  public static var isOrdered: Bool { true }
  public static func related(to owner: ManagedObject, at slot: Int) -> OrderedRelationshipSet<Element> {
    OrderedRelationshipSet(members: owner.toMany(at: slot))
  }
  public func relate(to owner: ManagedObject, at slot: Int) {
    owner.toMany(at: slot, of: Element.self).replace(with: self)
  }
}
