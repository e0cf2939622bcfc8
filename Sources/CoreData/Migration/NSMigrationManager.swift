public import Foundation
import Persist

/// Migrates a store to another file with a mapping model.
open class NSMigrationManager: NSObject {
  private let models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
  private var mapping = NSMappingModel()
  /// The model of the store that is migrated.
  open var sourceModel: NSManagedObjectModel { models.source }
  /// The model of the new store.
  open var destinationModel: NSManagedObjectModel { models.destination }
  /// Whether a store may migrate itself. Without effect here.
  open var usesStoreSpecificMigrationManager = true
  /// Data that policies share.
  open var userInfo: [AnyHashable: Any]?
  /// The mapping model of the running migration.
  open var mappingModel: NSMappingModel { mapping }
  let base: MigrationManagerBridge

  /// Creates a manager for migrations between two models. A model that can't be used stops the program.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    models = (sourceModel, destinationModel)
    do {
      base = MigrationManagerBridge(
        sourceModel: try sourceModel.persistModel(), destinationModel: try destinationModel.persistModel())
    } catch {
      stop("A model of the migration can't be used: \(error)")
    }
    super.init()
    base.manager = self
  }

  /// Adopts a manager that an automatic migration created.
  init(_ base: MigrationManagerBridge) {
    models = (
      NSManagedObjectModel(base.sourceModel, registry: nil), NSManagedObjectModel(base.destinationModel, registry: nil)
    )
    self.base = base
    super.init()
    base.adopt(self)
  }

  /// Migrates a store to another file.
  ///
  /// - Throws: An error with the code ``NSMigrationError`` and similar ones, and the errors of policies. The source
  ///   isn't changed.
  open func migrateStore(
    from source: URL, sourceType: String, options sourceOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL destination: URL, destinationType: String,
    destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try bridging {
      mapping =
        try mappings
        ?? NSMappingModel.inferredMappingModel(forSourceModel: models.source, destinationModel: models.destination)
      try base.migrateStore(
        from: source, to: destination, mappingModel: mapping.mapping(from: base.sourceModel, to: base.destinationModel),
        policies: MigrationPolicyBridge.policies)
    }
  }

  /// Migrates a store to another file.
  ///
  /// - Throws: An error with the code ``NSMigrationError`` and similar ones, and the errors of policies. The source
  ///   isn't changed.
  public final func migrateStore(
    from source: URL, type sourceType: NSPersistentStoreCoordinator.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel, to destination: URL,
    type destinationType: NSPersistentStoreCoordinator.StoreType, options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: source, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
      toDestinationURL: destination, destinationType: destinationType.rawValue, destinationOptions: destinationOptions)
  }

  /// Whether changes of a property are announced automatically. A subclass with a progress of its own announces it with
  /// ``didChangeValue(forKey:)`` in any case.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }

  /// Announces a change of a property. Without effect here: observers are called after it.
  open func willChangeValue(forKey key: String) {}

  /// Calls the observers of ``migrationProgress`` for a change that a subclass makes.
  open func didChangeValue(forKey key: String) {
    if key == "migrationProgress" { base.observers.set(migrationProgress) }
  }

  /// Does nothing: a manager has no state between migrations.
  open func reset() {}

  /// The progress from 0 to 1.
  open var migrationProgress: Float { Float(base.migrationProgress) }
  /// The entity mapping that is executed.
  open var currentEntityMapping: NSEntityMapping {
    base.currentEntityMapping.map { NSEntityMapping($0) } ?? NSEntityMapping()
  }
  /// The context of the source objects.
  open var sourceContext: NSManagedObjectContext { .of(base.sourceContext) }
  /// The context of the destination objects.
  open var destinationContext: NSManagedObjectContext { .of(base.destinationContext) }

  /// Returns the source entity of a mapping.
  open func sourceEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
    mapping.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// Returns the destination entity of a mapping.
  open func destinationEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
    mapping.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  /// Records that a mapping created a destination object from a source object.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for mapping: NSEntityMapping
  ) {
    attempt { try base.associate(source: sourceInstance, with: destinationInstance, for: mapping.mapping()) }
  }

  /// Returns the destination objects that were created from source objects.
  open func destinationInstances(
    forEntityMappingName name: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    instances { try base.destinationInstances(forEntityMapping: name, sourceInstances: sourceInstances ?? []) }
  }

  /// Returns the destination objects that were created from source objects.
  open func destinationInstances(
    forSourceRelationshipNamed name: String, sourceInstances: [NSManagedObject]
  ) -> [NSManagedObject] {
    instances { try base.destinationInstances(forSourceRelationshipNamed: name, sourceInstances: sourceInstances) }
  }

  /// Returns the source objects from which destination objects were created.
  open func sourceInstances(
    forEntityMappingName name: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    instances { try base.sourceInstances(forEntityMapping: name, destinationInstances: destinationInstances ?? []) }
  }

  /// Ends the migration, which throws the error.
  open func cancelMigrationWithError(_ error: any Error) { base.cancelMigration(with: error) }

  /// Calls one of the class's own methods by its selector, for `FUNCTION($manager, "selector:", …)` in mapping models.
  /// The source pass overrides it for the `@objc` methods of a class.
  ///
  /// - Returns: The method's result; nil if the class has no such method.
  open func callManaged(_ selector: String, _ arguments: ManagedArguments) throws -> ManagedResult? { nil }

  private func instances(_ body: () throws -> [ManagedObject]) -> [NSManagedObject] {
    var found: [ManagedObject] = []
    attempt { found = try body() }
    return found.compactMap { $0 as? NSManagedObject }
  }

  /// Lets an error that the caller has no way to throw end the migration.
  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { base.cancelMigration(with: error) }
  }
}

/// An object whose progress can be observed by key path.
public protocol ObservableMigration: NSMigrationManager {}

extension NSMigrationManager: ObservableMigration {}

extension ObservableMigration {
  /// Observes ``NSMigrationManager/migrationProgress``, the only property that changes by itself.
  ///
  /// - Returns: The observation, which ends when it is released.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    // A subclass's key path isn't equal to that of the property which it overrides; no other one is a Float.
    guard Value.self == Float.self else { stop("Only the progress of a migration can be observed.") }
    return base.observers.add(options) { [weak self] change in
      if let self, let change = change as? NSKeyValueObservedChange<Value> { changeHandler(self, change) }
    }
  }

  /// Announces a change of a property. Without effect here: observers are called after it.
  public func willChangeValue<Value>(for path: KeyPath<Self, Value>) {}

  /// Calls the observers of ``NSMigrationManager/migrationProgress`` for a change that a subclass makes.
  public func didChangeValue<Value>(for path: KeyPath<Self, Value>) {
    if Value.self == Float.self { didChangeValue(forKey: "migrationProgress") }
  }
}

/// Persist's manager on behalf of one of Core Data's.
final class MigrationManagerBridge: MigrationManager {
  weak var manager: NSMigrationManager?
  private var owned: NSMigrationManager?
  let observers = PropertyObservers<Float>(0)

  override init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    super.init(sourceModel: sourceModel, destinationModel: destinationModel)
    objectClass = NSManagedObject.self
    progress = { [observers] state in
      observers.set(Float(state.fraction))
      return true
    }
  }

  override func call(_ selector: String, arguments: [FetchValue]) throws -> FetchValue? {
    if let manager, let result = try manager.callManaged(selector, ManagedArguments(selector, arguments, of: manager)) {
      return try result.value()
    }
    return try super.call(selector, arguments: arguments)
  }

  /// Holds a manager that nothing else holds.
  func adopt(_ manager: NSMigrationManager) {
    self.manager = manager
    owned = manager
  }

  /// Creates the managers of automatic migrations.
  static func automatic(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> MigrationManager {
    let bridge = MigrationManagerBridge(sourceModel: source, destinationModel: destination)
    _ = NSMigrationManager(bridge)
    return bridge
  }
}
