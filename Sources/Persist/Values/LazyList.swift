import Synchronization

/// A list whose elements are created when they are first used, for example one for each entity of a model.
///
/// Reading an existing element takes no lock. If several threads need a new element at once, each may create one, and
/// all get the first.
// @unchecked Sendable: `elements` is allocated before the list is shared and freed with it; its contents are atomic.
final class LazyList<Element: AnyObject & Sendable>: RandomAccessCollection, @unchecked Sendable {
  let startIndex = 0
  let endIndex: Int
  private let elements: UnsafeMutablePointer<AtomicLazyReference<Element>>
  private let create: @Sendable (Int) -> Element

  init(count: Int, _ create: @escaping @Sendable (Int) -> Element) {
    endIndex = count
    self.create = create
    elements = .allocate(capacity: count)
    for index in 0..<count { (elements + index).initialize(to: AtomicLazyReference()) }
  }

  deinit {
    elements.deinitialize(count: endIndex)
    elements.deallocate()
  }

  subscript(index: Int) -> Element {
    precondition(index >= 0 && index < endIndex, "The list has no element \(index).")
    if let element = elements[index].load() { return element }
    return elements[index].storeIfNil(create(index))
  }
}
