/// A first-in, first-out queue.
///
/// Adding and taking an element take constant time on average.
struct WorkQueue<Element> {
  /// The elements, after those already taken. The taken ones are nil until half of the array is.
  private var storage: [Element?] = []
  private var takenCount = 0

  var count: Int { storage.count - takenCount }
  var isEmpty: Bool { count == 0 }
  var first: Element? { takenCount < storage.count ? storage[takenCount] : nil }
  /// The elements in order.
  var elements: [Element] { storage[takenCount...].compactMap { $0 } }

  mutating func append(_ element: Element) { storage.append(element) }

  mutating func popFirst() -> Element? {
    guard takenCount < storage.count else { return nil }
    let first = storage[takenCount]
    storage[takenCount] = nil
    takenCount += 1
    if takenCount * 2 >= storage.count {
      storage.removeFirst(takenCount)
      takenCount = 0
    }
    return first
  }

  /// Removes the elements that match a condition.
  mutating func removeAll(where matches: (Element) -> Bool) {
    storage = elements.filter { !matches($0) }
    takenCount = 0
  }
}
