/// The objects at the other end of a to-many relationship: a live view that can be changed.
///
/// It always shows the relationship as it is now. Counting and asking for an object don't make the members; walking
/// through them makes them in groups, each group's rows read at once. A walk goes through the members as they were
/// when it began, so that they may be changed during it.
///
/// An ordered relationship keeps its members in order. Another has them in some order, which is the same until they
/// change.
///
/// ```swift
/// category.items.insert(tea)        // tea.category is category now
/// category.items.count              // 1
/// category.items = [tea, coffee]    // and nothing else
/// category.items = RelationshipSet(found)
/// ```
///
/// A set that is made from an array or a literal belongs to no relationship: it holds its objects until it is assigned.
public struct RelationshipSet<Element: ManagedObject> {
  let source: MemberSource

  init(owner: ManagedObject, relationship: RelationshipLayout) { source = .relationship(relationship, of: owner) }

  /// A set of objects that is to be assigned to a relationship. It has each object once.
  public init(_ objects: some Sequence<Element>) { source = .collection(CollectedMembers(Array(objects))) }

  private var list: MemberList { source.list }

  /// The members' identifiers; none of the members is made for that.
  public var objectIDs: [ManagedObjectID] { list.identifiers }

  /// Whether an object is a member. Doesn't read the members where the inverse is a to-one relationship.
  public func contains(_ object: ManagedObject) -> Bool { source.contains(object) }

  /// Adds an object, at the end where the relationship is ordered. A member stays where it is.
  public func insert(_ object: Element) { source.insert(object) }

  /// Adds an object of an ordered relationship at a place, or moves a member there.
  ///
  /// - Parameter index: at most ``count``; for a member its place among the others.
  public func insert(_ object: Element, at index: Int) {
    requireOrder()
    precondition(index >= 0 && index <= count, "'\(source.name)' has no place \(index), only 0 to \(count).")
    source.insert(object, at: index)
  }

  /// Takes the member at a place out of an ordered relationship.
  public func remove(at index: Int) {
    requireOrder()
    remove(self[index])
  }

  /// Puts an object in the place of a member of an ordered relationship. One that is a member already leaves its old
  /// place.
  public func replace(at index: Int, with object: Element) {
    requireOrder()
    let old = self[index]
    guard old !== object else { return }
    var members = Array(self).filter { $0 !== object }
    if let place = members.firstIndex(of: old) { members[place] = object }
    source.replace(with: members)
  }

  /// Puts the members of an ordered relationship into another order.
  public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    requireOrder()
    source.replace(with: try sorted(by: areInIncreasingOrder))
  }

  /// The place of a member, without making any other; nil where the object isn't one.
  public func firstIndex(of object: ManagedObject) -> Int? { source.firstIndex(of: object) }

  private func requireOrder() {
    precondition(source.isOrdered, "'\(source.name)' isn't ordered: its members have no places.")
  }

  public func insert(contentsOf objects: some Sequence<Element>) {
    for object in objects { insert(object) }
  }

  /// Takes an object out; nothing happens where it isn't a member.
  public func remove(_ object: ManagedObject) { source.remove(object) }

  public func remove(contentsOf objects: some Sequence<some ManagedObject>) {
    for object in Array(objects) { remove(object) }
  }

  public func removeAll() { source.replace(with: []) }

  /// Makes these the members; of an ordered relationship in this order.
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
  /// The objects of a literal, to be assigned to a relationship.
  public init(arrayLiteral objects: Element...) { self.init(objects) }
}

extension RelationshipSet: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { list.count }

  public subscript(index: Int) -> Element {
    let list = list
    precondition(index >= 0 && index < list.count, "'\(source.name)' has no place \(index), only \(list.count).")
    guard let member = source.member(at: index, of: list) else {
      preconditionFailure("The owner of '\(source.name)' has no context any more.")
    }
    return element(member)
  }

  public func makeIterator() -> Iterator { Iterator(set: self, list: list) }

  /// Walks through the members as they were when it was made.
  public struct Iterator: IteratorProtocol {
    private let set: RelationshipSet
    private let list: MemberList
    private let count: Int
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
