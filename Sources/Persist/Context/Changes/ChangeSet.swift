/// Objects with the same kind of change, in the order of their changes, held until the next save.
///
/// An object is in at most one set and stores its index, so that insertion and removal need no search.
struct ChangeSet {
  private var places: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0
  /// A number that changes whenever an object is inserted or removed.
  private(set) var revision = 0
  /// The numbers of objects with relationships without an inverse, by the index of their layout; of others, none.
  private(set) var oneWaySourceCounts: [Int: Int] = [:]

  var isEmpty: Bool { count == 0 }

  /// - Complexity: O(1) amortized.
  mutating func insert(_ object: ManagedObject) {
    object.changeIndex = Int32(truncatingIfNeeded: places.count)
    places.append(object)
    if object.layout.hasOneWayRelationships { oneWaySourceCounts[object.layout.index, default: 0] += 1 }
    count += 1
    revision += 1
  }

  /// - Complexity: O(1) amortized.
  mutating func remove(_ object: ManagedObject) {
    guard contains(object) else { return }
    places[Int(object.changeIndex)] = nil
    if object.layout.hasOneWayRelationships { oneWaySourceCounts[object.layout.index, default: 0] -= 1 }
    count -= 1
    revision += 1
    if places.count > 32, count * 2 < places.count { compact() }
  }

  mutating func removeAll() {
    places = []
    oneWaySourceCounts = [:]
    count = 0
    revision += 1
  }

  /// Removes objects, which may be the whole set.
  mutating func remove(_ objects: [ManagedObject]) {
    if objects.count == count, objects.allSatisfy(contains) { return removeAll() }
    for object in objects { remove(object) }
  }

  private func contains(_ object: ManagedObject) -> Bool {
    let index = Int(object.changeIndex)
    return places.indices.contains(index) && places[index] === object
  }

  var objects: [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(count)
    for case let object? in places { objects.append(object) }
    return objects
  }

  private mutating func compact() {
    places = ContiguousArray(places.filter { $0 != nil })
    for (index, object) in places.enumerated() { object?.changeIndex = Int32(truncatingIfNeeded: index) }
  }
}
