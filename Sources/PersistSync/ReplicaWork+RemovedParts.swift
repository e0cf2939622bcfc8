import Foundation
import Persist

/// Changes of parts of the model that a migration has removed before the changes were captured.
///
/// Neither the rows nor the history show them any longer. The migration has parked the values, and they return in a
/// copy of the store that is migrated back. The changes are captured there, as they would have been before the
/// migration. Changes of all other parts are captured in the store itself, with the times of the history.
extension ReplicaWork {
  private struct FormerChanges {
    var facts: [(key: FactKey, value: Data)]
    /// The rows of created and deleted objects.
    var rows: [Identity: SyncTables.RowID]
  }

  /// Makes facts and change sets of these changes, if the last migration has removed something and anything was changed.
  func captureRemovedParts() throws -> AppliedSets {
    let (step, record, _) = try open()
    guard record.isBorn, record.model != tag, let former = try step.map.version(record.model),
      mappings.isInferred(from: former.tag, to: tag), !step.store.store.isEncrypted,
      try step.lacksPart(of: former), try hasUnknownChanges(step, record)
    else { return AppliedSets() }
    let changes: FormerChanges
    do {
      changes = try withCopy(of: step, former) { work in
        try work.changes(unknownTo: record, removed: step.removedEntities(of: former))
      }
    } catch let error as PersistenceError where !error.isOfHub && error.code != .storeBusy {
      return AppliedSets(waiting: [step.failure(former.model, error)])
    }
    return try repeating { _ in
      var (step, record, _) = try open()
      let facts = try changes.facts.filter { key, value in
        try !step.hasPlace(for: key, value) && step.tables.join(key, value)
      }
      guard !facts.isEmpty else { return AppliedSets() }
      // Their rows are parked, and may come back.
      for case (.life(let identity), _) in facts { try step.tables.setRow(of: identity, to: changes.rows[identity]) }
      try addSets(facts, &record, step)
      step.tables.setRecord(record)
      try write(step)
      return AppliedSets(waiting: step.map.failures)
    }
  }

  private func hasUnknownChanges(_ step: SyncStep, _ record: ReplicaRecord) throws -> Bool {
    guard try step.history.extent().isComplete(after: record.position) else { return true }
    var found = false
    var query = HistoryQuery(afterNumber: record.position)
    query.includesChanges = false
    try step.history.forEachTransaction(query) { transaction in
      if transaction.author != Replica.author, !transaction.isMigration { found = true }
    }
    return found
  }

  /// Runs a closure with a copy of the store that has been migrated to a former model.
  private func withCopy<Result>(
    of step: SyncStep, _ former: ModelMap, _ body: (ReplicaWork) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-sync-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("copy.sqlite")
    guard let store = coordinator.persistentStores.first(where: { $0.identifier == storeIdentifier }) else {
      throw PersistenceError(
        .invalidRequest, "The store of the replica is no longer open.", fix: "Add it to the coordinator again.")
    }
    try coordinator.backUp(store, to: url)
    let versions = [("former", former.model), ("present", step.model)].map { ModelVersion(name: $0, model: $1) }
    let copy = PersistentStoreCoordinator(model: former.model, registry: ModelRegistry(versions: versions))
    var options = StoreOptions(migrator: AutomaticMigrator(downgrade: .withLoss))
    options.tracksHistory = true
    options.pragmas["synchronous"] = "OFF"
    try copy.addStore(at: url, options: options)
    defer { for store in copy.persistentStores { try? copy.remove(store) } }
    let known = mappings.known(to: former.tag)
    let formerSchema = try SyncSchema(
      former.model, identifiedBy: step.formerIdentifiers(former), among: coordinator.registry?.versions ?? [],
      mappings: known, holdsNullCharacters: step.store.store.holdsNullCharacters)
    return try body(
      ReplicaWork(
        coordinator: copy, storeIdentifier: storeIdentifier, schema: formerSchema, tag: former.tag, sources: sources,
        mappings: known))
  }

  /// The changes that a record of the replica doesn't know, as facts.
  ///
  /// - Parameter removed: The entities whose changes the history no longer has.
  private func changes(unknownTo known: ReplicaRecord, removed: Set<String>) throws -> FormerChanges {
    var (step, record, _) = try open()
    // The copy isn't a replica of its own.
    record.id = known.id
    var pass = CapturePass(step, record, times: sources.times())
    pass.removedEntities = removed
    _ = try pass.run()
    var changes = FormerChanges(facts: pass.facts, rows: [:])
    for case (.life(let identity), _) in pass.facts { changes.rows[identity] = try step.tables.row(of: identity) }
    return changes
  }
}

extension SyncStep {
  /// Whether the model lacks a part of a former one.
  fileprivate func lacksPart(of former: ModelMap) throws -> Bool {
    let schema = try SyncSchema(former.model, identifiedBy: [:])
    return try former.model.entities.contains { entity in
      guard try map.entityName(entity.name, in: former.tag) != nil else { return true }
      let part = schema[entity]
      let names = part.attributes.map(\.name) + part.relationships.map(\.name)
      return try names.contains { name in
        try !hasPlace(for: PropertyName(model: former.tag, entity: entity.name, name: name))
      }
    }
  }

  /// The entities of a former model that the model lacks.
  fileprivate func removedEntities(of former: ModelMap) throws -> Set<String> {
    Set(try former.model.entities.map(\.name).filter { try map.entityName($0, in: former.tag) == nil })
  }

  /// The identifying attributes in a former model.
  fileprivate func formerIdentifiers(_ former: ModelMap) throws -> [String: String] {
    var identifiers: [String: String] = [:]
    for entity in former.model.entities {
      guard let own = try map.entityName(entity.name, in: former.tag).flatMap({ model.entitiesByName[$0] }),
        let (_, attribute) = schema[own].identifier
      else { continue }
      identifiers[entity.name] = try entity.properties.map(\.name).first { name in
        try map.name(of: PropertyName(model: former.tag, entity: entity.name, name: name), in: own) == attribute.name
      }
    }
    // Subentities are identified as objects of their superentities.
    return identifiers.filter { name, _ in
      guard let parent = former.model.entitiesByName[name]?.superentity else { return true }
      return !sequence(first: parent, next: \.superentity).contains { identifiers[$0.name] != nil }
    }
  }

  /// Whether the model has a place for what a fact says.
  fileprivate func hasPlace(for key: FactKey, _ value: Data) throws -> Bool {
    if case .life = key {
      let life = try Life(value)
      return try map.entityName(life.entity, in: life.model) != nil
    }
    guard let property = key.property else { return true }
    guard case .place = key else { return try hasPlace(for: property) }
    return try place(of: property).flatMap { $0.part.relationship($0.name) }?.isOrdered == true
  }

  private func hasPlace(for property: PropertyName) throws -> Bool {
    guard let (part, name) = try place(of: property) else { return false }
    return part.attribute(name) != nil || part.relationship(name) != nil
  }

  /// The own entity and name of a property; nil if the model has no place for it.
  private func place(of property: PropertyName) throws -> (part: SyncSchema.EntityPart, name: String)? {
    guard let entity = try map.entityName(property.entity, in: property.model).flatMap({ model.entitiesByName[$0] }),
      let name = try map.name(of: property, in: entity)
    else { return nil }
    return (schema[entity], name)
  }

  /// The error for changes that wait in the store.
  fileprivate func failure(_ former: ManagedObjectModel, _ error: PersistenceError) -> PersistenceError {
    func name(_ model: ManagedObjectModel) -> String { model.description.versionIdentifiers.joined(separator: ", ") }
    return PersistenceError(
      .mappingAmbiguous,
      "Changes of parts that '\(name(former))' has and '\(name(model))' lacks remain parked in the store, and aren't "
        + "sent: a copy of it can't be migrated back.", fix: error.fix, errors: [error])
  }
}
