/// Values of some of an entity's properties, by property slot.
///
/// Takes memory and time only for the values that are set, unlike an array with a place for every slot: most changes of
/// an object are of one or two of its properties. Copies share their values until one of them changes.
@usableFromInline
package struct SlotValues: Sendable, Equatable {
  @usableFromInline
  struct Element: Sendable, Hashable {
    @usableFromInline let slot: Int
    @usableFromInline var value: StoredValue

    init(slot: Int, value: consuming StoredValue) {
      self.slot = slot
      self.value = value
    }
  }

  /// In ascending order of their slots.
  @usableFromInline var elements: ContiguousArray<Element> = []

  package init() {}

  /// - Parameter count: The number of values for which memory is reserved.
  package init(reserving count: Int) { elements.reserveCapacity(count) }

  /// - Parameter values: A value for each slot, beginning with slot 0; nil for none.
  package init(_ values: some Collection<StoredValue?>) {
    elements.reserveCapacity(values.count)
    for (slot, value) in values.enumerated() {
      if let value { elements.append(Element(slot: slot, value: value)) }
    }
  }

  /// Sets the value of a slot after all others with values.
  mutating func append(_ value: consuming StoredValue, at slot: Int) {
    elements.append(Element(slot: slot, value: value))
  }

  @inlinable var isEmpty: Bool { elements.isEmpty }

  /// The slots with values, in ascending order.
  var slots: some RandomAccessCollection<Int> { elements.lazy.map(\.slot) }

  /// The value of a slot; nil for none. Takes O(log n) steps of n values; a new value before others moves these.
  package subscript(slot: Int) -> StoredValue? {
    @inline(__always)
    get {
      let (index, isSet) = place(of: slot)
      return isSet ? elements[index].value : nil
    }
    set { if let newValue { set(newValue, at: slot) } else { remove(at: slot) } }
  }

  mutating func set(_ value: consuming StoredValue, at slot: Int) {
    // The only value of most changed objects: inserting it into an array would take three times the instructions.
    if elements.isEmpty {
      elements = [Element(slot: slot, value: value)]
      return
    }
    let (index, isSet) = place(of: slot)
    if isSet {
      elements[index].value = value
    } else {
      elements.insert(Element(slot: slot, value: value), at: index)
    }
  }

  mutating func remove(at slot: Int) {
    let (index, isSet) = place(of: slot)
    if isSet { elements.remove(at: index) }
  }

  func contains(_ slot: Int) -> Bool { place(of: slot).isSet }

  /// Calls a closure with the value of a slot, unless there is none, without copying the value.
  ///
  /// - Returns: Whether there is a value.
  @inline(__always)
  func withValue(at slot: Int, _ body: (borrowing StoredValue) throws -> Void) rethrows -> Bool {
    let (index, isSet) = place(of: slot)
    if isSet { try elements.withUnsafeBufferPointer { try body($0[index].value) } }
    return isSet
  }

  /// Calls a closure with each value and its slot, in ascending order, without copying the values.
  @inline(__always)
  func forEach(_ body: (_ slot: Int, _ value: borrowing StoredValue) throws -> Void) rethrows {
    try elements.withUnsafeBufferPointer { elements in
      for index in elements.indices { try body(elements[index].slot, elements[index].value) }
    }
  }

  /// Whether a closure returns true for each value and its slot; the values aren't copied.
  @inline(__always)
  package func allSatisfy(_ isFulfilled: (_ slot: Int, _ value: borrowing StoredValue) -> Bool) -> Bool {
    elements.withUnsafeBufferPointer { elements in
      elements.indices.allSatisfy { isFulfilled(elements[$0].slot, elements[$0].value) }
    }
  }

  /// The index of the first value whose slot isn't below the given one, and whether it is that slot's.
  @inline(__always)
  private func place(of slot: Int) -> (index: Int, isSet: Bool) {
    elements.withUnsafeBufferPointer { elements in
      var (low, high) = (0, elements.count)
      while low < high {
        let middle = (low &+ high) / 2
        if elements[middle].slot < slot { low = middle &+ 1 } else { high = middle }
      }
      return (low, low < elements.count && elements[low].slot == slot)
    }
  }
}
