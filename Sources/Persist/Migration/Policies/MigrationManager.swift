/// Runs a mapping model on a store, and provides its policies with the associations of source and destination objects,
/// the contexts of both sides, and shared data.
///
/// `addStore(options: .automaticMigration)` creates one itself. To run one manually:
///
/// ```swift
/// let manager = MigrationManager(sourceModel: shop1, destinationModel: shop2)
/// try manager.migrateStore(from: old, to: new, mappingModel: try .inferred(from: shop1, to: shop2))
/// ```
///
/// Subclasses can add methods that expressions call with `FUNCTION($manager, "selector:", …)`.
open class MigrationManager {
  /// The model of the store that is read.
  public let sourceModel: ManagedObjectModel
  /// The model of the store that is created or added to.
  public let destinationModel: ManagedObjectModel
  /// Data that policies share during the whole migration.
  public var userInfo: [String: Any] = Dictionary()
  /// The running mapping model; nil before and after.
  public internal(set) var mappingModel: MappingModel?
  /// The running entity mapping.
  public internal(set) var currentEntityMapping: EntityMapping?
  /// The progress from 0 to 1; 0 before and after the migration.
  public internal(set) var migrationProgress = 0.0
  /// Called as the migration proceeds; returning false cancels it.
  public var progress: ((MigrationProgress) -> Bool)?
  /// The class of the objects in both contexts.
  package var objectClass: ManagedObject.Type = ManagedObject.self
  /// The parked values that are restored in the copy afterward.
  var parked = ParkedReturn()
  /// The running copy; nil while none calls policies.
  var copy: (any PolicyCopy)?
  private var cancellation: (any Error)?

  /// Creates a manager for migrating stores from one model to another. It can run one migration after another.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Whether a store with this metadata has the given model, so that it needs no migration.
  public static func isCompatible(_ model: ManagedObjectModel, withMetadata metadata: StoreMetadata) -> Bool {
    model.isCompatible(withMetadata: metadata)
  }

  func begin(_ mappingModel: MappingModel) {
    self.mappingModel = mappingModel
    cancellation = nil
    migrationProgress = 0
  }

  func end() {
    mappingModel = nil
    currentEntityMapping = nil
    migrationProgress = 0
    copy = nil
  }

  /// Aborts the migration at the next source object; ``migrateStore(from:to:mappingModel:policies:)`` throws the error.
  ///
  /// - Parameter error: the error to throw; nil for ``PersistenceError/Code/migrationCancelled``.
  public func cancelMigration(with error: (any Error)? = nil) {
    cancellation = error
      ?? PersistenceError(.migrationCancelled, "The migration was canceled. The store is unchanged.")
  }

  /// Reports the progress.
  ///
  /// - Throws: an error if the migration was canceled.
  func report(_ state: MigrationProgress) throws {
    migrationProgress = max(migrationProgress, state.fraction)
    if progress?(state) == false { cancelMigration(with: cancellation) }
    if let cancellation { throw cancellation }
  }

  // MARK: API for policies

  /// The context of the source objects, which is read-only.
  public var sourceContext: ManagedObjectContext { running.sourceContext }

  /// The context of the destination objects. The migration saves it after each batch.
  ///
  /// Objects that a policy retains, for example in ``userInfo``, remain usable after that; others are released. If a
  /// policy reads ``ManagedObjectContext/registeredObjects``, all objects stay registered until the end, as in Core
  /// Data, and memory use grows with the store. A fetch doesn't have this effect.
  public var destinationContext: ManagedObjectContext { running.destinationContext }

  private var running: any PolicyCopy {
    guard let copy else { preconditionFailure("A manager has contexts only while a migration calls its policies.") }
    return copy
  }

  /// Records that an entity mapping created a destination object from a source object.
  public func associate(source: ManagedObject, with destination: ManagedObject, for mapping: EntityMapping) throws {
    try running.associate(source, with: destination, for: mapping)
  }

  /// The objects that an entity mapping created from source objects, in the order of the sources.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if there is no such entity mapping.
  public func destinationInstances(
    forEntityMapping name: String, sourceInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    try running.destinationInstances(forEntityMapping: name, sourceInstances)
  }

  /// The objects that any entity mapping created from those at the other end of a source relationship.
  ///
  /// - Parameters:
  ///   - name: the name of the source relationship.
  ///   - sourceInstances: the related source objects, as returned by `source.related(name)`.
  public func destinationInstances(
    forSourceRelationshipNamed name: String, sourceInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    try running.destinationInstances(for: sourceInstances)
  }

  /// The source objects from which an entity mapping created destination objects.
  public func sourceInstances(
    forEntityMapping name: String, destinationInstances: [ManagedObject]
  ) throws -> [ManagedObject] {
    try running.sourceInstances(forEntityMapping: name, destinationInstances)
  }

  /// Returns a request for the objects of exactly a source entity for which a predicate holds.
  public func fetchRequest(
    forSourceEntityNamed name: String, predicateString: String
  ) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(name)
    request.includesSubentities = false
    request.predicate = try FetchPredicate(predicateString)
    return request
  }

  /// Implements `FUNCTION($manager, "selector:", …)`. An override handles its own selectors and passes others to
  /// `super`.
  ///
  /// - Returns: the result; nil if there is no such method.
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

  // MARK: Default behavior

  func createDestinationInstance(forSource source: ManagedObject, in mapping: EntityMapping) throws {
    try running.create(from: source, in: mapping)
  }

  func createRelationships(forDestination destination: ManagedObject, in mapping: EntityMapping) throws {
    try running.relate(destination, in: mapping)
  }
}
