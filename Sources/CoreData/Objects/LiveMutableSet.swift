import Foundation
import Persist

/// The members of an unordered relationship, as a set whose changes are those of the relationship.
///
/// Foundation's methods use the storage of their class unless they are overridden: each one is. Casts to Swift's
/// sets read the storage, which stays empty: the source pass casts a copy.
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

  private var current: NSSet { NSSet(array: Array(members)) }

  override var count: Int { members.count }
  override func member(_ object: Any) -> Any? {
    (object as? ManagedObject).flatMap { members.contains($0) ? $0 : nil }
  }
  override func contains(_ object: Any) -> Bool { member(object) != nil }
  override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(members)).objectEnumerator() }
  override var allObjects: [Any] { Array(members) }
  override func anyObject() -> Any? { members.first }
  override func copy(with zone: NSZone? = nil) -> Any { current }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: Array(members)) }
  override var description: String { current.description }
  override func isEqual(_ value: Any?) -> Bool { current.isEqual(value) }
  override var hash: Int { current.hash }
  override func isEqual(to other: Set<AnyHashable>) -> Bool { current.isEqual(to: other) }
  override func intersects(_ other: Set<AnyHashable>) -> Bool { current.intersects(other) }
  override func isSubset(of other: Set<AnyHashable>) -> Bool { current.isSubset(of: other) }
  override func adding(_ object: Any) -> Set<AnyHashable> { current.adding(object) }
  override func addingObjects(from other: Set<AnyHashable>) -> Set<AnyHashable> { current.addingObjects(from: other) }
  override func addingObjects(from other: [Any]) -> Set<AnyHashable> { current.addingObjects(from: other) }
  override func enumerateObjects(
    options: NSEnumerationOptions = [], using block: (Any, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    current.enumerateObjects(options: options, using: block)
  }
  override func objects(
    options: NSEnumerationOptions = [], passingTest predicate: (Any, UnsafeMutablePointer<ObjCBool>) -> Bool
  ) -> Set<AnyHashable> {
    current.objects(options: options, passingTest: predicate)
  }
  override func sortedArray(using descriptors: [NSSortDescriptor]) -> [Any] {
    NSArray(array: Array(members)).sorted(using: descriptors)
  }

  override func add(_ object: Any) {
    if let object = object as? ManagedObject { members.insert(object) }
  }
  override func remove(_ object: Any) {
    if let object = object as? ManagedObject { members.remove(object) }
  }
  override func addObjects(from array: [Any]) {
    members.insert(contentsOf: array.compactMap { $0 as? ManagedObject })
  }
  override func removeAllObjects() { members.removeAll() }
  override func union(_ other: Set<AnyHashable>) { members.insert(contentsOf: Self.objects(other)) }
  override func minus(_ other: Set<AnyHashable>) { members.remove(contentsOf: Self.objects(other)) }
  override func intersect(_ other: Set<AnyHashable>) {
    let kept = Set(Self.objects(other))
    members.remove(contentsOf: members.filter { !kept.contains($0) })
  }
  override func setSet(_ other: Set<AnyHashable>) { members.replace(with: Self.objects(other)) }

  private static func objects(_ set: Set<AnyHashable>) -> [ManagedObject] {
    set.compactMap { $0.base as? ManagedObject }
  }
}
