import Foundation

/// The passes object by object: for entity mappings with a policy, and for expressions that SQL has no form for.
///
/// Source objects come in batches, and what was made of one batch is saved before the next, so that memory doesn't
/// grow with the store. What came from what is known by the keys, or noted as ``InstancePairs``.
final class ObjectCopy {
  /// How many source objects are held at a time.
  static let batchSize = 500
  /// How many changed objects are saved before their batch is done.
  private static let changeLimit = 4 * batchSize

  let sourceContext: ManagedObjectContext
  let destinationContext: ManagedObjectContext
  let plan: CopyPlan
  let pairs: InstancePairs
  /// Where the destination's objects are; nil where its store was closed.
  let destinationTables: StoreTables?
  private unowned let manager: MigrationManager
  private let now: Date
  private let works: [StepWork]
  /// What was last asked for by its name, as it is again and again.
  private var lastWork: StepWork?
  /// The source object whose destination objects are made now, and by which step.
  private var creating: (source: ManagedObject, work: StepWork)?
  /// The source object whose destination objects are related now.
  private var relating: ManagedObject?
  /// The source objects of a batch that were taken without their rows, until somebody asks for them.
  private var unreadSources: [ManagedObject] = []

  /// - Parameter connection: gets the temporary table of pairs.
  init(
    plan: CopyPlan, manager: MigrationManager, source: PersistentStoreCoordinator,
    destination: PersistentStoreCoordinator, connection: SQLiteConnection, now: Date
  ) throws {
    self.plan = plan
    self.manager = manager
    self.now = now
    pairs = try InstancePairs(connection)
    sourceContext = ManagedObjectContext(source, classes: Self.dynamicClasses(source.managedObjectModel))
    destinationContext = ManagedObjectContext(destination, classes: Self.dynamicClasses(destination.managedObjectModel))
    destinationContext.validatesOnSave = false
    let tables = destination.openStores.first.map(destinationContext.tables(of:))
    let context = destinationContext
    destinationTables = tables
    works = plan.steps.map { step in
      let policy = step.policy?.init() ?? EntityMigrationPolicy()
      let evaluator = Self.evaluator(of: step.mapping, policy, manager, now)
      let place = step.destination.flatMap { entity in
        tables.map { ManagedObjectContext.RowPlace(context.layout(of: entity), in: $0) }
      }
      return StepWork(step, manager, policy: policy, place: place, evaluator)
    }
    destinationContext.willListRegisteredObjects = { [weak self] in self?.retainObjects() }
  }

  private static func evaluator(
    of mapping: EntityMapping, _ policy: EntityMigrationPolicy, _ manager: MigrationManager, _ now: Date
  ) -> ExpressionEvaluator {
    ExpressionEvaluator(
      variables: [
        MappingVariable.manager: .object(manager), MappingVariable.entityPolicy: .object(policy),
        MappingVariable.entityMapping: .object(EntityMappingValue(mapping: mapping)),
      ], now: now, calls: MappingCalls())
  }

  /// No class of the application takes part: it is that of one version only.
  private static func dynamicClasses(_ model: ManagedObjectModel) -> [String: ManagedObject.Type] {
    Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, ManagedObject.self) })
  }

  // MARK: Passes

  /// First pass: the destination objects of a step with their attributes.
  ///
  /// - Parameter report: is told how many source objects were done.
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
      // Without expressions only the policy may want the rows.
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
          // The members of to-many relationships may be many more than the objects of the batch.
          if destinationContext.updated.count >= Self.changeLimit { try save() }
        }
        try save()
        try report(sources.count)
      }
    }
    try work.policy.endRelationshipCreation(forMapping: mapping, manager: manager)
    try save()
  }

  /// Third pass: what policies have to say of the whole.
  func validate(_ step: CopyPlan.Step) throws {
    let work = begin(step)
    try work.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
    try work.policy.end(step.mapping, manager: manager)
    try save()
  }

  /// Rows were written past the context.
  func refresh() { destinationContext.refreshAllObjects() }

  private func begin(_ step: CopyPlan.Step) -> StepWork {
    manager.currentEntityMapping = step.mapping
    return works[step.index]
  }

  /// What a step made of a batch, with the rows, which are there for as long as the objects are held.
  private func readInstances(of work: StepWork, for sources: [ManagedObject]) throws -> [ManagedObject] {
    let objects = try sources.flatMap { try instances(of: work, for: $0) }
    destinationContext.prefetchRows(of: objects)
    return objects
  }

  /// Reads the rows of the batch's source objects, as far as that wasn't done, before one of them is looked into.
  func readSources() {
    guard !unreadSources.isEmpty else { return }
    sourceContext.prefetchRows(of: unreadSources)
    unreadSources = []
  }

  /// An error that doesn't say where it happened, as those of policies, says of which source object it is.
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
          "The source expression of '\(step.mapping.name)' gives no request.",
          fix: "Write it as FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", …), …).")
      }
      request = value.request
    }
    return request
  }

  // MARK: Saving

  /// Saves what was made of a batch, and notes which source objects have their own one.
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
          InstancePairs.Row(step: work.index, source: key, entity: entity, destination: key + work.offset)
        })
    if work.step.selection == .all { work.note(first.key...last.key, areOwn: areAllOwn) }
  }

  private func save(_ more: [InstancePairs.Row] = []) throws {
    // A getter can't throw: what couldn't be read looked empty, and isn't.
    try sourceContext.throwDeferredError()
    try destinationContext.save()
    try pairs.save(more)
  }

  // MARK: The plain way

  func create(from source: ManagedObject, in mapping: EntityMapping) throws {
    let work = try work(named: mapping.name)
    let program = try program(for: mapping, work)
    guard let entity = program.destination else { return }
    // A policy may make several of one source; the first is the one that has its key.
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
      return MappingProgram(step, manager, Self.evaluator(of: mapping, work.policy, manager, now))
    }
  }

  // MARK: Registered objects

  /// Keeps all destination objects from now on, and materialises those that were saved and released.
  ///
  /// Core Data holds them for as long as it migrates, and policies look for objects that they made before among those
  /// that are registered. Without such a policy, memory doesn't grow with the store.
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
        // The getter that leads here can't throw; the next save does.
        destinationContext.deferError(error)
      }
    }
  }

  // MARK: Steps

  /// The works of the steps that take a source entity.
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
