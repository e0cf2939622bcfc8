/// Objects that were changed in the same way, in the order in which they were, held until the next save.
///
/// An object is in one set at most and knows its place in it, so that it enters and leaves without a search.
struct ChangeSet {
  private var places: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// - Complexity: O(1) amortised.
  mutating func insert(_ object: ManagedObject) {
    object.changeIndex = Int32(truncatingIfNeeded: places.count)
    places.append(object)
    count += 1
  }

  /// - Complexity: O(1) amortised.
  mutating func remove(_ object: ManagedObject) {
    let index = Int(object.changeIndex)
    guard places.indices.contains(index), places[index] === object else { return }
    places[index] = nil
    count -= 1
    if places.count > 32, count * 2 < places.count { compact() }
  }

  mutating func removeAll() {
    places = []
    count = 0
  }

  var objects: [ManagedObject] { places.compactMap { $0 } }

  private mutating func compact() {
    places = ContiguousArray(places.filter { $0 != nil })
    for (index, object) in places.enumerated() { object?.changeIndex = Int32(truncatingIfNeeded: index) }
  }
}
