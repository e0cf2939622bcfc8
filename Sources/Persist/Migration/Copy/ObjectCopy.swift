import Foundation

/// The passes object by object: for entity mappings with a policy, and for expressions that SQL has no form for.
///
/// Source objects come in batches, and what was made of one batch is saved before the next, so that memory doesn't
/// grow with the store. What came from what is known by the keys, or noted in a temporary table.
final class ObjectCopy {
  /// How many source objects are held at a time.
  static let batchSize = 500

  /// A source object by entity mapping.
  private struct Origin: Hashable {
    let step: Int
    let key: Int64
  }

  let sourceContext: ManagedObjectContext
  let destinationContext: ManagedObjectContext
  private let plan: CopyPlan
  private unowned let manager: MigrationManager
  private let connection: SQLiteConnection
  private let now: Date
  private var policies: [Int: EntityMigrationPolicy] = [:]
  private var programs: [Int: MappingProgram] = [:]
  /// What was made since the last save.
  private var unsaved: [Origin: [ManagedObject]] = [:]
  private var origins: [ObjectIdentifier: [(step: Int, source: ManagedObject)]] = [:]
  /// The source object whose destination objects are related now.
  private var current: ManagedObject?

  /// - Parameter connection: has the temporary table of associations.
  init(
    plan: CopyPlan, manager: MigrationManager, source: PersistentStoreCoordinator,
    destination: PersistentStoreCoordinator, connection: SQLiteConnection, now: Date
  ) throws {
    self.plan = plan
    self.manager = manager
    self.connection = connection
    self.now = now
    sourceContext = ManagedObjectContext(source, classes: Self.dynamicClasses(source.model))
    destinationContext = ManagedObjectContext(destination, classes: Self.dynamicClasses(destination.model))
    destinationContext.validatesOnSave = false
    destinationContext.reservedKeys = [:]
    try connection.execute(SQLText.createAssociations)
    try connection.execute(SQLText.indexAssociations)
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
    manager.currentEntityMapping = step.mapping
    let policy = policy(of: step)
    try policy.begin(step.mapping, with: manager)
    if step.createsByObject {
      try forEachSource(of: step, report) { source in
        try policy.createDestinationInstances(forSource: source, in: step.mapping, manager: manager)
      }
    }
    try policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
    try save()
  }

  /// Second pass: relates the destination objects of a step.
  func createRelationships(_ step: CopyPlan.Step, _ report: (Int) throws -> Void) throws {
    manager.currentEntityMapping = step.mapping
    let policy = policy(of: step)
    if step.source != nil {
      try forEachSource(of: step, report) { source in
        current = source
        defer { current = nil }
        for object in try instances(of: step, for: source) {
          try policy.createRelationships(forDestination: object, in: step.mapping, manager: manager)
        }
      }
    }
    try policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
    try save()
  }

  /// Third pass: what policies have to say of the whole.
  func validate(_ step: CopyPlan.Step) throws {
    manager.currentEntityMapping = step.mapping
    let policy = policy(of: step)
    try policy.performCustomValidation(forMapping: step.mapping, manager: manager)
    try policy.end(step.mapping, manager: manager)
    try save()
  }

  /// Rows were written past the context.
  func refresh() { destinationContext.refreshAllObjects() }

  private func policy(of step: CopyPlan.Step) -> EntityMigrationPolicy {
    if let policy = policies[step.index] { return policy }
    let policy = step.policy?.init() ?? EntityMigrationPolicy()
    policies[step.index] = policy
    return policy
  }

  private func forEachSource(
    of step: CopyPlan.Step, _ report: (Int) throws -> Void, _ body: (ManagedObject) throws -> Void
  ) throws {
    try sourceContext.forEachBatch(of: try request(for: step), size: Self.batchSize) { batch in
      for source in batch { try Self.naming(source) { try body(source) } }
      try save()
      try report(batch.count)
    }
  }

  /// An error that doesn't say where it happened, as those of policies, says of which source object it is.
  private static func naming(_ source: ManagedObject, _ body: () throws -> Void) throws {
    try PersistError.placing({ place in
      guard place.entity == nil, place.row == nil else { return }
      (place.entity, place.row) = (source.entity.name, source.key)
    }, body)
  }

  private func request(for step: CopyPlan.Step) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(step.source?.name ?? "")
    request.includesSubentities = false
    switch step.selection {
    case .all: break
    case .predicate(let predicate): request.predicate = predicate
    case .custom:
      guard case .fetch(let given, _, _)? = step.mapping.sourceExpression,
        case .object(let value as RequestValue) = try evaluator(step, policy(of: step)).value(of: given, for: .null)
      else {
        throw PersistError(
          .invalidRequest, at: .entity(step.source?.name ?? ""),
          "The source expression of '\(step.mapping.name)' gives no request.",
          fix: "Write it as FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", …), …).")
      }
      request = value.request
    }
    return request
  }

  private func save() throws {
    try destinationContext.save()
    for (origin, objects) in unsaved where !plan.steps[origin.step].isKeyed {
      for object in objects {
        let statement = try connection.statement(SQLText.addAssociation)
        statement.bind(Int64(origin.step), at: 1)
        statement.bind(origin.key, at: 2)
        statement.bind(Int64(object.entity.number), at: 3)
        statement.bind(object.key, at: 4)
        try statement.run()
      }
    }
    unsaved.removeAll(keepingCapacity: true)
    origins.removeAll(keepingCapacity: true)
    destinationContext.reservedKeys?.removeAll(keepingCapacity: true)
  }

  // MARK: The plain way

  func create(from source: ManagedObject, in mapping: EntityMapping, policy: EntityMigrationPolicy) throws {
    let step = try step(of: mapping)
    guard let destination = step.destination else { return }
    let object = ManagedObject(entity: destination, insertInto: destinationContext)
    try program(of: step, policy).setAttributes(of: object, from: source)
    // A policy may make several of one source; the first is the one that has its key.
    if step.selection != .custom, source.entity === step.source,
      unsaved[Origin(step: step.index, key: source.key)] == nil
    {
      destinationContext.reservedKeys?[object.key] = source.key + step.offset
    }
    note(object, from: source, step)
  }

  func relate(_ object: ManagedObject, in mapping: EntityMapping, policy: EntityMigrationPolicy) throws {
    let step = try step(of: mapping)
    let source = try current ?? sourceInstances(forEntityMapping: mapping.name, [object]).first
    guard let source else { return }
    try program(of: step, policy).setRelationships(of: object, from: source)
  }

  private func program(of step: CopyPlan.Step, _ policy: EntityMigrationPolicy) -> MappingProgram {
    if let program = programs[step.index] { return program }
    let program = MappingProgram(step, in: plan.new.model, evaluator(step, policy))
    programs[step.index] = program
    return program
  }

  private func evaluator(_ step: CopyPlan.Step, _ policy: EntityMigrationPolicy) -> ExpressionEvaluator {
    ExpressionEvaluator(
      variables: [
        MappingVariable.manager: .object(manager), MappingVariable.entityPolicy: .object(policy),
        MappingVariable.entityMapping: .object(EntityMappingValue(mapping: step.mapping)),
      ], now: now, calls: MappingCalls())
  }

  // MARK: Associations

  func associate(_ source: ManagedObject, with destination: ManagedObject, for mapping: EntityMapping) throws {
    note(destination, from: source, try step(of: mapping))
  }

  private func note(_ object: ManagedObject, from source: ManagedObject, _ step: CopyPlan.Step) {
    unsaved[Origin(step: step.index, key: source.key), default: []].append(object)
    if step.policy != nil { origins[ObjectIdentifier(object), default: []].append((step.index, source)) }
  }

  func destinationInstances(
    forEntityMapping name: String, _ sources: [ManagedObject]
  ) throws -> [ManagedObject] {
    let step = try step(named: name)
    return try sources.flatMap { try instances(of: step, for: $0) }
  }

  func destinationInstances(for sources: [ManagedObject]) throws -> [ManagedObject] {
    try sources.flatMap { source in
      try plan.steps.filter { $0.source === source.entity }.flatMap { try instances(of: $0, for: source) }
    }
  }

  private func instances(of step: CopyPlan.Step, for source: ManagedObject) throws -> [ManagedObject] {
    if let made = unsaved[Origin(step: step.index, key: source.key)] { return made }
    guard step.isKeyed, let destination = step.destination else { return try noted(step, source) }
    guard source.entity === step.source else { return [] }
    let id = ManagedObjectID(
      entityName: destination.name, storeIdentifier: storeIdentifier(of: destinationContext),
      key: .permanent(source.key + step.offset))
    if step.isComplete { return [destinationContext.object(with: id)] }
    return (try? destinationContext.existingObject(with: id)).map { [$0] } ?? []
  }

  private func noted(_ step: CopyPlan.Step, _ source: ManagedObject) throws -> [ManagedObject] {
    let statement = try connection.statement(SQLText.destinationsOfSource)
    statement.bind(Int64(step.index), at: 1)
    statement.bind(source.key, at: 2)
    var found: [ManagedObject] = []
    while try statement.step() {
      found.append(
        destinationContext.object(
          with: ManagedObjectID(
            entityName: plan.new.model.entities[Int(statement.integer(0)) - 1].name,
            storeIdentifier: storeIdentifier(of: destinationContext), key: .permanent(statement.integer(1)))))
    }
    statement.reset()
    return found
  }

  func sourceInstances(forEntityMapping name: String, _ destinations: [ManagedObject]) throws -> [ManagedObject] {
    let step = try step(named: name)
    return try destinations.flatMap { object -> [ManagedObject] in
      if let made = origins[ObjectIdentifier(object)]?.filter({ $0.step == step.index }), !made.isEmpty {
        return made.map(\.source)
      }
      guard let source = step.source, !object.objectID.isTemporary else { return [] }
      let keys: [Int64]
      if step.isKeyed {
        keys = object.entity === step.destination ? [object.key - step.offset] : []
      } else {
        keys = try sourceKeys(of: object, step)
      }
      return keys.compactMap { key in
        let id = ManagedObjectID(
          entityName: source.name, storeIdentifier: storeIdentifier(of: sourceContext), key: .permanent(key))
        guard let found = try? sourceContext.existingObject(with: id), found.entity === source else { return nil }
        return found
      }
    }
  }

  private func sourceKeys(of object: ManagedObject, _ step: CopyPlan.Step) throws -> [Int64] {
    let statement = try connection.statement(SQLText.sourcesOfDestination)
    statement.bind(Int64(step.index), at: 1)
    statement.bind(Int64(object.entity.number), at: 2)
    statement.bind(object.key, at: 3)
    var keys: [Int64] = []
    while try statement.step() { keys.append(statement.integer(0)) }
    statement.reset()
    return keys
  }

  private func storeIdentifier(of context: ManagedObjectContext) -> String {
    context.coordinator.openStores.first?.identifier ?? ""
  }

  private func step(of mapping: EntityMapping) throws -> CopyPlan.Step { try step(named: mapping.name) }

  private func step(named name: String) throws -> CopyPlan.Step {
    if let step = plan.steps.first(where: { $0.mapping.name == name }) { return step }
    throw PersistError(
      .invalidRequest, "The mapping model has no entity mapping '\(name)'.",
      fix: "It has \(plan.steps.map(\.mapping.name).joined(separator: ", ")).")
  }
}
