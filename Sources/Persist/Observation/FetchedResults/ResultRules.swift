import Foundation

/// Decides whether an object is a result, where it belongs, and whether a change can be tracked in memory.
final class ResultRules {
  let request: FetchRequest<ManagedObject>
  let context: ManagedObjectContext
  let layout: EntityLayout
  let order: ObjectOrder
  private let sectionName: SectionName
  private let scope: FetchScope
  private let followed: DependentEntities

  /// The source of section names.
  enum SectionName {
    /// No sections.
    case none
    case path(String)
    case computed((ManagedObject) throws -> String?)
  }

  /// - Throws: The errors of fetching the request; ``PersistenceError/Code/invalidRequest`` for an order by relevance.
  init(
    _ request: FetchRequest<ManagedObject>, sectionName: SectionName, in context: ManagedObjectContext
  ) throws {
    let request = try context.named(request)
    let entity = try context.entity(named: request.entityName)
    guard request.sortDescriptors.allSatisfy({ $0.textQuery == nil }) else {
      throw PersistenceError(
        .invalidRequest, at: .entity(entity.name),
        "A results controller can't sort by relevance, which depends on every text in the store.",
        fix: "Sort by attributes, or fetch again after each save.")
    }
    let (layout, model) = (context.layout(of: entity), context.persistentStoreCoordinator.managedObjectModel)
    order = try ObjectOrder(request.sortDescriptors, of: layout, in: model)
    scope = FetchScope(request, of: layout, in: context)
    var followed = DependentEntities(of: entity, in: model)
    if let predicate = request.predicate {
      try PredicateCheck.check(predicate, over: entity, in: model)
      followed.add(predicate)
    }
    for descriptor in request.sortDescriptors { followed.add(descriptor.expression) }
    if case .path(let path) = sectionName {
      try PredicateCheck.check(.compare(.key(path), .equal, .constant(.null)), over: entity, in: model)
      followed.add(.key(path))
    }
    self.followed = followed
    self.request = request
    self.context = context
    self.layout = layout
    self.sectionName = sectionName
  }

  var isSectioned: Bool {
    if case .none = sectionName { false } else { true }
  }

  /// Whether an object could be a result, regardless of its values.
  func concerns(_ object: ManagedObject) -> Bool { scope.contains(object) }

  /// Whether results may depend on objects of an entity that aren't results themselves.
  func follows(_ layout: EntityLayout) -> Bool { followed.contains(layout) }

  /// Whether the results can't be determined from the changed objects: the request has a limit, an offset or no order,
  /// fetches saved values only, or depends on objects other than the results.
  ///
  /// - Parameter concerned: The changed objects that are results or could be.
  func needsFetch(
    after changed: some Collection<ManagedObject>, concerning concerned: some Collection<ManagedObject>
  ) -> Bool {
    if changed.contains(where: { followed.contains($0.layout) }) { return true }
    return !concerned.isEmpty && (needsFetchAfterAnyChange || dependsOnUnsavedObjects)
  }

  /// Whether the results can't be determined from changed objects, regardless of which.
  private var needsFetchAfterAnyChange: Bool {
    request.fetchLimit > 0 || request.fetchOffset > 0 || !request.includesPendingChanges || order.isEmpty
  }

  /// Whether a fetch may find other results or another order after an ancestor context has saved objects of some
  /// entities.
  func needsFetch(afterParentSaved layouts: [EntityLayout]) -> Bool {
    layouts.contains { layout in
      followed.contains(layout) || (needsFetchAfterAnyChange && layout.isKind(ofEntityAt: self.layout.index))
    }
  }

  /// Whether objects that results depend on have unsaved changes, here or in an ancestor context. A fetch sorts saved
  /// results by their stored values.
  private var dependsOnUnsavedObjects: Bool {
    guard !followed.isEmpty else { return false }
    return sequence(first: context, next: \.parent).contains { context in
      [context.graph.updated, context.graph.inserted, context.graph.deleted].contains { changes in
        changes.objects.contains { followed.contains($0.layout) }
      }
    }
  }

  /// Whether an object is a result, by its current values.
  ///
  /// - Parameter evaluator: One for all objects of a change, so that it compiles patterns and indexes long lists once.
  func holds(for object: ManagedObject, by evaluator: ExpressionEvaluator) throws -> Bool {
    guard object.table?.context === context, !object.isDeleted, scope.contains(object) else { return false }
    // A fault's row may have been deleted.
    if object.loading == .fault, object.snapshot == nil {
      try context.readRows(of: [object])
      if object.snapshot == nil { return false }
    }
    let holds = try request.predicate.map { try evaluator.matches($0, .object(object)) } ?? true
    // Evaluating the predicate may have shown that the fault's row is gone.
    return holds && !object.isDeleted
  }

  func item(of object: ManagedObject) throws -> ResultItem {
    ResultItem(object, section: try section(of: object), values: order.values(of: object))
  }

  private func section(of object: ManagedObject) throws -> String {
    switch sectionName {
    case .none: return ""
    case .computed(let name): return try name(object) ?? ""
    case .path(let path):
      // Transient values exist only after the object has awoken.
      let first = path.split(separator: ".").first.flatMap { layout.entity.property(named: String($0)) }
      if first?.isTransient == true { object.fulfill() }
      return Self.text(try ExpressionEvaluator().value(of: .key(path), for: .object(object)).stored ?? .null)
    }
  }

  private static func text(_ value: StoredValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    case .boolean(let flag): flag ? "1" : "0"
    // Describing a date far from now traps in Foundation.
    case .date(let date):
      abs(date.timeIntervalSinceReferenceDate) < 1e11 ? date.description : ValueWords.date(date)
    case .composite(let elements):
      elements.sorted(on: \.key).map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
    default: DynamicValue.any(value).map { "\($0)" } ?? ""
    }
  }

  /// Returns all results in order.
  ///
  /// With a batch size, rows are read batch by batch and released; only the values that determine positions are kept.
  func fetch() throws -> ResultArrangement {
    context.readProbe.pause()
    defer { context.readProbe.resume() }
    let pass = try FetchPass(request, in: context)
    var items: [ResultItem] = []
    if request.fetchBatchSize > 0 {
      let ids = try pass.objectIDs()
      for start in stride(from: 0, to: ids.count, by: request.fetchBatchSize) {
        let objects = ids[start..<min(start + request.fetchBatchSize, ids.count)].map { context.object(with: $0) }
        context.prefetchRows(of: objects)
        items += try objects.map(item)
        for object in objects where object.loading == .fault { object.forgetFetchedRow() }
      }
    } else {
      items = try pass.objects().map(item)
    }
    try context.throwDeferredError()
    let order = ResultOrder(order: order)
    var arrangement = ResultArrangement(order, isSectioned: isSectioned)
    arrangement.replace([], with: areInOrder(items, order) ? items : items.enumerated().map { $1.ranked($0) })
    return arrangement
  }

  /// Whether sorting by the objects' current values gives the order of the fetch.
  ///
  /// It doesn't if there is no sort order, or if related objects that the store sorted by have unsaved changes.
  private func areInOrder(_ items: [ResultItem], _ order: ResultOrder) -> Bool {
    !order.order.isEmpty && zip(items, items.dropFirst()).allSatisfy { order.isAscending($0, $1) }
  }
}
