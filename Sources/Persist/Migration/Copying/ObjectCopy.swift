import Foundation

/// The object-by-object passes, for entity mappings with a policy and for expressions that SQL can't express.
///
/// Source objects are fetched in batches, and the results of a batch are saved before the next, so that memory use
/// doesn't grow with the store. Associations of sources and destinations follow from the keys, or are recorded as
/// ``InstancePairs``.
final class ObjectCopy: PolicyCopy {
  /// The maximum number of source objects in memory.
  static let batchSize = 500
  /// The number of changed objects at which they are saved even before their batch is complete.
  private static let changeLimit = 4 * batchSize

  let sourceContext: ManagedObjectContext
  let destinationContext: ManagedObjectContext
  let plan: CopyPlan
  let pairs: InstancePairs
  /// The tables of the destination's objects; nil if its store was closed.
  let destinationTables: StoreTables?
  private unowned let manager: MigrationManager
  private let now: Date
  private let works: [StepWork]
  /// The work that was last looked up by name: the same one is often looked up repeatedly.
  private var lastWork: StepWork?
  /// The source object whose destination objects are currently created, and the step.
  private var creating: (source: ManagedObject, work: StepWork)?
  /// The source object whose destination objects are currently related.
  private var relating: ManagedObject?
  /// The source objects of a batch that were fetched without their rows, until they are needed.
  private var unreadSources: [ManagedObject] = []

  /// - Parameter associations: the temporary table of pairs.
  init(
    plan: CopyPlan, manager: MigrationManager, source: PersistentStoreCoordinator,
    destination: PersistentStoreCoordinator, associations: any ObjectAssociations, now: Date
  ) throws {
    self.plan = plan
    self.manager = manager
    self.now = now
    pairs = InstancePairs(associations)
    sourceContext = ManagedObjectContext(source, classes: Self.classes(source.managedObjectModel, manager))
    destinationContext = ManagedObjectContext(
      destination, classes: Self.classes(destination.managedObjectModel, manager))
    destinationContext.validatesOnSave = false
    sourceContext.readsUnchangingStores = true
    let tables = destination.openStores.first.map(destinationContext.tables(of:))
    let context = destinationContext
    destinationTables = tables
    works = plan.steps.map { step in
      let policy = step.policy?.init() ?? EntityMigrationPolicy()
      let evaluator = Self.evaluator(of: step.mapping, policy: policy, manager: manager, now: now)
      let place = step.destination.flatMap { entity in
        tables.map { tables in
          ManagedObjectContext.RowPlace(
            context.layout(of: entity), in: tables, storeGeneration: destination.storeGeneration)
        }
      }
      return StepWork(step, for: manager, policy: policy, place: place, evaluator: evaluator)
    }
    destinationContext.willListRegisteredObjects = { [weak self] in self?.retainObjects() }
  }

  private static func evaluator(
    of mapping: EntityMapping, policy: EntityMigrationPolicy, manager: MigrationManager, now: Date
  ) -> ExpressionEvaluator {
    ExpressionEvaluator(
      variables: [
        MappingVariable.manager: .object(manager), MappingVariable.entityPolicy: .object(policy),
        MappingVariable.entityMapping: .object(EntityMappingValue(mapping: mapping)),
      ], now: now, calls: MappingCalls())
  }

  /// Classes of the application aren't used, because they belong to one version only.
  private static func classes(
    _ model: ManagedObjectModel, _ manager: MigrationManager
  ) -> [String: ManagedObject.Type] {
    Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, manager.objectClass) })
  }

  // MARK: Passes

  /// First pass: creates the destination objects of a step with their attributes.
  ///
  /// - Parameter report: called with the number of processed source objects.
  func createInstances(_ step: CopyPlan.Step, _ report: (Int) throws -> Void) throws {
    let (work, mapping) = (begin(step), step.mapping)
    try work.policy.begin(mapping, with: manager)
    if step.createsByObject {
      try sourceContext.forEachBatch(of: try request(for: work), size: Self.batchSize) { sources in
        defer { creating = nil }
        for source in sources {
          creating = (source, work)
          try Self.naming(source) {
            try work.policy.createDestinationInstances(forSource: source, in: mapping, manager: manager)
          }
        }
        try save(sources, of: work)
        try report(sources.count)
      }
    }
    try work.policy.endInstanceCreation(forMapping: mapping, manager: manager)
    try save()
  }

  /// Second pass: relates the destination objects of a step.
  func createRelationships(_ step: CopyPlan.Step, _ report: (Int) throws -> Void) throws {
    let (work, mapping) = (begin(step), step.mapping)
    if step.source != nil {
      var request = try request(for: work)
      // Without expressions only the policy may need the rows.
      request.includesPropertyValues = work.program.hasRelationships
      try sourceContext.forEachBatch(of: request, size: Self.batchSize) { sources in
        unreadSources = sources
        let objects = work.program.hasRelationships ? try readInstances(of: work, for: sources) : []
        defer { withExtendedLifetime(objects) { (relating, unreadSources) = (nil, []) } }
        for source in sources {
          relating = source
          try Self.naming(source) {
            for object in try instances(of: work, for: source) {
              try work.policy.createRelationships(forDestination: object, in: mapping, manager: manager)
            }
          }
          // To-many relationships may have many more members than the batch has objects.
          if destinationContext.graph.updated.count >= Self.changeLimit { try save() }
          try report(1)
        }
        try save()
      }
    }
    try work.policy.endRelationshipCreation(forMapping: mapping, manager: manager)
    try save()
  }

  /// Third pass: custom validation by policies.
  func validate(_ step: CopyPlan.Step) throws {
    let work = begin(step)
    try work.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
    try work.policy.end(step.mapping, manager: manager)
    try save()
  }

  /// Refreshes objects after rows were written without the context.
  func refresh() { destinationContext.refreshAllObjects() }

  private func begin(_ step: CopyPlan.Step) -> StepWork {
    manager.currentEntityMapping = step.mapping
    return works[step.index]
  }

  /// The objects that a step created for a batch; their rows stay in memory while the objects are retained.
  private func readInstances(of work: StepWork, for sources: [ManagedObject]) throws -> [ManagedObject] {
    let objects = try sources.flatMap { try instances(of: work, for: $0) }
    destinationContext.prefetchRows(of: objects)
    return objects
  }

  /// Reads the rows of the batch's source objects, unless already read, before one of them is accessed.
  func readSources() {
    guard !unreadSources.isEmpty else { return }
    sourceContext.prefetchRows(of: unreadSources)
    unreadSources = []
  }

  /// Adds the source object to errors without a place, such as those of policies.
  private static func naming(_ source: ManagedObject, _ body: () throws -> Void) throws {
    try PersistenceError.placing({ place in
      guard place.entity == nil, place.row == nil else { return }
      (place.entity, place.row) = (source.entity.name, source.key)
    }, body)
  }

  private func request(for work: StepWork) throws -> FetchRequest<ManagedObject> {
    let step = work.step
    var request = FetchRequest<ManagedObject>(step.source?.name ?? "")
    request.includesSubentities = false
    switch step.selection {
    case .all: break
    case .predicate(let predicate): request.predicate = predicate
    case .custom:
      guard case .fetch(let given, _, _)? = step.mapping.sourceExpression,
        case .object(let value as RequestValue) = try work.evaluator.value(of: given, for: .null)
      else {
        throw PersistenceError(
          .invalidRequest, at: .entity(step.source?.name ?? ""),
          "The source expression of '\(step.mapping.name)' doesn't return a request.",
          fix: "Write it as FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", …), …).")
      }
      request = value.request
    }
    return request
  }

  // MARK: Saving

  /// Saves the results of a batch, and records which source objects have an object with their key.
  private func save(_ sources: [ManagedObject], of work: StepWork) throws {
    guard work.step.policy != nil, let first = sources.first, let last = sources.last, let place = work.place else {
      return try save()
    }
    let own = sources.map(\.key).filter { newInstance(of: work, key: $0 + work.offset) != nil }
    let areAllOwn = work.step.selection == .all && own.count == sources.count
    let entity = place.layout.entity.number
    try save(
      areAllOwn
        ? []
        : own.map { key in
          ObjectAssociation(step: work.index, source: key, entity: entity, destination: key + work.offset)
        })
    if work.step.selection == .all { work.record(first.key...last.key, areOwn: areAllOwn) }
  }

  private func save(_ more: [ObjectAssociation] = []) throws {
    // A getter can't throw: a value that couldn't be read looked empty, but isn't.
    try sourceContext.throwDeferredError()
    try destinationContext.save()
    try pairs.save(more)
  }

  // MARK: Default behavior

  func create(from source: ManagedObject, in mapping: EntityMapping) throws {
    let work = try work(named: mapping.name)
    let program = try program(for: mapping, work)
    guard let entity = program.destination else { return }
    // A policy may create several objects from one source; the first has its key.
    let key = source.key + work.offset
    let own = work.givesKeys && creating?.source === source && creating?.work === work
      && newInstance(of: work, key: key) == nil ? work.place.flatMap { $0.layout.entity === entity ? $0 : nil } : nil
    let object =
      if let own {
        destinationContext.insertNewObject(of: own.layout, key: key, in: own.table)
      } else {
        ManagedObject(entity: entity, insertInto: destinationContext)
      }
    try program.setAttributes(of: object, from: source)
    if own == nil { pairs.add(object, from: source, step: work.index) }
  }

  func relate(_ object: ManagedObject, in mapping: EntityMapping) throws {
    let work = try work(named: mapping.name)
    guard !mapping.relationshipMappings.isEmpty else { return }
    let program = try program(for: mapping, work)
    guard program.hasRelationships else { return }
    if !work.program.hasRelationships { readSources() }
    let source = try relating ?? sourceInstances(forEntityMapping: mapping.name, [object]).first
    guard let source else { return }
    try program.setRelationships(of: object, from: source)
  }

  private func program(for mapping: EntityMapping, _ work: StepWork) throws -> MappingProgram {
    try work.program(for: mapping) { step in
      var step = step
      step.destination = try mapping.destinationEntityName.map(manager.destinationModel.entity(named:))
      return MappingProgram(
        step, for: manager, evaluator: Self.evaluator(of: mapping, policy: work.policy, manager: manager, now: now))
    }
  }

  // MARK: Registered objects

  /// Retains all destination objects from now on, and materializes those that were saved and released.
  ///
  /// Core Data holds them while it migrates, and policies search the registered objects for ones that they created
  /// before. Without such a policy, memory use doesn't grow with the store.
  private func retainObjects() {
    guard !destinationContext.retainsRegisteredObjects else { return }
    destinationContext.retainsRegisteredObjects = true
    for entity in manager.destinationModel.entities where !entity.isAbstract {
      var request = FetchRequest<ManagedObject>(entity.name)
      (request.includesSubentities, request.includesPendingChanges) = (false, false)
      request.includesPropertyValues = false
      do {
        try destinationContext.forEachBatch(of: request, size: Self.batchSize) { _ in }
      } catch {
        // The calling getter can't throw, so the next save throws the error.
        destinationContext.deferError(error)
      }
    }
  }

  // MARK: Steps

  /// The works of the steps with a source entity.
  func works(from source: Entity) -> [StepWork] { works.filter { $0.source === source } }

  func work(named name: String) throws -> StepWork {
    if let lastWork, lastWork.mappingName == name { return lastWork }
    guard let work = works.first(where: { $0.mappingName == name }) else {
      throw PersistenceError(
        .invalidRequest, "The mapping model has no entity mapping '\(name)'.",
        fix: "It has \(plan.steps.map(\.mapping.name).joined(separator: ", ")).")
    }
    lastWork = work
    return work
  }
}
