import Synchronization

/// A list whose elements are created when they are first used, for example one for each entity of a model.
///
/// Reading an existing element takes no lock. If several threads need a new element at once, each may create one, and
/// all get the first.
// @unchecked Sendable: `elements` is allocated before the list is shared and freed with it; its contents are atomic.
final class LazyList<Element: AnyObject & Sendable>: RandomAccessCollection, @unchecked Sendable {
  let startIndex = 0
  let endIndex: Int
  // Retained elements. `AtomicLazyReference` does the same, but its functions are never inlined, and take several
  // hundred instructions for each row of a fetch.
  private let elements: UnsafeMutablePointer<Atomic<UnsafeRawPointer?>>
  private let create: @Sendable (Int) -> Element

  init(count: Int, _ create: @escaping @Sendable (Int) -> Element) {
    endIndex = count
    self.create = create
    elements = .allocate(capacity: count)
    for index in 0..<count { (elements + index).initialize(to: Atomic(nil)) }
  }

  deinit {
    for index in 0..<endIndex {
      if let element = elements[index].load(ordering: .acquiring) { Unmanaged<Element>.fromOpaque(element).release() }
    }
    elements.deinitialize(count: endIndex)
    elements.deallocate()
  }

  subscript(index: Int) -> Element {
    precondition(index >= 0 && index < endIndex, "The list has no element \(index).")
    if let element = elements[index].load(ordering: .acquiring) {
      return Unmanaged<Element>.fromOpaque(element).takeUnretainedValue()
    }
    return add(create(index), at: index)
  }

  /// Returns the element that another thread has added in the meantime, or else adds this one.
  @inline(never)
  private func add(_ element: Element, at index: Int) -> Element {
    let added = Unmanaged.passRetained(element)
    let (isAdded, first) = elements[index].compareExchange(
      expected: nil, desired: UnsafeRawPointer(added.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isAdded, let first else { return element }
    added.release()
    return Unmanaged<Element>.fromOpaque(first).takeUnretainedValue()
  }
}
