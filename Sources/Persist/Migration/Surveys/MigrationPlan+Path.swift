extension MigrationPlan {
  /// Creates the plan of a path from the models alone.
  init(_ path: MigrationPath, _ resources: MigrationResources) throws {
    let hops = try path.hops.map { try Self.plan($0, resources) }
    if let only = hops.first, hops.count == 1 {
      self = only
      return
    }
    self.init(
      from: path.source.name, to: path.destination.name,
      way: path.blockers.isEmpty ? hops.map(\.way).max() ?? .none : .impossible, steps: hops.flatMap(\.steps),
      losses: hops.flatMap(\.losses), blockers: path.blockers, hops: hops)
  }

  private static func plan(_ hop: MigrationHop, _ resources: MigrationResources) throws -> MigrationPlan {
    var plan: MigrationPlan
    switch hop.method {
    case .inPlace:
      let old = TableMap.forNewStore(hop.source.model)
      plan = MigrationPlan(
        hop,
        work: InPlacePlanner.plan(
          from: old, schema: StoreSchema(newStore: old), to: .forNewStore(hop.destination.model),
          comparison: hop.comparison))
    case .mapping(let mapping):
      plan = MigrationPlan(
        from: hop.source.name, to: hop.destination.name, way: hop.blockers.isEmpty ? .copy : .impossible,
        losses: try hop.losses(resources), blockers: hop.blockers)
      if hop.blockers.isEmpty {
        let copy = try MigrationPath.plan(hop, by: mapping, resources: resources)
        plan.steps = copy.steps.map { Step(operation($0.mapping, $0), sql: copy.sql(of: $0)) }
      } else {
        plan.steps = mapping.entityMappings.map { Step(operation($0, nil)) }
      }
    }
    if hop.before != nil { plan.steps.insert(stage("before leaving '\(hop.source.name)'"), at: 0) }
    if hop.after != nil { plan.steps.append(stage("at '\(hop.destination.name)'")) }
    if (hop.before != nil || hop.after != nil) && plan.isPossible { plan.way = .copy }
    return plan
  }

  private static func stage(_ detail: String) -> Step {
    Step(MigrationOperation(.runStage, entity: "", detail: detail, way: .copy))
  }

  private static func operation(_ mapping: EntityMapping, _ step: CopyPlan.Step?) -> MigrationOperation {
    let (source, destination) = (mapping.sourceEntityName, mapping.destinationEntityName)
    let manner: String? =
      if let policy = mapping.policyName { "by \(policy)" } else { step?.createsByObject == true ? "by object" : nil }
    return MigrationOperation(
      .mapEntity, entity: source ?? destination ?? "",
      newName: source != nil && source != destination ? destination : nil,
      detail: [mapping.name, manner].compactMap { $0 }.joined(separator: ", "), way: .copy)
  }
}

extension MigrationHop {
  /// The losses, from the models alone.
  func losses(_ resources: MigrationResources) throws -> [MigrationLoss] {
    guard case .mapping(let mapping) = method, !isInferred else {
      return comparison.losses
    }
    guard blockers.isEmpty else { return [] }
    return MappingLosses(try MigrationPath.plan(self, by: mapping, resources: resources)).items.map(\.loss)
  }
}
