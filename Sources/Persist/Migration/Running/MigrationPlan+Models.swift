extension MigrationPlan {
  /// What migrating from one version of a model to another means for a store that has nothing special.
  ///
  /// Whether it is possible may depend on the rows: a required attribute without default can be added to an entity
  /// that has none. ``init(storeAt:to:registry:)`` looks at them.
  ///
  /// - Parameter registry: other versions, which may record renamings, and mapping models; nil for what the two tell.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` where two things take their place from the same one.
  public init(from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry? = nil) throws {
    let means = MigrationMeans(registry: registry)
    let route = try MigrationRoute(from: source, to: destination, means: means)
    try self.init(route, means)
    notes = route.notes(registry)
  }

  /// - Parameter work: what carries out the hop.
  init(_ hop: MigrationHop, work: InPlaceWork) {
    var blockers = hop.blockers
    blockers += work.blockers.filter { blocker in !blockers.contains { $0.entity == blocker.entity } }
    self.init(
      from: hop.source.name, to: hop.destination.name,
      way: blockers.isEmpty ? (work.changes.isEmpty ? hop.comparison.way : .inPlace) : .impossible,
      steps: Self.steps(hop.comparison, blockers.isEmpty ? work.changes : [], blockers.isEmpty ? work.deferred : []),
      losses: work.losses, blockers: blockers)
  }

  /// Each operation with the SQL that is for its sake; what is for several stands in steps of its own at the end.
  static func steps(
    _ comparison: ModelComparison, _ changes: [InPlaceWork.Change], _ deferred: [InPlaceWork.Change] = []
  ) -> [Step] {
    var open = changes
    var waiting = deferred
    var steps: [Step] = []
    for operation in comparison.operations {
      func isOwn(_ change: InPlaceWork.Change) -> Bool {
        guard let subject = change.subject else { return false }
        return operation.concerns(subject) || comparison.otherEnd(of: subject).map(operation.concerns) == true
      }
      steps.append(Step(operation, sql: sql(open.filter(isOwn)), deferred: sql(waiting.filter(isOwn))))
      open.removeAll(where: isOwn)
      waiting.removeAll(where: isOwn)
    }
    let numbers = open.filter { $0.phase == .renumber || $0.phase == .entities }
    let rest = open.filter { $0.phase != .renumber && $0.phase != .entities }
    if !rest.isEmpty || !waiting.isEmpty {
      steps.append(Step(MigrationOperation(.alignSchema, entity: ""), sql: sql(rest), deferred: sql(waiting)))
    }
    if !numbers.isEmpty { steps.append(Step(MigrationOperation(.renumberEntities, entity: ""), sql: sql(numbers))) }
    return steps
  }

  private static func sql(_ changes: [InPlaceWork.Change]) -> [String] {
    changes.flatMap { SQLText.statements($0.change).map(\.text) }
  }
}

extension MigrationOperation {
  fileprivate func concerns(_ subject: InPlaceWork.Subject) -> Bool {
    // What an entity has comes and goes with it.
    if kind == .addEntity || kind == .removeEntity { return subject.entity == entity }
    if property == nil { return subject.property == nil && [entity, newName].contains(subject.entity) }
    return subject.entity == entity && subject.property != nil && [property, newName].contains(subject.property)
  }
}

extension ModelComparison {
  /// The inverse of a relationship: its columns and tables serve both.
  fileprivate func otherEnd(of subject: InPlaceWork.Subject) -> InPlaceWork.Subject? {
    for model in [new, old] {
      guard let name = subject.property, let entity = model.entitiesByName[subject.entity],
        let relationship = entity.relationship(named: name), let inverse = relationship.inverse
      else { continue }
      let declaring = model.destination(of: relationship).property(named: inverse)?.declaringEntity
      return .init(declaring ?? relationship.destination, inverse)
    }
    return nil
  }
}

extension StoreSchema {
  /// The tables and indexes of a new store with a layout.
  init(newStore map: TableMap) {
    self.init(
      tables: map.tableDefinitions.map { table in
        Table(
          name: table.name, columns: table.columns.map { Column(name: $0.name, declaredType: $0.type.rawValue) })
      },
      indexes: map.indexDefinitions.map { Index(name: $0.name, table: $0.table, sql: SQLText.create($0).text) })
  }
}
