public import Persist

/// The objects at the other end of an ordered to-many relationship: a live view that can be changed.
///
/// It is what ``Persist/RelationshipSet`` is, with places.
///
/// ```swift
/// order.lines.append(line)
/// order.lines.insert(first, at: 0)
/// order.lines.move(line, to: 0)
/// order.lines = [first, second]
/// ```
public struct OrderedRelationshipSet<Element: ManagedObject> {
  /// The same members, for what doesn't ask for their order.
  public let members: RelationshipSet<Element>

  init(members: RelationshipSet<Element>) { self.members = members }

  /// A list of objects that is to be assigned to a relationship. It has each object once.
  public init(_ objects: some Sequence<Element>) { members = RelationshipSet(objects) }

  /// The members' identifiers; none of the members is made for that.
  public var objectIDs: [ManagedObjectID] { members.objectIDs }

  /// Whether an object is a member. Doesn't read the members where the inverse is a to-one relationship.
  public func contains(_ object: ManagedObject) -> Bool { members.contains(object) }

  /// Adds an object at the end. A member stays where it is.
  public func append(_ object: Element) { members.insert(object) }

  public func append(contentsOf objects: some Sequence<Element>) { members.insert(contentsOf: objects) }

  /// Adds an object at a place, or moves a member there.
  ///
  /// - Parameter index: at most the number of members; for a member its place among the others.
  public func insert(_ object: Element, at index: Int) { members.insert(object, at: index) }

  /// Moves a member to a place among the others.
  public func move(_ object: Element, to index: Int) {
    guard contains(object) else { return }
    members.insert(object, at: index)
  }

  /// Takes an object out; nothing happens where it isn't a member.
  public func remove(_ object: ManagedObject) { members.remove(object) }

  @discardableResult
  public func remove(at index: Int) -> Element {
    let object = members[index]
    members.remove(object)
    return object
  }

  public func removeAll() { members.removeAll() }

  /// Makes these the members, in this order.
  public func replace(with objects: some Sequence<Element>) { members.replace(with: objects) }
}

extension OrderedRelationshipSet: ExpressibleByArrayLiteral {
  /// The objects of a literal, to be assigned to a relationship.
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
