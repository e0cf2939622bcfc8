package import Foundation

/// A single fetch: the stores' rows, overlaid with the context's changes.
///
/// Rows that the context deleted are excluded. With an order or a predicate, changed objects are excluded from the
/// stores' answer too, as are objects whose result depends on related objects that the context changed. These are
/// evaluated in memory and sorted in together with new objects, by their current values.
package final class FetchPass {
  let context: ManagedObjectContext
  let request: FetchRequest<ManagedObject>
  let layout: EntityLayout
  let order: ObjectOrder
  let sources: [Source]
  /// Objects of the context for which the stores' answer isn't valid: deleted ones and, with an order or a predicate,
  /// changed ones and those affected by ``RelatedChanges``.
  private(set) var overlaid: Set<ManagedObjectID> = []
  /// Objects of the context that are results in addition to the stores' rows.
  private(set) var added: [ManagedObject] = []
  /// Objects overlaid only because of changes to related objects: held, so that their rows resolve to them.
  private var related: [ManagedObject] = []
  /// The classes of the results, and maybe others.
  var classes = ObjectClasses()
  /// The prefetching for the results, if any.
  let prefetch: PrefetchPass?
  /// The saved states by which the rows just read are evaluated in memory; nil to evaluate the context's objects.
  private var states: SavedStates?
  private let evaluator: ExpressionEvaluator

  /// A store and the part of the predicate that it evaluates.
  struct Source {
    let tables: StoreTables
    let division: PredicateDivision
    var stored: FetchPredicate? { division.stored }
    /// The part of the predicate to evaluate for each object.
    var rest: FetchPredicate? { division.rest }
    /// Whether the store returns its rows in the request's order.
    let isOrdered: Bool
    var store: any RowSource { tables.store }
  }

  /// - Parameter now: The value of `now()` in the predicate.
  package convenience init<Result>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext, now: Date = Date()
  ) throws {
    try self.init(named: context.named(request.returning(ManagedObject.self)), in: context, now: now)
  }

  /// - Parameter request: A request whose key paths are replaced by names.
  private init(named request: FetchRequest<ManagedObject>, in context: ManagedObjectContext, now: Date) throws {
    evaluator = ExpressionEvaluator(now: now)
    self.context = context
    self.request = request
    layout = context.layout(of: try context.entity(named: request.entityName))
    order = try ObjectOrder(request.sortDescriptors, of: layout, in: context.model)
    let entity = layout.entity
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name), "A limit or an offset can't be negative.",
        fix: "Omit the limit to get all rows.")
    }
    let paths = request.relationshipKeyPathsForPrefetching
    prefetch = paths.isEmpty ? nil : try PrefetchPass(paths, of: layout, in: context)
    if let predicate = request.predicate {
      try PredicateCheck.check(predicate, over: entity, in: context.model)
    }
    let stores = context.persistentStoreCoordinator.stores(holding: entity).filter {
      request.affectedStoreIdentifiers?.contains($0.identifier) ?? true
    }
    sources = try stores.map { store in
      let tables = context.tables(of: store)
      let isOrdered = tables.store.canSort(by: request.sortDescriptors, over: entity)
      if !isOrdered, let descriptor = request.sortDescriptors.first(where: { $0.textQuery != nil }) {
        throw PersistenceError(
          .invalidRequest, at: .property(entity.name, descriptor.key),
          "The store has no index of texts, and can't sort by relevance.",
          fix: "Sort by an attribute, or keep these objects in a store in a file.")
      }
      let division = try request.predicate.map { try tables.store.divide($0, over: entity) }
      return Source(tables: tables, division: division ?? PredicateDivision(), isOrdered: isOrdered)
    }
    if request.includesPendingChanges, context.hasChanges {
      try overlay(FetchScope(request, of: layout, in: context))
    }
  }

  private func overlay(_ scope: FetchScope) throws {
    context.readProbe.pause()
    defer { context.readProbe.resume() }
    let deleted = context.graph.deleted.objects.filter(scope.contains)
    var changed: [ManagedObject] = []
    if !order.isEmpty || request.predicate != nil {
      related = try objectsWithRelatedChanges(ofAll: evaluatesSavedStates).filter(scope.contains)
      changed = context.graph.updated.objects.filter(scope.contains) + related
    }
    overlaid = Set((deleted + changed).map(\.objectID))
    added = context.graph.inserted.objects.filter(scope.contains) + changed
    if let predicate = request.predicate {
      try layout.prefetch(readBy: predicate, for: changed)
      added = try added.filter { try evaluator.matches(predicate, .object($0)) }
    }
    for object in added { classes.insert(of: object) }
    try context.throwDeferredError()
  }

  var now: Date { evaluator.now }

  /// - Parameter read: Returns the rows of a query; nil to read from the store.
  package func objects(reading read: ((StoreQuery) throws -> RowBatch)? = nil) throws -> [ManagedObject] {
    context.readProbe.pause()
    defer { context.readProbe.resume() }
    var results: [ManagedObject] = []
    beginEvaluation()
    for source in sources {
      guard let question = question(for: source, identifiersOnly: false) else { continue }
      let found = inserting(changed(in: source), into: try matching(question, in: source, reading: read), key: \.key)
      results = merge(results, try source.isOrdered ? found : inOrder(found))
    }
    results = window(merge(results, order.sorted(unplaced)))
    try endEvaluation()
    try prefetch?.run(results)
    if !request.returnsObjectsAsFaults || context.graph.inserted.objects.contains(where: isOfEntity) {
      context.prefetchRows(of: results)
      for object in results { object.fulfill() }
      try context.throwDeferredError()
    }
    return results
  }

  /// - Parameter read: Returns the rows of a query; nil to read from the store.
  package func objectIDs(reading read: ((StoreQuery) throws -> RowBatch)? = nil) throws -> [ManagedObjectID] {
    context.readProbe.pause()
    defer { context.readProbe.resume() }
    guard areIdentifiersEnough else { return try objects(reading: read).map(\.objectID) }
    var results: [ManagedObjectID] = []
    for source in sources {
      guard let question = question(for: source, identifiersOnly: true) else { continue }
      var found: [ManagedObjectID] = []
      for row in try read?(question) ?? ask(question) {
        let id = source.tables.objectID(of: context.layouts[row.entityIndex], key: row.key)
        if !overlaid.contains(id) { found.append(id) }
      }
      results += inserting(changed(in: source).map(\.objectID), into: found, key: \.rowKey)
    }
    return window(results + unplaced.map(\.objectID))
  }

  /// - Parameter read: Returns the number of a query's rows; nil to count them in the store.
  @inline(never)
  func count(reading read: ((StoreQuery) throws -> Int)? = nil) throws -> Int {
    if hasRest { return try objectIDs().count }
    var total = added.count
    for (question, isSubtracted) in counts() {
      let count = try read?(question) ?? question.count(monitor: context.readMonitor)
      total += isSubtracted ? -count : count
    }
    let rest = max(0, total - request.fetchOffset)
    return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
  }

  private func isOfEntity(_ object: ManagedObject) -> Bool { object.layout.isKind(ofEntityAt: layout.index) }

  var hasRest: Bool { sources.contains { $0.rest != nil } }

  /// Whether a store's rows must be sorted in memory.
  var sortsInMemory: Bool { sources.contains { !$0.isOrdered } }

  /// Whether the stores' answers are the results without further processing.
  var isAnsweredByStore: Bool {
    !hasRest && !sortsInMemory && (sources.count < 2 || (request.fetchLimit == 0 && request.fetchOffset == 0))
  }

  /// Whether a single store's answer already has the right limit and offset.
  var isWindowedByStore: Bool {
    sources.count == 1 && !hasRest && !sortsInMemory && overlaid.isEmpty && added.isEmpty
  }

  /// Returns the objects of a group of a store's rows that match the rest of the predicate.
  func matching(_ group: RowBatch, _ source: Source) throws -> [ManagedObject] {
    context.readProbe.pause()
    defer { context.readProbe.resume() }
    beginEvaluation()
    let found = try matching(make(group, source), source)
    try endEvaluation()
    return found
  }

  private func matching(
    _ question: StoreQuery, in source: Source, reading read: ((StoreQuery) throws -> RowBatch)?
  ) throws -> [ManagedObject] {
    if let batch = try read?(question) { return try matching(make(batch, source), source) }
    // Saved states need the values of all rows that changed.
    if let states {
      let held = request.shouldRefreshRefetchedObjects ? nil : states.held(source.tables.table(for: layout))
      return try matching(make(question.rows(monitor: context.readMonitor, held: held), source), source)
    }
    return try matching(objects(of: question), source)
  }

  private func matching(_ objects: [ManagedObject], _ source: Source) throws -> [ManagedObject] {
    guard let rest = source.rest else { return objects }
    let views = objects.map(evaluated)
    try layout.prefetch(readBy: rest, for: views)
    let found = try zip(objects, views).filter { try evaluator.matches(rest, .object($1)) }.map(\.0)
    try context.throwDeferredError()
    return found
  }

  private func make(_ batch: RowBatch, _ source: Source) -> [ManagedObject] {
    let objects = make(batch, from: source.tables)
    states?.add(batch, of: objects, from: source.tables, layout)
    return objects
  }

  /// Determines what the next rows are evaluated by; called before their objects are registered.
  private func beginEvaluation() { states = savedStates() }

  private func endEvaluation() throws {
    defer { states = nil }
    try states?.context.throwDeferredError()
  }

  /// The object that is evaluated in memory in place of a result.
  func evaluated(_ object: ManagedObject) -> ManagedObject {
    guard let states, overlaid.isEmpty || !overlaid.contains(object.objectID) else { return object }
    return states.state(of: object) ?? object
  }

  /// Returns objects of a store that can't sort them itself, in the request's order.
  private func inOrder(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    let views = objects.map(evaluated)
    if states == nil { context.prefetchRows(of: objects) }
    try layout.prefetch(readBy: nil, request.sortDescriptors.map(\.expression), for: views)
    let sorted = order.sorted(objects, as: views)
    try context.throwDeferredError()
    return sorted
  }

  func window<Result>(_ results: [Result]) -> [Result] {
    isWindowedByStore ? results : cut(results)
  }

  /// Applies offset and limit.
  func cut<Result>(_ results: [Result]) -> [Result] {
    guard request.fetchOffset > 0 || request.fetchLimit > 0 else { return results }
    let rest = results.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }
}
