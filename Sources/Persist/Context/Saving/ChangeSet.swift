/// Objects that were changed in the same way, in the order in which they were, held until the next save.
///
/// An object is in one set at most and knows its place in it, so that it enters and leaves without a search.
struct ChangeSet {
  private var places: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0
  /// Another number whenever an object entered or left.
  private(set) var revision = 0

  var isEmpty: Bool { count == 0 }

  /// - Complexity: O(1) amortised.
  mutating func insert(_ object: ManagedObject) {
    object.changeIndex = Int32(truncatingIfNeeded: places.count)
    places.append(object)
    count += 1
    revision += 1
  }

  /// - Complexity: O(1) amortised.
  mutating func remove(_ object: ManagedObject) {
    guard contains(object) else { return }
    places[Int(object.changeIndex)] = nil
    count -= 1
    revision += 1
    if places.count > 32, count * 2 < places.count { compact() }
  }

  mutating func removeAll() {
    places = []
    count = 0
    revision += 1
  }

  /// Takes objects out that make up all of the set, or some of it.
  mutating func remove(_ objects: [ManagedObject]) {
    if objects.count == count, objects.allSatisfy(contains) { return removeAll() }
    for object in objects { remove(object) }
  }

  private func contains(_ object: ManagedObject) -> Bool {
    let index = Int(object.changeIndex)
    return places.indices.contains(index) && places[index] === object
  }

  var objects: [ManagedObject] { places.compactMap { $0 } }

  private mutating func compact() {
    places = ContiguousArray(places.filter { $0 != nil })
    for (index, object) in places.enumerated() { object?.changeIndex = Int32(truncatingIfNeeded: index) }
  }
}
