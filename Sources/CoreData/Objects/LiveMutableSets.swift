import Foundation
import Persist

/// The members of an unordered relationship, as a set whose changes are those of the relationship.
final class LiveMutableSet: NSMutableSet {
  private let members: RelationshipSet<ManagedObject>

  init(_ members: RelationshipSet<ManagedObject>) {
    self.members = members
    super.init(capacity: 0)
  }

  required init(capacity: Int) {
    members = []
    super.init(capacity: capacity)
  }

  required init?(coder: NSCoder) { nil }

  override var count: Int { members.count }
  override func member(_ object: Any) -> Any? {
    (object as? ManagedObject).flatMap { members.contains($0) ? $0 : nil }
  }
  override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(members)).objectEnumerator() }
  override func add(_ object: Any) { if let object = object as? ManagedObject { members.insert(object) } }
  override func remove(_ object: Any) { if let object = object as? ManagedObject { members.remove(object) } }
  override var allObjects: [Any] { Array(members) }
  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: Array(members)) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: Array(members)) }
}

/// The members of an ordered relationship, as a set whose changes are those of the relationship.
final class LiveMutableOrderedSet: NSMutableOrderedSet {
  private let members: RelationshipSet<ManagedObject>

  init(_ members: RelationshipSet<ManagedObject>) {
    self.members = members
    super.init(capacity: 0)
  }

  override init(capacity: Int) {
    members = []
    super.init(capacity: capacity)
  }

  required init(arrayLiteral elements: Any...) {
    members = RelationshipSet(elements.compactMap { $0 as? ManagedObject })
    super.init(capacity: 0)
  }

  required init?(coder: NSCoder) { nil }

  override var count: Int { members.count }
  override func object(at index: Int) -> Any { members[index] }
  override func index(of object: Any) -> Int {
    (object as? ManagedObject).flatMap { members.firstIndex(of: $0) } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool { (object as? ManagedObject).map(members.contains) ?? false }
  override func insert(_ object: Any, at index: Int) {
    if let object = object as? ManagedObject { members.insert(object, at: index) }
  }
  override func removeObject(at index: Int) { members.remove(at: index) }
  override func replaceObject(at index: Int, with object: Any) {
    if let object = object as? ManagedObject { members.replace(at: index, with: object) }
  }
  override func add(_ object: Any) { if let object = object as? ManagedObject { members.insert(object) } }
  override func remove(_ object: Any) { if let object = object as? ManagedObject { members.remove(object) } }
  override func moveObjects(at indexes: IndexSet, to index: Int) {
    members.moveObjects(at: indexes, to: index)
  }
  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: Array(members)) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: Array(members)) }
}
