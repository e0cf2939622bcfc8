extension MigrationPlan {
  /// Plans the migration from one model version to another for a generic store.
  ///
  /// Whether it is possible may depend on the rows: a required attribute without default can be added to an entity
  /// without rows. ``init(storeAt:to:registry:migrator:)`` takes them into account.
  ///
  /// - Parameters:
  ///   - source: the version to migrate from.
  ///   - destination: the version to migrate to.
  ///   - registry: other versions, which may record renames, and mapping models; nil to use only the two versions.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name has several possible sources, or several share one.
  public init(from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry? = nil) throws {
    let resources = MigrationResources(registry: registry)
    let path = try MigrationPath(from: source, to: destination, resources: resources)
    try self.init(path, resources)
    notes = path.notes(resources) + path.unreadableFiles(resources).map { MigrationBlocker(unreadable: $0).what }
  }

  /// - Parameter work: the changes that execute the hop.
  init(_ hop: MigrationHop, work: InPlaceWork) {
    var blockers = hop.blockers
    blockers += work.blockers.filter { blocker in !blockers.contains { $0.entity == blocker.entity } }
    self.init(
      from: hop.source.name, to: hop.destination.name,
      way: blockers.isEmpty ? (work.changes.isEmpty ? hop.comparison.way : .inPlace) : .impossible,
      steps: Self.steps(
        of: hop.comparison, changes: blockers.isEmpty ? work.changes : [],
        deferred: blockers.isEmpty ? work.deferred : [], updates: blockers.isEmpty ? work.laterUpdates : [],
        work.names),
      losses: work.losses, blockers: blockers)
  }

  /// The operations, each with its SQL; SQL for several operations is in separate steps at the end.
  static func steps(
    of comparison: ModelComparison, changes: [InPlaceWork.Change], deferred: [InPlaceWork.Change] = [],
    updates: [InPlaceWork.Change] = [], _ names: LayoutNames = .coreData
  ) -> [Step] {
    func sql(_ changes: [InPlaceWork.Change]) -> [String] {
      changes.flatMap { change in
        let inParts = updates.contains(change) ? " /* in parts, while the store is used */" : ""
        return change.change.shownStatements(names).map { $0 + inParts }
      }
    }
    var open = changes
    var waiting = updates + deferred
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
    let renumbering = waiting.filter(updates.contains)
    waiting.removeAll(where: updates.contains)
    if !rest.isEmpty || !waiting.isEmpty {
      steps.append(Step(MigrationOperation(.alignSchema, entity: ""), sql: sql(rest), deferred: sql(waiting)))
    }
    if !numbers.isEmpty || !renumbering.isEmpty {
      steps.append(
        Step(MigrationOperation(.renumberEntities, entity: ""), sql: sql(numbers), deferred: sql(renumbering)))
    }
    return steps
  }
}

extension MigrationOperation {
  fileprivate func concerns(_ subject: InPlaceWork.Subject) -> Bool {
    // The contents of an entity are added and removed with it.
    if kind == .addEntity || kind == .removeEntity { return subject.entity == entity }
    if property == nil { return subject.property == nil && [entity, newName].contains(subject.entity) }
    return subject.entity == entity && subject.property != nil && [property, newName].contains(subject.property)
  }
}

extension ModelComparison {
  /// The inverse of a relationship, which shares its columns and tables.
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
