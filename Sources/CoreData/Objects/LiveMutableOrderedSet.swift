import Foundation
import Persist

/// The members of an ordered relationship, as a set whose changes are those of the relationship.
///
/// Foundation's methods use the storage of their class unless they are overridden: each one is. For those that can't be
/// overridden, such as `array`, the storage follows the changes that are made by this object.
final class LiveMutableOrderedSet: NSMutableOrderedSet {
  private let members: RelationshipSet<ManagedObject>
  /// Whether the storage is being changed, and not the relationship.
  private var isCopying = false

  init(_ members: RelationshipSet<ManagedObject>) {
    self.members = members
    super.init(capacity: 0)
    copyMembers()
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

  private var current: NSOrderedSet { NSOrderedSet(array: Array(members)) }

  private func copyMembers() {
    isCopying = true
    defer { isCopying = false }
    super.removeAllObjects()
    for object in members { super.add(object) }
  }

  /// Changes the relationship, and then the storage.
  private func change(_ body: (RelationshipSet<ManagedObject>) -> Void) {
    body(members)
    copyMembers()
  }

  /// Changes the relationship, and the storage by the same step, which costs less than a copy. Copies the members where
  /// the two differed before, or differ by their number afterward.
  private func change(_ body: (RelationshipSet<ManagedObject>) -> Void, inStorage step: () -> Void) {
    let wasCurrent = isStorageCurrent
    body(members)
    guard wasCurrent else { return copyMembers() }
    isCopying = true
    step()
    isCopying = false
    if !isStorageCurrent { copyMembers() }
  }

  /// Whether the storage has as many members as the relationship, and the same last one.
  private var isStorageCurrent: Bool {
    let count = super.count
    guard count == members.count else { return false }
    return count == 0 || super.object(at: count - 1) as? ManagedObject === members[count - 1]
  }

  /// Changes the members as Foundation changes a set of its own.
  private func changeCopy(_ body: (NSMutableOrderedSet) -> Void) {
    let set = NSMutableOrderedSet(array: Array(members))
    body(set)
    change { $0.replace(with: set.array.compactMap { $0 as? ManagedObject }) }
  }

  private func keep(_ isKept: (ManagedObject) -> Bool) { change { $0.replace(with: $0.filter(isKept)) } }

  override var count: Int { isCopying ? super.count : members.count }
  override func object(at index: Int) -> Any { isCopying ? super.object(at: index) : members[index] }
  override func index(of object: Any) -> Int {
    if isCopying { return super.index(of: object) }
    return (object as? ManagedObject).flatMap { members.firstIndex(of: $0) } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool {
    isCopying ? super.contains(object) : (object as? ManagedObject).map(members.contains) ?? false
  }
  override subscript(index: Int) -> Any {
    get { members[index] }
    set { setObject(newValue, at: index) }
  }
  override func objects(at indexes: IndexSet) -> [Any] { current.objects(at: indexes) }
  override func copy(with zone: NSZone? = nil) -> Any { current }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: Array(members)) }
  override var description: String { current.description }
  override func isEqual(_ object: Any?) -> Bool { current.isEqual(object) }
  override func isEqual(to other: NSOrderedSet) -> Bool { current.isEqual(to: other) }
  override func intersects(_ other: NSOrderedSet) -> Bool { current.intersects(other) }
  override func intersectsSet(_ set: Set<AnyHashable>) -> Bool { current.intersectsSet(set) }
  override func isSubset(of other: NSOrderedSet) -> Bool { current.isSubset(of: other) }
  override func isSubset(of set: Set<AnyHashable>) -> Bool { current.isSubset(of: set) }
  override func enumerateObjects(
    options: NSEnumerationOptions = [], using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    current.enumerateObjects(options: options, using: block)
  }
  override func sortedArray(
    options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
  ) -> [Any] {
    current.sortedArray(options: options, usingComparator: comparator)
  }
  override func sortedArray(using descriptors: [NSSortDescriptor]) -> [Any] {
    NSArray(array: Array(members)).sorted(using: descriptors)
  }

  override func insert(_ object: Any, at index: Int) {
    if isCopying { return super.insert(object, at: index) }
    // A member stays where it is.
    if let object = object as? ManagedObject, !members.contains(object) {
      change { $0.insert(object, at: index) } inStorage: { super.insert(object, at: index) }
    }
  }
  override func removeObject(at index: Int) {
    if isCopying { return super.removeObject(at: index) }
    change { $0.remove(at: index) } inStorage: { super.removeObject(at: index) }
  }
  override func replaceObject(at index: Int, with object: Any) {
    if isCopying { return super.replaceObject(at: index, with: object) }
    if let object = object as? ManagedObject { change { $0.replace(at: index, with: object) } }
  }
  override func add(_ object: Any) {
    if isCopying { return super.add(object) }
    guard let object = object as? ManagedObject else { return }
    change { $0.insert(object) } inStorage: { super.add(object) }
  }
  override func remove(_ object: Any) {
    if isCopying { return super.remove(object) }
    guard let object = object as? ManagedObject else { return }
    change { $0.remove(object) } inStorage: { super.remove(object) }
  }
  override func addObjects(from array: [Any]) {
    change { $0.insert(contentsOf: array.compactMap { $0 as? ManagedObject }) }
  }
  override func moveObjects(at indexes: IndexSet, to index: Int) { change { $0.moveObjects(at: indexes, to: index) } }
  override func removeObjects(at indexes: IndexSet) {
    if isCopying { super.removeObjects(at: indexes) } else { change { $0.remove(at: indexes) } }
  }
  override func removeAllObjects() { change { $0.removeAll() } }
  override func removeObjects(in array: [Any]) {
    change { $0.remove(contentsOf: array.compactMap { $0 as? ManagedObject }) }
  }
  override func removeObjects(in range: NSRange) {
    if isCopying { return super.removeObjects(in: range) }
    if let range = Range(range) { change { $0.remove(at: IndexSet(integersIn: range)) } }
  }
  override func setObject(_ object: Any, at index: Int) {
    if index == count { add(object) } else { replaceObject(at: index, with: object) }
  }
  override func exchangeObject(at first: Int, withObjectAt second: Int) {
    var objects = Array(members)
    objects.swapAt(first, second)
    change { $0.replace(with: objects) }
  }
  override func insert(_ objects: [Any], at indexes: IndexSet) { changeCopy { $0.insert(objects, at: indexes) } }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    changeCopy { $0.replaceObjects(at: indexes, with: objects) }
  }
  // Replaces Foundation's implementation, which may loop endlessly on a live set.
  override func intersect(_ other: NSOrderedSet) { keep { other.contains($0) } }
  override func minus(_ other: NSOrderedSet) { keep { !other.contains($0) } }
  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  override func intersectSet(_ other: Set<AnyHashable>) { keep { other.contains($0) } }
  override func minusSet(_ other: Set<AnyHashable>) { keep { !other.contains($0) } }
  override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }
  override func sort(options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) {
    let sorted = sortedArray(options: options, usingComparator: comparator)
    change { $0.replace(with: sorted.compactMap { $0 as? ManagedObject }) }
  }
  override func sort(comparator: (Any, Any) -> ComparisonResult) { sort(options: [], usingComparator: comparator) }
  override func sortRange(
    _ range: NSRange, options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
  ) {
    changeCopy { $0.sortRange(range, options: options, usingComparator: comparator) }
  }
  override func sort(using descriptors: [NSSortDescriptor]) {
    let sorted = sortedArray(using: descriptors)
    change { $0.replace(with: sorted.compactMap { $0 as? ManagedObject }) }
  }
}
