/// The changes to observed objects during a call that changes several things, reported when all are complete.
///
/// An observer may read the object immediately, and therefore must not be called while only one side of a relationship
/// is set. Contexts of one tree share an instance, because a child's save changes its parent's objects.
package final class ObservedChanges {
  @exclusivity(unchecked) private var depth = 0
  private typealias Entry = (object: ManagedObject, changed: Set<ObservedProperty>)
  @exclusivity(unchecked) private var objects: [ObjectIdentifier: Entry] = Dictionary()
  /// Reports of changes to something other than objects.
  @exclusivity(unchecked) private var others: [() -> Void] = []

  /// Whether changes are collected instead of reported immediately.
  package var areHeldBack: Bool { depth > 0 }

  /// Begins a call that changes several things. Each call needs a matching ``end()``.
  @inline(__always)
  func begin() { depth &+= 1 }

  /// Ends a call that changed several things; the end of the outermost one reports the changes.
  @inline(__always)
  func end() {
    depth &-= 1
    if depth == 0, !objects.isEmpty || !others.isEmpty { notify() }
  }

  /// Collects changed properties of an object, or reports them immediately.
  func record(_ changed: Set<ObservedProperty>, of object: ManagedObject) {
    guard depth > 0 else { return object.notifyObservers(changed) }
    objects[ObjectIdentifier(object), default: (object, [])].changed.formUnion(changed)
  }

  /// Collects a report of a change to something other than an object, or runs it immediately.
  package func record(_ notify: @escaping () -> Void) {
    if depth > 0 { others.append(notify) } else { notify() }
  }

  @inline(never)
  private func notify() {
    let waiting = (objects.values, others)
    (objects, others) = (Dictionary(), [])
    for (object, changed) in waiting.0 { object.notifyObservers(changed) }
    for notify in waiting.1 { notify() }
  }
}
