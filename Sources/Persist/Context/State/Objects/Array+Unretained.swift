extension Array where Element: AnyObject {
  /// Calls a closure with each element, without counting a reference for the call: that takes two atomic operations per
  /// element, and a save goes through its objects a dozen times.
  ///
  /// The elements remain valid because this array, which the caller holds, retains them.
  @inline(__always)
  func forEachUnretained(_ body: (Element) throws -> Void) rethrows {
    try withUnsafeBufferPointer { elements in
      try elements.withMemoryRebound(to: Unmanaged<Element>.self) { references in
        for index in references.indices { try references[index]._withUnsafeGuaranteedRef { try body($0) } }
      }
    }
  }

  /// Whether a closure returns true for each element; as ``forEachUnretained(_:)``.
  @inline(__always)
  func allSatisfyUnretained(_ isFulfilled: (Element) -> Bool) -> Bool {
    withUnsafeBufferPointer { elements in
      elements.withMemoryRebound(to: Unmanaged<Element>.self) { references in
        references.indices.allSatisfy { references[$0]._withUnsafeGuaranteedRef { isFulfilled($0) } }
      }
    }
  }
}
