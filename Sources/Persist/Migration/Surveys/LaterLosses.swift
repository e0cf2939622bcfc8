import Foundation

/// Row counts of the losses of later hops, whose rows don't exist yet: each loss is traced back through the hops before
/// it, to rows of the store.
///
/// A count is unknown if code decides it (a policy, a stage), if an expression computes the value, or if only SQL on
/// the intermediate store could count it: members of relationships, and objects selected by a filter of a later hop.
struct LaterLosses {
  private let hops: [MigrationHop]
  private let store: TableMap
  private let inspector: any StoreInspector
  /// The plans of hops by mapping models; nil for hops in place.
  private let plans: [CopyPlan?]

  init(
    _ path: MigrationPath, in store: TableMap, _ resources: MigrationResources, counting inspector: any StoreInspector
  ) throws {
    hops = path.hops
    self.store = store
    self.inspector = inspector
    plans = try path.hops.enumerated().map { index, hop in
      guard case .mapping(let mapping) = hop.method, hop.blockers.isEmpty else { return nil }
      return try index == 0
        ? MigrationPath.plan(hop, by: mapping, resources: resources, in: store)
        : MigrationPath.plan(hop, by: mapping, resources: resources)
    }
  }

  /// Counts the losses of a hop. Those without rows are omitted, and those whose rows are unknown are left without a
  /// number.
  func counted(_ losses: [MigrationLoss], ofHop index: Int) throws -> [MigrationLoss] {
    try losses.compactMap { loss in
      guard let rows = try rows(of: loss, at: index) else { return loss }
      return rows == 0 ? nil : loss.counting(rows)
    }
  }

  private func rows(of loss: MigrationLoss, at index: Int) throws -> Int? {
    guard store.differences.isEmpty, let entity = hops[index].source.model.entitiesByName[loss.entity] else {
      return nil
    }
    guard let property = loss.property else {
      // The objects of a removed entity, without those of its subentities. A filter's effect isn't known.
      guard loss.what.hasPrefix("entity ") else { return nil }
      return entity.isAbstract ? 0 : try count(entity, nil, at: index)
    }
    // The entities of a hierarchy may lose different values.
    guard let attribute = entity.attribute(named: property), !attribute.isDerived, attribute.type != .composite,
      !entity.hasSubentities
    else { return nil }
    return try count(entity, property, at: index)
  }

  /// The number of objects of exactly an entity at the beginning of a hop, or of those with a value.
  private func count(_ entity: Entity, _ property: String?, at index: Int) throws -> Int? {
    guard index > 0 else { return try count(entity, property, where: nil) }
    let hop = hops[index - 1]
    guard hop.before == nil, hop.after == nil else { return nil }
    guard let plan = plans[index - 1] else {
      guard case .inPlace = hop.method else { return nil }
      guard let source = hop.comparison.source(of: entity) else { return 0 }
      guard let property else { return try count(source, nil, at: index - 1) }
      guard let origin = hop.comparison.correspondence.origin(of: property, in: entity.name) else { return nil }
      // A default fills every row.
      if origin.fill.map({ !$0.isNull }) ?? false { return try count(source, nil, at: index - 1) }
      return try origin.source.map { try count(source, $0, at: index - 1) } ?? 0
    }
    return try plan.steps.filter { $0.destination?.name == entity.name }.reduce(0) { sum, step in
      try sum.flatMap { sum in try count(step, property, at: index - 1).map { sum + $0 } }
    }
  }

  /// The number of objects that a step creates, or of those with a value.
  private func count(_ step: CopyPlan.Step, _ property: String?, at index: Int) throws -> Int? {
    guard step.policy == nil else { return nil }
    guard let source = step.source else { return 0 }
    var filter: FetchPredicate?
    switch step.selection {
    case .all: break
    case .predicate(let predicate): filter = predicate
    case .custom: return nil
    }
    guard filter == nil || index == 0 else { return nil }
    func count(_ property: String?) throws -> Int? {
      try filter.map { try self.count(source, property, where: $0) } ?? self.count(source, property, at: index)
    }
    guard let property else { return try count(nil) }
    let mapping = step.mapping.attributeMapping(named: property)
    guard let expression = mapping?.valueExpression else {
      let hasDefault = step.destination?.attribute(named: property)?.defaultValue.isNull == false
      return try hasDefault ? count(nil) : 0
    }
    if let constant = expression.constantValue { return try constant.isNull ? 0 : count(nil) }
    guard let key = expression.sourceKey, source.attribute(named: key)?.type != .composite else { return nil }
    return try count(key)
  }

  /// The number of rows of the store.
  private func count(_ entity: Entity, _ property: String?, where filter: FetchPredicate?) throws -> Int? {
    guard !store.absent.contains(entity.name), let entity = store.model.entitiesByName[entity.name] else { return 0 }
    let table = store[entity]
    var columns: [String] = []
    if let property {
      columns = table.columns.filter { $0.property == property }.map(\.name)
      guard columns.count == 1 else { return nil }
    }
    let row = SQLText.RowSelection.root
    var conditions = [SQLTerm.isOne(.column("Z_ENT", of: row), of: [.integer(Int64(store.numbers[entity]))])]
    if let filter {
      var translation = PredicateTranslation(store, storeIdentifier: "", now: Date(), fullText: [])
      guard let condition = translation.condition(filter, over: entity, root: row) else { return nil }
      conditions.append(condition)
    }
    conditions += columns.map { .isPresent(.column($0, of: row)) }
    return try inspector.count(ConditionCount(of: table.table, where: .all(conditions)), in: store)
  }
}
