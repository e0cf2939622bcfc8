extension MigrationPlan {
  /// The plan of a route that goes through a new file, from the models alone.
  init(_ route: MigrationRoute, _ means: MigrationMeans) throws {
    self.init(
      from: route.source.name, to: route.destination.name, way: route.blockers.isEmpty ? .copy : .impossible,
      steps: try route.legs.flatMap { try Self.steps($0, means) },
      losses: route.legs.filter(\.isInferred).flatMap { leg in
        leg.chain.comparison.operations.compactMap(MigrationLoss.init)
      },
      blockers: route.blockers, hops: route.hopCount > 1 ? route.legs.flatMap(Self.hops) : [])
  }

  /// The single hops of a leg, each with its own way.
  private static func hops(_ leg: MigrationRoute.Leg) -> [MigrationPlan] {
    leg.chain.hops.map { hop in
      var plan = MigrationPlan(hop)
      guard case .mapping = leg.way else { return plan }
      plan.way = leg.blockers.isEmpty ? .copy : .impossible
      plan.blockers = leg.blockers
      if !leg.isInferred { plan.losses = [] }
      return plan
    }
  }

  private static func steps(_ leg: MigrationRoute.Leg, _ means: MigrationMeans) throws -> [Step] {
    var steps: [Step] = []
    if leg.before != nil { steps.append(stage("before leaving '\(leg.source.name)'")) }
    switch leg.way {
    case .inPlace:
      let old = TableMap.forNewStore(leg.source.model)
      let work = InPlacePlanner.plan(
        from: old, schema: StoreSchema(newStore: old), to: .forNewStore(leg.destination.model),
        comparison: leg.chain.comparison)
      steps += Self.steps(leg.chain.comparison, leg.blockers.isEmpty ? work.changes : [])
    case .mapping(let mapping):
      guard leg.blockers.isEmpty else {
        steps += mapping.entityMappings.map { Step(operation($0, nil)) }
        break
      }
      let plan = try MigrationRoute.plan(leg.chain, mapping, means)
      steps += plan.steps.map { Step(operation($0.mapping, $0), sql: plan.sql(of: $0)) }
    }
    if leg.after != nil { steps.append(stage("at '\(leg.destination.name)'")) }
    return steps
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
