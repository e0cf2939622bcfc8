/// The notification of observers, called from every place where an object's visible values change.
extension ManagedObject {
  /// Records that a property is about to change.
  @inline(__always)
  final func recordChange(at slot: Int) {
    if marks.contains(.observed) { recordObserved(at: slot) }
  }

  @inline(never)
  private final func recordObserved(at slot: Int) { recordObserved([ObservedProperty(slot: slot)]) }

  @inline(__always)
  final func recordChange(_ property: ObservedProperty) { recordChange(at: property.slot) }

  @inline(never)
  final func recordObserved(_ changed: Set<ObservedProperty>) {
    if let table { table.observedChanges.record(changed, of: self) } else { notifyObservers(changed) }
  }

  /// Records that every property may have changed.
  @inline(__always)
  final func recordChangeOfAll() {
    if marks.contains(.observed) { recordObserved(everything) }
  }

  /// Everything about the object that can be observed.
  final var everything: Set<ObservedProperty> {
    Set(layout.properties.indices.map { ObservedProperty(slot: $0) } + [.state, .version])
  }

  final func notifyObservers(_ changed: Set<ObservedProperty>) { observers?.notify(changed, of: self) }

  /// Notes the changes by another row: properties with unsaved values show these before and after.
  @inline(never)
  final func recordObserved(row new: RowSnapshot?) {
    guard let old = snapshot else {
      // All properties of a fault changed when it lost its row. A new object continues to show the same values.
      if new != nil, loading != .fault { recordObserved([.version]) }
      return
    }
    var changed: Set<ObservedProperty> = []
    for stored in layout.storedSlots where !pending.contains(stored.slot) {
      if new.map({ old.holds(stored, as: $0, of: layout) }) != true { changed.insert(.init(slot: stored.slot)) }
    }
    if old.version != new?.version { changed.insert(.version) }
    recordObserved(changed)
  }

  /// Notes the changes by other unsaved values.
  @inline(never)
  final func recordObserved(pending new: SlotValues) {
    let changed = layout.properties.indices.filter { slot in
      let (before, after) = (pending[slot], new[slot])
      switch (before, after) {
      case (nil, nil): return false
      case (let before?, let after?): return before != after
      case (let value?, nil), (nil, let value?): return !isKnownAsCommitted(value, at: slot)
      }
    }
    recordObserved(Set(changed.map { ObservedProperty(slot: $0) }))
  }

  /// Whether the row has a value; also false if finding out would require reading a file.
  private final func isKnownAsCommitted(_ value: StoredValue, at slot: Int) -> Bool {
    !layout.mayBeInFile[slot] && isCommitted(value, at: slot)
  }
}
