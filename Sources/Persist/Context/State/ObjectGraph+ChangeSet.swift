extension ObjectGraph {
  /// Objects with the same kind of change, in the order of their changes, held until the next save.
  ///
  /// An object is in at most one set and stores its index, so that insertion and removal need no search.
  package struct ChangeSet {
    private var places: ContiguousArray<ManagedObject?> = []
    package private(set) var count = 0
    /// A number that changes whenever an object is inserted or removed.
    private(set) var revision = 0
    /// The numbers of objects with relationships without an inverse, by the index of their layout; of others, none.
    private(set) var oneWaySourceCounts: [Int: Int] = Dictionary()

    var isEmpty: Bool { count == 0 }

    /// - Complexity: O(1) amortized.
    mutating func insert(_ object: ManagedObject) {
      object.changeIndex = Int32(truncatingIfNeeded: places.count)
      places.append(object)
      count(object, 1)
      count += 1
      revision += 1
    }

    /// - Complexity: O(1) amortized.
    mutating func remove(_ object: ManagedObject) {
      guard contains(object) else { return }
      places[Int(object.changeIndex)] = nil
      count(object, -1)
      count -= 1
      revision += 1
      if places.count > 32, count * 2 < places.count { compact() }
    }

    private mutating func count(_ object: ManagedObject, _ step: Int) {
      object.withLayout { layout in
        if layout.hasOneWayRelationships { oneWaySourceCounts[layout.index, default: 0] += step }
      }
    }

    mutating func removeAll() {
      places = []
      oneWaySourceCounts = Dictionary()
      count = 0
      revision += 1
    }

    /// Removes objects, which may be the whole set.
    mutating func remove(_ objects: [ManagedObject]) {
      if objects.count == count, objects.allSatisfyUnretained(contains) { return removeAll() }
      objects.forEachUnretained { remove($0) }
    }

    /// - Complexity: O(1).
    func contains(_ object: ManagedObject) -> Bool {
      let index = Int(object.changeIndex)
      return places.indices.contains(index) && places[index] === object
    }

    package var objects: [ManagedObject] {
      var objects: [ManagedObject] = []
      objects.reserveCapacity(count)
      forEach { objects.append($0) }
      return objects
    }

    /// The objects for which a closure returns true.
    func filter(_ isIncluded: (ManagedObject) -> Bool) -> [ManagedObject] {
      var objects: [ManagedObject] = []
      forEach { if isIncluded($0) { objects.append($0) } }
      return objects
    }

    /// Calls a closure with each object, without counting references.
    @inline(__always)
    private func forEach(_ body: (ManagedObject) -> Void) {
      places.withUnsafeBufferPointer { places in
        places.withMemoryRebound(to: Unmanaged<ManagedObject>?.self) { references in
          for index in references.indices { references[index]?._withUnsafeGuaranteedRef { body($0) } }
        }
      }
    }

    private mutating func compact() {
      places = ContiguousArray(places.filter { $0 != nil })
      for (index, object) in places.enumerated() { object?.changeIndex = Int32(truncatingIfNeeded: index) }
    }
  }
}
