public import Observation

/// The results of a request in sections, kept up to date for display in lists.
///
/// ```swift
/// let controller = FetchedResultsController(
///   fetchRequest: FetchRequest<Person>("Person", sortedBy: [.init("team"), .init("name")]),
///   managedObjectContext: context, sectionNameKeyPath: "team")
/// controller.delegate = self
/// try controller.performFetch()
/// let first = controller.object(at: ResultIndexPath(row: 0, section: 0))
/// ```
///
/// After ``performFetch()``, the controller tracks its context: when pending changes are processed or saves by others
/// are merged, it evaluates the affected objects in memory and informs its ``delegate`` of the changes. This requires
/// no fetch. The controller refetches all results only
/// - after a reset of the context;
/// - if the predicate, the order or the sections follow relationships, and an object of a destination entity changed or
///   has unsaved changes;
/// - if the request has no order, has a limit or an offset, so that another object may replace a removed one, or
///   fetches saved values only;
/// - after another process wrote to a store without persistent history.
///
/// The controller holds every result, as a fault with its row already read, and its sort values. With a
/// ``FetchRequest/fetchBatchSize``, it keeps only the rows of the two most recently requested batches, so that a result
/// costs little more than its position: about 420 bytes when sorted by a number.
///
/// Like its context, a controller belongs to one isolation domain. There is no file cache of sections: the fetch
/// computes them.
public final class FetchedResultsController<Object: ManagedObject> {
  /// The request to fetch. A change takes effect with the next ``performFetch()``.
  public var fetchRequest: FetchRequest<Object>
  /// The context whose objects the controller returns and whose changes it follows.
  public let managedObjectContext: ManagedObjectContext
  /// The key path of the section names; nil for a single section, or if a closure computes the names.
  public let sectionNameKeyPath: String?
  /// The object that is informed of changes.
  public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?

  private let sectionName: ResultRules.SectionName
  /// The storage of ``arrangement``, which reports its changes to observers.
  private var results: ResultArrangement?
  private let registrar = ObservationRegistrar()
  private var rules: ResultRules?
  private var rows: ResultRows?
  private var observation: ContextObservation?
  /// Objects that a merge is about to report.
  private var awaited: [ManagedObject] = []
  /// The number of evaluators created for changes: each compiles the patterns and indexes the lists of the condition.
  private(set) var evaluatorCount = 0
  private var sequences: [WeakSnapshots] = []

  private struct WeakSnapshots {
    weak var buffer: ResultSnapshotBuffer<Object>?
  }

  /// - Parameters:
  ///   - fetchRequest: The request, whose first sort descriptor should sort like the sections. Without sort
  ///     descriptors, results keep the order of the fetch.
  ///   - context: The context that executes the request and whose changes are observed.
  ///   - sectionNameKeyPath: An attribute, or a path to one over to-one relationships. The text of its value is the
  ///     name of an object's section; nil values belong to the section "".
  public init(
    fetchRequest: FetchRequest<Object>, managedObjectContext context: ManagedObjectContext,
    sectionNameKeyPath: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    self.sectionNameKeyPath = sectionNameKeyPath
    sectionName = sectionNameKeyPath.map { .path($0) } ?? .none
  }

  /// Creates a controller whose sections are named by a closure.
  ///
  /// ```swift
  /// FetchedResultsController(fetchRequest: request, managedObjectContext: context) { String($0.name.prefix(1)) }
  /// ```
  ///
  /// - Parameters:
  ///   - fetchRequest: The request, whose first sort descriptor should sort like the sections.
  ///   - context: The context that executes the request and whose changes are observed.
  ///   - section: Returns the name of an object's section, based on the object's own attributes: changes to other
  ///     objects aren't tracked.
  public init(
    fetchRequest: FetchRequest<Object>, managedObjectContext context: ManagedObjectContext,
    sectionedBy section: @escaping (Object) -> String?
  ) {
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    sectionNameKeyPath = nil
    sectionName = .computed { section(try Self.typed($0)) }
  }

  /// Fetches the results, and tracks the context from now on.
  ///
  /// - Throws: The errors of ``ManagedObjectContext/fetch(_:)``; ``PersistenceError/Code/invalidRequest`` for an order
  ///   by relevance.
  public func performFetch() throws {
    results = nil
    observation = managedObjectContext.observe(wake: { [weak self] in self?.wakeSequences() }) { [weak self] event in
      self?.receive(event)
    }
    try managedObjectContext.prepareToFetch()
    try fetchAll()
    publishSnapshot(changed: [])
  }

  static func typed(_ object: ManagedObject) throws -> Object {
    if let object = object as? Object { return object }
    throw Fetched(content: .object(object)).mismatch(Object.self)
  }
}

/// A controller takes part in Swift's observation: its results are what can be observed, with their order and sections.
///
/// An object that has other values at the same place is no other result. Who shows its values observes the object.
extension FetchedResultsController: Observable {
  /// The results, for those who read them from outside.
  var arrangement: ResultArrangement? {
    registrar.access(self, keyPath: \.arrangement)
    return results
  }

  /// Replaces the results, and notifies observers.
  private func show(_ new: ResultArrangement?) {
    let changes = managedObjectContext.observedChanges
    // An observer that reads immediately must find the context in a consistent state.
    if changes.areHeldBack {
      changes.record { [self] in registrar.willSet(self, keyPath: \.arrangement) }
    } else {
      registrar.willSet(self, keyPath: \.arrangement)
    }
    results = new
  }
}

extension FetchedResultsController {
  private func fetchAll() throws {
    let rules = try ResultRules(
      fetchRequest.returning(ManagedObject.self), sectionName: sectionName, in: managedObjectContext)
    let fetched = try rules.fetch()
    for section in fetched.sections { for item in section.items { _ = try Self.typed(item.object) } }
    self.rules = rules
    rows = fetchRequest.fetchBatchSize > 0 ? ResultRows(managedObjectContext, size: fetchRequest.fetchBatchSize) : nil
    show(fetched)
  }

  private func receive(_ event: ContextEvent) {
    guard results != nil else { return }
    do {
      switch event {
      case .willSave: break
      case .didObtainPermanentIDs(let objects): try adoptIdentifiers(of: objects)
      case .willMerge(let changes): awaitMerge(of: changes)
      case .didMergeUnknownChanges: try fetchAgain(updated: [])
      case .parentDidSave(let layouts):
        if rules?.needsFetch(afterParentSaved: layouts) == true { try fetchAgain(updated: []) }
      case .didSave(let saved): try processSave(saved)
      case .objectsDidChange(let changes):
        defer { awaited = [] }
        guard changes.invalidatedAll.isEmpty else { return try reload() }
        try follow(changes.all, isUpdate: true)
      }
    } catch {
      managedObjectContext.deferError(error)
    }
  }

  /// Creates faults for unregistered objects that must be evaluated, so that the context reports their changes.
  private func awaitMerge(of changes: SavedChanges) {
    awaited = changes.updatedObjectIDs.union(changes.deletedObjectIDs).compactMap { id in
      guard let rules, let layout = managedObjectContext.layout(named: id.entityName),
        layout.isKind(ofEntityAt: rules.layout.index) || rules.follows(layout)
      else { return nil }
      return managedObjectContext.registeredOrFault(id)
    }
  }

  private func processSave(_ saved: ObjectsDidSave) throws {
    try follow(saved.updated.union(saved.deleted), isUpdate: false)
    try adoptIdentifiers(of: saved.inserted)
  }

  /// New objects have received identifiers, which determine their position among equal objects.
  private func adoptIdentifiers(of objects: Set<ManagedObject>) throws {
    try follow(objects, isUpdate: false)
    guard objects.contains(where: { results?.item(of: $0) != nil }) else { return }
    show(results)
    publishSnapshot(changed: [])
  }

  private func follow(_ objects: Set<ManagedObject>, isUpdate: Bool) throws {
    guard let rules, let old = results else { return }
    let concerned = objects.filter { rules.concerns($0) || old.item(of: $0) != nil }
    if rules.needsFetch(after: objects, concerning: concerned) || (old.isRanked && !concerned.isEmpty) {
      return try fetchAgain(updated: isUpdate ? concerned : [])
    }
    guard !concerned.isEmpty else { return }
    managedObjectContext.prefetchRows(of: Array(concerned))
    let evaluator = makeEvaluator()
    let items = try concerned.filter { try rules.holds(for: $0, by: evaluator) }.map { try rules.item(of: $0) }
    var new = old
    new.replace(concerned.compactMap(old.item), with: items)
    change(to: new, ResultDifference(from: old, to: new, examining: concerned, updated: isUpdate ? concerned : []))
  }

  private func makeEvaluator() -> ExpressionEvaluator {
    evaluatorCount += 1
    return ExpressionEvaluator()
  }

  private func fetchAgain(updated: Set<ManagedObject>) throws {
    guard let rules, let old = results else { return }
    let new = try rules.fetch()
    var moved: Set<ManagedObject> = updated
    for section in old.sections {
      for item in section.items where new.item(of: item.object)?.isPlaced(as: item) != true {
        moved.insert(item.object)
      }
    }
    for section in new.sections {
      for item in section.items where old.item(of: item.object) == nil { moved.insert(item.object) }
    }
    change(to: new, ResultDifference(from: old, to: new, examining: moved, updated: updated))
  }

  private func reload() throws {
    try fetchAll()
    var difference = FetchedResultsDifference()
    difference.isReload = true
    delegate?.controller(self, didChangeContentWith: difference)
    publishSnapshot(changed: [])
  }

  private func change(to new: ResultArrangement, _ difference: ResultDifference) {
    guard !difference.isEmpty else {
      results = new
      return
    }
    delegate?.controllerWillChangeContent(self)
    let old = results
    if difference.isRearrangement { show(new) } else { results = new }
    if let delegate, let old { notifyDelegate(delegate, of: difference, from: old) }
    publishSnapshot(changed: Set(difference.changes.filter { $0.kind != .delete }.map(\.object.objectID)))
  }

  private func notifyDelegate(
    _ delegate: any FetchedResultsControllerDelegate<Object>, of difference: ResultDifference,
    from old: ResultArrangement
  ) {
    for section in difference.sectionDeletions {
      let name = old.sections[section.index].name
      let empty = FetchedResultsSection<Object>(
        name: name, indexTitle: sectionIndexTitle(forSectionName: name), items: [])
      delegate.controller(self, didChange: empty, atSectionIndex: section.index, for: .delete)
    }
    for section in difference.sectionInsertions {
      guard let now = results?.sections[section.index] else { continue }
      delegate.controller(self, didChange: self.section(now), atSectionIndex: section.index, for: .insert)
    }
    for change in difference.changes {
      guard let object = try? Self.typed(change.object) else { continue }
      delegate.controller(
        self, didChange: object, at: change.before, for: .init(change.kind), newIndexPath: change.after)
    }
    delegate.controller(self, didChangeContentWith: FetchedResultsDifference(difference))
    delegate.controllerDidChangeContent(self)
  }

  private func wakeSequences() {
    for sequence in sequences { sequence.buffer?.signal.send() }
  }

  func add(_ buffer: ResultSnapshotBuffer<Object>) {
    sequences.removeAll { $0.buffer == nil }
    sequences.append(WeakSnapshots(buffer: buffer))
  }

  private func publishSnapshot(changed: Set<ManagedObjectID>) {
    sequences.removeAll { $0.buffer == nil }
    guard !sequences.isEmpty else { return }
    let snapshot = snapshot
    for sequence in sequences { sequence.buffer?.update(snapshot, changed: changed) }
  }

  /// Ensures that an object's row is read, if rows are read in batches.
  func readRows(around path: ResultIndexPath) {
    if let rows, let results { rows.read(around: path, of: results) }
  }
}

extension ObjectsDidChange {
  /// All objects affected by the event.
  var all: Set<ManagedObject> {
    [updated, deleted, refreshed, invalidated, invalidatedAll].reduce(inserted) { $0.union($1) }
  }
}
