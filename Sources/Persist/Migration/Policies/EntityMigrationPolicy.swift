/// Custom behavior of an entity mapping beyond its expressions: a class to subclass.
///
/// Each entity mapping that names the class has its own instance, which exists through all three passes. The base class
/// does what Core Data's does: it creates one destination object for each source object, sets its attributes from the
/// mapping's expressions, and later its relationships.
///
/// ```swift
/// final class SplitSections: EntityMigrationPolicy {
///   override func createDestinationInstances(
///     forSource post: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
///   ) throws {
///     try super.createDestinationInstances(forSource: post, in: mapping, manager: manager)
///     let copy = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [post])[0]
///     let section = try manager.destinationContext.create("Section")
///     section["title"] = String((post["content"] as? String ?? "").prefix(4))
///     section["post"] = copy
///   }
/// }
/// let migrator = AutomaticMigrator(policies: [SplitSections.self])
/// ```
///
/// Objects on both sides are dynamic: classes of neither version are needed.
open class EntityMigrationPolicy {
  /// Creates the instance for one entity mapping; called once per mapping and migration.
  public required init() {}

  /// Called before the first source object of the mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// First pass: creates the destination objects for a source object.
  ///
  /// By default, creates one object, sets its attributes from the mapping's expressions and associates the two objects.
  /// An override may call `super` with a modified copy of the mapping. For objects that it creates itself it has to
  /// call ``MigrationManager/associate(source:with:for:)``, so that relationships find them.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createDestinationInstance(forSource: source, in: mapping)
  }

  /// Called after the last source object of the mapping.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Second pass: sets the relationships of a destination object, by default from the mapping's expressions. An
  /// override may call `super` with a modified copy of the mapping.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createRelationships(forDestination: destination, in: mapping)
  }

  /// Called after the relationships of the mapping's last destination object have been set.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Third pass: validates the result. A thrown error aborts the migration, and the old store remains.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called at the end of the mapping.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Implements `FUNCTION($entityPolicy, "selector:", …)` in the mapping's expressions.
  ///
  /// ```swift
  /// override func call(_ selector: String, arguments: [FetchValue]) throws -> FetchValue? {
  ///   guard selector == "initials:", case .value(.string(let name)) = arguments[0] else { return nil }
  ///   return .value(.string(name.split(separator: " ").compactMap(\.first).map(String.init).joined()))
  /// }
  /// ```
  ///
  /// - Returns: the result; nil if there is no such method.
  open func call(_ selector: String, arguments: [FetchValue]) throws -> FetchValue? { nil }
}

extension EntityMigrationPolicy: KeyedObject {
  /// Returns the result of ``call(_:arguments:)`` without arguments, for `$entityPolicy.key` in expressions.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if there is no such method; the method's errors.
  public func fetchValue(forKey key: String) throws -> FetchValue {
    if let value = try call(key, arguments: []) { return value }
    throw PersistenceError(
      .unknownProperty, "The policy \(type(of: self)) has no '\(key)'.", fix: "Implement it in call(_:arguments:).")
  }

  /// The class's name: an instance isn't identified any further.
  public var fetchIdentity: StoredValue { .string(String(reflecting: type(of: self))) }
  /// Nil: a policy isn't an object of an entity.
  public var fetchEntityName: String? { nil }
}
