public import Foundation

/// Runs a mapping model on a store, and serves its policies: which destination objects came from which source
/// objects, the contexts of both sides, and what policies tell each other.
///
/// `addStore(options: .automaticMigration)` makes one by itself. By hand:
///
/// ```swift
/// let manager = MigrationManager(sourceModel: shop1, destinationModel: shop2)
/// try manager.migrateStore(from: old, to: new, mappingModel: try .inferred(from: shop1, to: shop2))
/// ```
///
/// A subclass can add methods that expressions call by `FUNCTION($manager, "selector:", …)`.
open class MigrationManager {
  public let sourceModel: ManagedObjectModel
  public let destinationModel: ManagedObjectModel
  /// What policies share through the whole migration.
  public var userInfo: [String: Any] = [:]
  /// The mapping model that runs; nil before and after.
  public internal(set) var mappingModel: MappingModel?
  /// The entity mapping that runs.
  public internal(set) var currentEntityMapping: EntityMapping?
  /// From 0 to 1 while it runs; 0 before and after.
  public internal(set) var migrationProgress = 0.0
  /// Called as the migration proceeds; false cancels it.
  public var progress: ((MigrationProgress) -> Bool)?
  var objects: ObjectCopy?
  private var cancellation: (any Error)?

  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Whether a store with these metadata has a model, so that it needs no migration to it.
  public static func isCompatible(_ model: ManagedObjectModel, withMetadata metadata: StoreMetadata) -> Bool {
    model.isCompatible(withMetadata: metadata)
  }

  /// Migrates the store of a file into another file, and writes that into the log of the other one. The first one isn't
  /// changed.
  ///
  /// Where the other file is a store of the destination model already, the objects are added to it: several mapping
  /// models, each with a manager of its own, can so share one step.
  ///
  /// - Parameters:
  ///   - source: a store of ``sourceModel``.
  ///   - destination: where there is no file, or a store of ``destinationModel``. Where the migration fails, a new file
  ///     is taken away again.
  ///   - policies: the classes that the mapping model names.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` where the store has another model;
  ///   ``PersistenceError/Code/migrationCancelled``, or the error given to ``cancelMigration(with:)``;
  ///   ``PersistenceError/Code/missingMappingModel`` for a policy that isn't registered; what policies throw;
  ///   ``PersistenceError/Code/migrationFailed``.
  public func migrateStore(
    from source: URL, to destination: URL, mappingModel: MappingModel, policies: MigrationPolicies = []
  ) throws {
    let start = ContinuousClock.now
    let rows = try migrateStore(
      from: source, to: destination, mappingModel: mappingModel, policies: policies, coreDataHashes: nil)
    try MigrationLogEntry(
      date: Date(), from: mappingModel.sourceVersion ?? sourceModel.versionIdentifiers.first ?? mappingModel.name,
      to: mappingModel.destinationVersion ?? destinationModel.versionIdentifiers.first ?? mappingModel.name,
      way: .copy, rows: rows, seconds: (ContinuousClock.now - start) / .seconds(1)
    ).write(toStoreAt: destination)
  }

  /// - Returns: how many rows the source has; nil where counting them would take time.
  @discardableResult
  func migrateStore(
    from source: URL, to destination: URL, mappingModel: MappingModel, policies: MigrationPolicies,
    coreDataHashes: [String: Data]?, goesByObject: Bool = false
  ) throws -> Int? {
    self.mappingModel = mappingModel
    cancellation = nil
    migrationProgress = 0
    defer {
      self.mappingModel = nil
      currentEntityMapping = nil
      migrationProgress = 0
      objects = nil
    }
    return try CopyMigration(
      source: source, destination: destination, mappingModel: mappingModel, policies: policies, manager: self,
      coreDataHashes: coreDataHashes, goesByObject: goesByObject
    ).run()
  }

  /// Ends the migration at the next source object; ``migrateStore(from:to:mappingModel:policies:)`` throws the error.
  ///
  /// - Parameter error: nil for ``PersistenceError/Code/migrationCancelled``.
  public func cancelMigration(with error: (any Error)? = nil) {
    cancellation = error
      ?? PersistenceError(.migrationCancelled, "The migration was cancelled. The store is as it was.")
  }

  /// Tells how far the work is.
  ///
  /// - Throws: where it was cancelled.
  func report(_ state: MigrationProgress) throws {
    migrationProgress = max(migrationProgress, state.fraction)
    if progress?(state) == false { cancelMigration(with: cancellation) }
    if let cancellation { throw cancellation }
  }

  // MARK: What policies use

  /// The context of the source's objects, which are only read.
  public var sourceContext: ManagedObjectContext { running.sourceContext }

  /// The context of the destination's objects. The migration saves it after each batch.
  ///
  /// Objects that a policy holds, in ``userInfo`` for instance, stay usable after that; others are released. Where a
  /// policy reads ``ManagedObjectContext/registeredObjects``, all objects stay registered until the end, as in Core
  /// Data, and memory grows with the store. A fetch doesn't need them.
  public var destinationContext: ManagedObjectContext { running.destinationContext }

  private var running: ObjectCopy {
    guard let objects else { preconditionFailure("A manager has contexts only while a migration calls its policies.") }
    return objects
  }

  /// Notes that a destination object came from a source object by an entity mapping.
  public func associate(source: ManagedObject, with destination: ManagedObject, for mapping: EntityMapping) throws {
    try running.associate(source, with: destination, for: mapping)
  }

  /// The objects that an entity mapping made for source objects, in their order.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` where there is no such entity mapping.
  public func destinationInstances(
    forEntityMapping name: String, sourceInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    try running.destinationInstances(forEntityMapping: name, sourceInstances)
  }

  /// The objects that were made, by whatever entity mapping, for those at the other end of a source relationship.
  ///
  /// - Parameter sourceInstances: the related source objects, as `source.related(name)` gives them.
  public func destinationInstances(
    forSourceRelationshipNamed name: String, sourceInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    try running.destinationInstances(for: sourceInstances)
  }

  /// The source objects that destination objects came from by an entity mapping.
  public func sourceInstances(
    forEntityMapping name: String, destinationInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    try running.sourceInstances(forEntityMapping: name, destinationInstances)
  }

  /// The request for the objects of exactly a source entity for which a predicate holds.
  public func fetchRequest(
    forSourceEntityNamed name: String, predicateString: String
  ) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(name)
    request.includesSubentities = false
    request.predicate = try FetchPredicate(predicateString)
    return request
  }

  /// What `FUNCTION($manager, "selector:", …)` calls. An override answers its own names and leaves others to `super`.
  ///
  /// - Returns: the result; nil where there is no such method.
  open func call(_ selector: String, arguments: [FetchValue]) throws -> FetchValue? {
    guard arguments.count == 2, case .value(.string(let name)) = arguments[0] else { return nil }
    switch selector {
    case MappingSelector.destinationInstancesForMapping:
      return .objects(
        try destinationInstances(forEntityMapping: name, sourceInstances: arguments[1].managedObjects))
    case MappingSelector.destinationInstancesForRelationship:
      return .objects(
        try destinationInstances(forSourceRelationshipNamed: name, sourceInstances: arguments[1].managedObjects))
    case MappingSelector.sourceInstancesForMapping:
      return .objects(
        try sourceInstances(forEntityMapping: name, destinationInstances: arguments[1].managedObjects))
    case MappingSelector.fetchRequest:
      guard case .value(.string(let format)) = arguments[1] else { return nil }
      return .request(try fetchRequest(forSourceEntityNamed: name, predicateString: format))
    default: return nil
    }
  }

  // MARK: The plain way

  func createDestinationInstance(forSource source: ManagedObject, in mapping: EntityMapping) throws {
    try running.create(from: source, in: mapping)
  }

  func createRelationships(forDestination destination: ManagedObject, in mapping: EntityMapping) throws {
    try running.relate(destination, in: mapping)
  }
}
