/// The saved states of the objects that a fetch evaluates in memory, in a context of their own.
///
/// A store evaluates its part of a request by the newest rows. The part that is evaluated in memory must have the same
/// answer, although the context's objects keep the values and members that they had when they were read.
final class SavedStates {
  let context: ManagedObjectContext
  /// Whether only attributes of the objects themselves are evaluated: an object whose row hasn't changed since it was
  /// read then has its saved state.
  private let isOfOwnAttributes: Bool
  /// A context only holds changed objects.
  private var objects: [ManagedObject] = []

  init(of context: ManagedObjectContext, ownAttributesOnly: Bool) {
    self.context = context.savedView()
    isOfOwnAttributes = ownAttributesOnly
    self.context.readProbe.pause()
  }

  /// Rows of the fetching context whose values aren't needed.
  func held(_ table: ObjectTable) -> KnownRows? {
    guard isOfOwnAttributes else { return nil }
    return KnownRows { key, version in table.map[key]?.snapshot?.version == version }
  }

  /// Adds the states of a batch's objects in the fetching context. They need not be read again if the batch has them.
  func add(_ batch: RowBatch, of registered: [ManagedObject], from tables: StoreTables, _ layout: EntityLayout) {
    let table = context.tables(of: tables.origin).table(for: layout)
    let known = held(tables.table(for: layout))
    var faults = FaultFactory(context, table)
    for entry in batch.entries where table.map[entry.key] == nil {
      let snapshot = batch.snapshot(of: entry)
      if let known, snapshot.map({ known.holds(entry.key, $0.version) }) ?? true { continue }
      let state = faults.makeFault(key: entry.key, entityIndex: Int(entry.entityIndex))
      state.begin(with: snapshot)
      objects.append(state)
    }
    // Transient values aren't part of a row.
    for object in registered where object.hasLooseValues {
      guard let state = table.map[object.key] else { continue }
      for slot in object.layout.transientSlots { object.pending[slot].map { state.setPending($0, at: slot) } }
    }
    context.prefetchRows(of: objects.filter(\.isWithoutRow))
  }

  /// Returns the saved state of an object; nil for one that wasn't added or read.
  func state(of object: ManagedObject) -> ManagedObject? {
    guard let tables = object.table?.siblings else { return nil }
    return context.tables(of: tables.origin)
      .registeredObject(key: object.key, rootIndex: object.withLayout { $0.rootIndex })
  }
}

extension FetchPass {
  /// Whether some of the request is evaluated in memory, or the rows of several stores, or the context's changed
  /// objects, are merged by it.
  private var evaluatesInMemory: Bool {
    hasRest || sortsInMemory || (!order.isEmpty && (sources.count > 1 || !added.isEmpty))
  }

  /// Whether objects are evaluated in their saved states instead of those that they have in the context, except those
  /// whose result depends on unsaved changes.
  var evaluatesSavedStates: Bool {
    guard evaluatesInMemory, !context.readsUnchangingStores else { return false }
    if !request.includesPendingChanges, context.hasChanges { return true }
    var reads = RelationshipReads(over: layout.entity, in: context.model)
    if let predicate = request.predicate { reads.add(predicate) }
    for descriptor in request.sortDescriptors { reads.add(descriptor.expression) }
    // Objects whose result depends on unsaved changes must be known, and only registered objects have transient values.
    guard reads.isComplete || !context.hasChanges, !reads.endsAtTransientValues else { return false }
    let layouts =
      reads.isComplete ? [layout] + reads.ends.values.map { context.layout(of: $0.entity) } : Array(context.layouts)
    return sources.contains { source in layouts.contains { source.tables.table(for: $0).map.count > 0 } }
  }

  /// Returns what the next rows are evaluated by; nil to evaluate the context's objects.
  func savedStates() -> SavedStates? {
    guard evaluatesSavedStates else { return nil }
    var sorting = RelationshipReads(over: layout.entity, in: context.model)
    for descriptor in request.sortDescriptors { sorting.add(descriptor.expression) }
    let isOfOwnAttributes = !hasRest && sorting.isComplete && sorting.ends.isEmpty
    return SavedStates(
      of: context,
      ownAttributesOnly: isOfOwnAttributes && (request.includesPendingChanges || !context.hasChanges))
  }
}

extension RelationshipReads {
  /// Whether transient attributes of related objects are read.
  fileprivate var endsAtTransientValues: Bool {
    ends.values.contains { end in
      end.properties.contains { end.entity.property(named: $0)?.attribute?.isTransient == true }
    }
  }
}

extension ManagedObjectContext {
  /// Creates another context over the same rows, without this one's unsaved changes.
  func savedView() -> ManagedObjectContext {
    guard let parent, let rowsOfParent else { return ContextReading(of: self).makeContext(monitor: readMonitor) }
    let saved = ManagedObjectContext(childOf: parent, rows: rowsOfParent)
    saved.readMonitor = readMonitor
    return saved
  }
}
