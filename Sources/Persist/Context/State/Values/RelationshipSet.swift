public import Foundation

/// The members of a to-many relationship, as a live mutable view.
///
/// It always reflects the current state of the relationship. Counting and looking up objects don't create the members;
/// iterating creates them in groups, reading the rows of each group at once. An iteration visits the members as they
/// were at its start, so that they can be changed during it.
///
/// An ordered relationship keeps its members in order. In an unordered one, the order is arbitrary but stable until the
/// members change.
///
/// ```swift
/// category.items.insert(tea)        // tea.category is now category
/// category.items.count              // 1
/// category.items = [tea, coffee]    // replaces all members
/// category.items = RelationshipSet(found)
/// ```
///
/// A set created from an array or a literal belongs to no relationship: it holds its objects until it is assigned.
public struct RelationshipSet<Element: ManagedObject> {
  let source: MemberSource

  init(source: MemberSource) { self.source = source }

  init(owner: ManagedObject, relationship: RelationshipLayout) { source = .relationship(relationship, of: owner) }

  /// Creates a set of objects to be assigned to a relationship, without duplicates.
  public init(_ objects: some Sequence<Element>) { source = .collection(CollectedMembers(Array(objects))) }

  private var list: MemberList { source.list }

  /// The members' identifiers, obtained without creating members.
  public var objectIDs: [ManagedObjectID] { list.identifiers }

  /// Whether an object is a member. With a to-one inverse, the members aren't read.
  public func contains(_ object: ManagedObject) -> Bool { source.contains(object) }

  /// Adds an object, at the end of an ordered relationship. An existing member keeps its position.
  public func insert(_ object: Element) { source.insert(object) }

  /// Adds an object to an ordered relationship at an index, or moves a member there.
  ///
  /// - Parameters:
  ///   - object: The object to insert or to move.
  ///   - index: At most `count`; for a member, its index among the others.
  public func insert(_ object: Element, at index: Int) {
    requireOrder()
    precondition(index >= 0 && index <= count, "'\(source.name)' has no index \(index), only 0 to \(count).")
    source.insert(object, at: index)
  }

  /// Removes the member at an index from an ordered relationship.
  public func remove(at index: Int) {
    requireOrder()
    remove(self[index])
  }

  /// Replaces a member of an ordered relationship with an object. If the object is already a member, it leaves its old
  /// position.
  public func replace(at index: Int, with object: Element) {
    requireOrder()
    let old = self[index]
    guard old !== object else { return }
    var members = Array(self).filter { $0 !== object }
    if let place = members.firstIndex(of: old) { members[place] = object }
    source.replace(with: members)
  }

  /// Sorts the members of an ordered relationship.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    requireOrder()
    source.replace(with: try sorted(by: areInIncreasingOrder))
  }

  /// Returns the index of a member without creating other members; nil if the object isn't a member.
  public func firstIndex(of object: ManagedObject) -> Int? { source.firstIndex(of: object) }

  private func requireOrder() {
    precondition(source.isOrdered, "'\(source.name)' isn't ordered: its members have no indexes.")
  }

  /// Adds objects in order, as with ``insert(_:)``.
  public func insert(contentsOf objects: some Sequence<Element>) {
    for object in objects { insert(object) }
  }

  /// Removes an object; does nothing if it isn't a member.
  public func remove(_ object: ManagedObject) { source.remove(object) }

  /// Removes objects, ignoring those that aren't members.
  public func remove(contentsOf objects: some Sequence<some ManagedObject>) {
    for object in Array(objects) { remove(object) }
  }

  /// Removes all members. The objects themselves aren't deleted.
  public func removeAll() { source.replace(with: []) }

  /// Replaces the members, in this order for an ordered relationship.
  public func replace(with objects: some Sequence<Element>) {
    source.replace(with: Array(objects))
  }

  private func element(_ object: ManagedObject) -> Element {
    guard let element = object.asObject(of: Element.self) else {
      preconditionFailure(
        "'\(source.name)' has an object of class \(type(of: object)), not \(Element.self): register its class.")
    }
    return element
  }
}

extension RelationshipSet: ExpressibleByArrayLiteral {
  /// Creates a set from a literal, to be assigned to a relationship.
  public init(arrayLiteral objects: Element...) { self.init(objects) }
}

extension RelationshipSet: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { source.count }

  /// The member at an index, from 0. Traps if there is none, or if the owner has left its context.
  public subscript(index: Int) -> Element {
    let list = list
    precondition(
      index >= 0 && index < list.count, "'\(source.name)' has no index \(index): it has \(list.count) members.")
    guard let member = source.member(at: index, of: list) else {
      preconditionFailure("The owner of '\(source.name)' no longer has a context.")
    }
    return element(member)
  }

  public func makeIterator() -> Iterator { Iterator(set: self, list: source.listWithRows) }

  /// Returns the results of calling a closure with each member, as the members were at the start.
  ///
  /// The `map` of `Collection` accesses members by index, which would read the row of the first one separately.
  public func map<T, Failure: Error>(_ transform: (Element) throws(Failure) -> T) throws(Failure) -> [T] {
    var results: [T] = []
    var members = makeIterator()
    results.reserveCapacity(members.count)
    while let member = members.next() { results.append(try transform(member)) }
    return results
  }

  /// Iterates over the members as they were at its creation.
  public struct Iterator: IteratorProtocol {
    private let set: RelationshipSet
    private let list: MemberList
    fileprivate let count: Int
    private var position = 0
    /// The members of the current group, held so that their rows stay read.
    private var group: [ManagedObject] = []
    private var groupStart = 0

    init(set: RelationshipSet, list: MemberList) {
      self.set = set
      self.list = list
      count = list.count
    }

    public mutating func next() -> Element? {
      if position - groupStart >= group.count, !readGroup() { return nil }
      defer { position += 1 }
      return set.element(group[position - groupStart])
    }

    private mutating func readGroup() -> Bool {
      group = []
      while group.isEmpty, position < count {
        let end = Swift.min(position + MemberList.groupSize, count)
        group = list.objects(position..<end, of: set.source.owner)
        if group.isEmpty { position = end } else { groupStart = position }
      }
      set.source.didReach(group, of: list, isEnd: groupStart + group.count >= count)
      return !group.isEmpty
    }
  }
}

extension RelationshipSet {
  /// Inserts objects into an ordered relationship, or moves members, so that each has the given index afterward.
  ///
  /// - Parameters:
  ///   - objects: The objects to insert or to move.
  ///   - indexes: One index per object, ascending; each at most the count at the time of its insertion.
  public func insert(_ objects: [Element], at indexes: IndexSet) {
    precondition(objects.count == indexes.count, "\(objects.count) objects can't have \(indexes.count) indexes.")
    for (index, object) in zip(indexes, objects) { insert(object, at: index) }
  }

  /// Moves a member of an ordered relationship.
  ///
  /// - Parameters:
  ///   - object: A member. Any other object is inserted.
  ///   - index: Its index afterward.
  public func move(_ object: Element, to index: Int) { insert(object, at: index) }

  /// Moves members of an ordered relationship, in the order of their indexes, to consecutive places.
  ///
  /// - Parameters:
  ///   - indexes: The indexes of the members.
  ///   - index: The index of the first of them afterward.
  public func moveObjects(at indexes: IndexSet, to index: Int) {
    requireOrder()
    let members = indexes.map { self[$0] }
    // As in Core Data, the index counts the members that remain after the removal.
    for member in members { remove(member) }
    for (offset, member) in members.enumerated() { insert(member, at: index + offset) }
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
    precondition(objects.count == indexes.count, "\(objects.count) objects can't have \(indexes.count) indexes.")
    for (index, object) in zip(indexes, objects) { replace(at: index, with: object) }
  }
}

extension RelationshipSet: KeyedMembers {
  package static var countKeyPath: AnyKeyPath { \RelationshipSet<Element>.count }
  package static var isEmptyKeyPath: AnyKeyPath { \RelationshipSet<Element>.isEmpty }
}

extension RelationshipSet: RecordedMembers {
  package var recordedOwner: ManagedObject? { source.owner }
  package var relationshipName: String { source.name }
}
