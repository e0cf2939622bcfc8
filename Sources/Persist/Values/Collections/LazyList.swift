public import Synchronization

/// A list whose elements are created when they are first used, for example one for each entity of a model. Copies share
/// the elements.
///
/// Reading an existing element takes no lock. If several threads need a new element at once, each may create one, and
/// all get the first.
///
/// Other modules inline this type, `Lazy` and `LockProtected`. As calls, with metadata that the runtime creates, they
/// took 1.3 of 66 million instructions of inserting 2,000 objects.
@frozen @usableFromInline
package struct LazyList<Element: AnyObject & Sendable>: RandomAccessCollection, Sendable {
  @usableFromInline let elements: LazyElements

  @inlinable
  package init(count: Int, _ create: @escaping @Sendable (Int) -> Element) {
    elements = LazyElements(count: count, create)
  }

  @inlinable package var startIndex: Int { 0 }
  @inlinable package var endIndex: Int { elements.count }

  @inlinable package subscript(index: Int) -> Element { unsafeDowncast(elements[index], to: Element.self) }
}

/// The elements of a `LazyList`, whatever their type: a class that isn't generic, so that the runtime doesn't have to
/// create one for each kind of list.
// @unchecked Sendable: `elements` is allocated before the list is shared and freed with it; its contents are atomic.
@usableFromInline
final class LazyElements: @unchecked Sendable {
  @usableFromInline let count: Int
  // Retained elements. `AtomicLazyReference` does the same, but its functions are never inlined, and take several
  // hundred instructions for each row of a fetch.
  @usableFromInline let elements: UnsafeMutablePointer<Atomic<UnsafeRawPointer?>>
  @usableFromInline let create: @Sendable (Int) -> AnyObject

  @usableFromInline
  init(count: Int, _ create: @escaping @Sendable (Int) -> AnyObject) {
    self.count = count
    self.create = create
    elements = .allocate(capacity: count)
    for index in 0..<count { (elements + index).initialize(to: Atomic(nil)) }
  }

  deinit {
    for index in 0..<count {
      if let element = elements[index].load(ordering: .acquiring) { Unmanaged<AnyObject>.fromOpaque(element).release() }
    }
    elements.deinitialize(count: count)
    elements.deallocate()
  }

  @inlinable subscript(index: Int) -> AnyObject {
    precondition(index >= 0 && index < count, "The list has no element \(index).")
    if let element = elements[index].load(ordering: .acquiring) {
      return Unmanaged<AnyObject>.fromOpaque(element).takeUnretainedValue()
    }
    return add(create(index), at: index)
  }

  /// Returns the element that another thread has added in the meantime, or else adds this one.
  @inline(never) @usableFromInline
  func add(_ element: AnyObject, at index: Int) -> AnyObject {
    let added = Unmanaged.passRetained(element)
    let (isAdded, first) = elements[index].compareExchange(
      expected: nil, desired: UnsafeRawPointer(added.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isAdded, let first else { return element }
    added.release()
    return Unmanaged<AnyObject>.fromOpaque(first).takeUnretainedValue()
  }
}
