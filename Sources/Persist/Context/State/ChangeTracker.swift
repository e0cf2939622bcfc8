/// Records the changes since a context's pending changes were last processed, and notifies its observers.
///
/// Created once the context is observed: otherwise a change costs only a check of one field of the object.
package final class ChangeTracker {
  /// A changed object with its previous state; nil for one that the context didn't have.
  struct Entry {
    let object: ManagedObject
    let before: ObjectState?
  }

  private(set) var entries: ContiguousArray<Entry> = []
  /// The index of each object's entry.
  private var indexes: [ObjectIdentifier: Int] = Dictionary()
  /// Events of objects other than changes to their properties.
  var announced = ObjectsDidChange()
  /// The entries of the event being delivered, and the index of each object's entry.
  private var delivered: ContiguousArray<Entry> = []
  private var deliveredIndexes: [ObjectIdentifier: Int] = Dictionary()
  private var observations: [WeakObservation] = []
  /// Observations that end when their receivers do.
  private var kept: [ContextObservation] = []
  private var waiting: [ContextEvent] = []
  private var isDelivering = false

  private struct WeakObservation {
    weak var observation: ContextObservation?
  }

  deinit {
    for observer in observations { observer.observation?.wake?() }
  }

  /// Whether there are no more observers.
  var isIdle: Bool {
    kept.removeAll { !$0.isNeeded() }
    observations.removeAll { $0.observation == nil }
    return observations.isEmpty && !isDelivering
  }

  var hasPendingChanges: Bool { !entries.isEmpty || !announced.isEmpty }

  /// Records an object before its first change.
  func enter(_ object: ManagedObject, before: ObjectState?) {
    guard !isTracked(object) else { return }
    if entries.isEmpty {
      for observer in observations { observer.observation?.wake?() }
    }
    object.marks.insert(.entered)
    indexes[ObjectIdentifier(object)] = entries.count
    entries.append(Entry(object: object, before: before))
  }

  /// Ends the event and returns its entries.
  func takeEntries() -> ContiguousArray<Entry> {
    defer { (entries, indexes) = ([], Dictionary()) }
    for entry in entries { entry.object.leaveEvent() }
    return entries
  }

  /// Resumes an event with the entries that ``takeEntries()`` returned.
  func resume(_ interrupted: ContiguousArray<Entry>) {
    for entry in interrupted { enter(entry.object, before: entry.before) }
  }

  func forgetPendingChanges() {
    _ = takeEntries()
    announced = ObjectsDidChange()
  }

  package func keep(_ observation: ContextObservation) {
    kept.append(observation)
    add(observation)
  }

  func add(_ observation: ContextObservation) {
    observations.removeAll { $0.observation == nil }
    observations.append(WeakObservation(observation: observation))
  }

  /// Delivers an event to all observers. Events that occur during delivery are delivered after it, so that all
  /// observers see the same order.
  func deliver(_ event: ContextEvent, of entries: ContiguousArray<Entry> = [], from context: ManagedObjectContext) {
    waiting.append(event)
    guard !isDelivering else { return }
    isDelivering = true
    delivered = entries
    defer {
      isDelivering = false
      forgetDelivered()
    }
    while !waiting.isEmpty {
      let event = waiting.removeFirst()
      for observer in observations { observer.observation?.receive(event) }
      ContextNotifications.post(event, from: context)
      forgetDelivered()
    }
    kept.removeAll { !$0.isNeeded() }
  }

  /// Notifies all observers immediately, even while another event is being delivered.
  func announceMerge(of changes: SavedChanges) {
    for observer in observations { observer.observation?.receive(.willMerge(changes)) }
  }

  /// Returns the object's state before the event being delivered, or else before the current event.
  func stateBefore(_ object: ManagedObject) -> ObjectState?? {
    if deliveredIndexes.isEmpty, !delivered.isEmpty {
      for (index, entry) in delivered.enumerated() { deliveredIndexes[ObjectIdentifier(entry.object)] = index }
    }
    if let index = deliveredIndexes[ObjectIdentifier(object)] { return .some(delivered[index].before) }
    return indexes[ObjectIdentifier(object)].map { entries[$0].before }
  }

  private func forgetDelivered() { (delivered, deliveredIndexes) = ([], Dictionary()) }

  private func isTracked(_ object: ManagedObject) -> Bool { indexes[ObjectIdentifier(object)] != nil }
}

extension ObjectsDidChange {
  /// Creates the event for the objects of some entries.
  init(_ entries: some Collection<ChangeTracker.Entry>, announced: ObjectsDidChange) {
    self = announced
    for entry in entries {
      let object = entry.object
      switch (entry.before?.change, object.table == nil ? nil : object.change) {
      case (nil, .inserted?), (.deleted?, .inserted?), (.deleted?, .updated?), (.deleted?, ManagedObject.Change.none?):
        inserted.insert(object)
      case (.inserted?, .inserted?), (_, .updated?): updated.insert(object)
      case (.inserted?, nil), (.updated?, nil), (ManagedObject.Change.none?, nil), (.inserted?, .deleted?),
        (.updated?, .deleted?), (ManagedObject.Change.none?, .deleted?):
        deleted.insert(object)
      case (.updated?, ManagedObject.Change.none?): if !refreshed.contains(object) { updated.insert(object) }
      default: break
      }
    }
  }
}

extension ManagedObject {
  /// Records the object's state before its first change in an event.
  final func enterEvent() {
    guard loading != .awakening, let tableReference else { return }
    let tracker = tableReference._withUnsafeGuaranteedRef { table in
      table.contextReference._withUnsafeGuaranteedRef { $0.tracker }
    }
    if let tracker {
      tracker.enter(self, before: ObjectState(self))
    } else {
      marks.insert(.entered)
    }
  }

  /// Does the same as ``enterEvent()`` for an object that is new in its context.
  final func enterEventAsNew() {
    if let tracker = tableReference?._withUnsafeGuaranteedRef({ table in
      table.contextReference._withUnsafeGuaranteedRef { $0.tracker }
    }) {
      tracker.enter(self, before: nil)
    } else {
      marks.insert(.entered)
    }
  }

  /// Records that the object hasn't changed in the current event.
  final func leaveEvent() { marks.remove(.entered) }

  /// Whether the object was changed in the current event, which records its state only if the context is observed.
  @inline(__always)
  final var isInEvent: Bool { marks.contains(.entered) }
}

/// An object's unsaved changes at one moment, for comparison with a later state.
struct ObjectState {
  let change: ManagedObject.Change
  /// Whether the context didn't have the object: one that was never saved, or whose deletion was saved.
  let isGone: Bool
  let snapshot: RowSnapshot?
  let pending: SlotValues
  /// By property slot; empty if no to-many relationship was used.
  let members: ContiguousArray<ToManyMembers.Changes?>

  init(_ object: ManagedObject) {
    // An object that left its context is deleted in any case: a saved deletion leaves no mark on its object.
    isGone = object.table == nil
    change = isGone ? .deleted : object.change
    snapshot = object.snapshot
    pending = object.pending
    members = object.toManys.isEmpty ? [] : ContiguousArray(object.toManys.map { $0?.changes })
  }

  /// Creates the state of a saved object before any unsaved change.
  init(committed object: ManagedObject) {
    change = .none
    isGone = false
    snapshot = object.snapshot
    pending = object.formerTransientValues
    members = []
  }
}
