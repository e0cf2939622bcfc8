/// The rows whose result differs from the store's because related objects have unsaved changes.
///
/// The store's answer for a row is valid unless an object that the request reads through saved relationships has
/// changed. Such rows are found by the keys of the changed objects in one additional query, and evaluated in memory
/// like changed objects.
struct RelatedChanges {
  private let reads: RelationshipReads
  private let context: ManagedObjectContext

  /// - Parameters:
  ///   - stored: The parts of predicates that aren't evaluated on the context's objects anyway.
  ///   - sort: The order of the stores' rows.
  init(
    affecting stored: [FetchPredicate], _ sort: [FetchSortDescriptor], of entity: Entity,
    in context: ManagedObjectContext
  ) {
    var reads = RelationshipReads(over: entity, in: context.model)
    for predicate in stored { reads.add(predicate) }
    for descriptor in sort { reads.add(descriptor.expression) }
    self.reads = reads
    self.context = context
  }

  /// Returns a condition for the rows with saved relationships to changed objects that the request reads; nil if there
  /// are none.
  func condition() -> FetchPredicate? {
    let changed = context.graph.updated.objects + context.graph.deleted.objects
    guard !changed.isEmpty else { return nil }
    guard reads.isComplete else { return .constant(true) }
    let conditions = reads.ends.ordered { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { path, end in
      let ids = changed.filter { concerns($0, end) }.map { FetchExpression.constant(.objectID($0.objectID)) }
      return ids.isEmpty ? nil : reaching(.aggregate(ids), by: path, from: 0, of: .current)
    }
    return conditions.count > 1 ? .or(conditions) : conditions.first
  }

  /// Whether an object may be at the end of a path, with changes to the properties read there or to its membership.
  private func concerns(_ object: ManagedObject, _ end: RelationshipReads.End) -> Bool {
    guard object.entity.isKind(of: end.entity) else { return false }
    if object.change == .deleted { return true }
    var properties = end.properties
    if let inverse = context.model.inverse(of: end.relationship) { properties.insert(inverse.name) }
    return properties.contains { name in
      object.entity.property(named: name).map { object.isChanged(at: $0.slot) } ?? false
    }
  }

  /// A condition that a path leads to one of some objects.
  ///
  /// SQL can follow to-one relationships, then to-many ones, then to-one ones again. A longer path is split after its
  /// first to-many relationships, and the rest is evaluated for their members.
  private func reaching(
    _ ids: FetchExpression, by path: [String], from start: Int, of root: FetchExpression
  ) -> FetchPredicate {
    func end(_ isToMany: Bool, from index: Int) -> Int {
      path.indices[index...].first { reads.ends[Array(path[...$0])]?.relationship.isToMany != isToMany } ?? path.count
    }
    let many = end(false, from: start)
    let members = end(true, from: many)
    let keys = Array(path[start...])
    if end(false, from: members) == path.count {
      return .compare(.path(of: root, keys), .in, ids, modifier: many < members ? .any : .direct)
    }
    let variable = "member\(start)"
    let rest = reaching(ids, by: path, from: members, of: .variable(variable))
    let found = FetchExpression.subquery(
      .path(of: root, Array(path[start..<members])), variable: variable, where: rest)
    return .compare(.path(of: found, [CollectionOperator.count.rawValue]), .greater, .value(0))
  }
}

extension FetchPass {
  /// Returns the unchanged objects whose result depends on related objects that the context changed.
  ///
  /// - Parameter isOfAll: Whether the parts that no store evaluates aren't evaluated on the context's objects either.
  func objectsWithRelatedChanges(ofAll isOfAll: Bool) throws -> [ManagedObject] {
    // Finding the relationships that a request reads is a quarter of what preparing a fetch costs.
    guard context.hasChanges else { return [] }
    let predicates = isOfAll ? [request.predicate] : sources.map(\.stored)
    let related = RelatedChanges(
      affecting: predicates.compactMap { $0 }, request.sortDescriptors, of: layout.entity, in: context)
    guard let condition = related.condition() else { return [] }
    return try sources.flatMap { source -> [ManagedObject] in
      var query = RowQuery(entity: layout.entity, includesSubentities: request.includesSubentities)
      // The rest of the predicate is checked in memory: the store may find too many rows, but never too few.
      query.predicate = try source.store.divide(condition, over: layout.entity).stored
      query.now = now
      let rows = try ask(StoreQuery(tables: source.tables, query: query))
      return make(rows, from: source.tables, withOverlaid: true).filter { $0.change == .none }
    }
  }
}
