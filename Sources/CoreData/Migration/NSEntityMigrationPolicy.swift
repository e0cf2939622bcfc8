public import Foundation
import Persist

/// The rules by which the objects of an entity mapping are migrated.
open class NSEntityMigrationPolicy: NSObject {
  fileprivate weak var bridge: MigrationPolicyBridge?

  /// Creates the policy of one entity mapping.
  public required override init() { super.init() }

  /// Prepares the migration of the mapping's objects.
  ///
  /// - Throws: An error that ends the migration.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Creates the destination objects for a source object and associates them; by default one, with the attributes that
  /// the mapping's expressions give.
  ///
  /// - Throws: An error that ends the migration.
  open func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try bridge?.createStandardInstances(forSource: source, in: mapping)
  }

  /// Ends the first pass of the mapping.
  ///
  /// - Throws: An error that ends the migration.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of a destination object, by default by the mapping's expressions.
  ///
  /// - Throws: An error that ends the migration.
  open func createRelationships(
    forDestination destination: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try bridge?.createStandardRelationships(forDestination: destination, in: mapping)
  }

  /// Ends the second pass of the mapping.
  ///
  /// - Throws: An error that ends the migration.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Validates the migrated objects.
  ///
  /// - Throws: An error that ends the migration.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Ends the migration of the mapping's objects.
  ///
  /// - Throws: An error that ends the migration.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Calls one of the class's own methods by its selector, for `FUNCTION($entityPolicy, "selector:", …)` in mapping
  /// models. The source pass overrides it for the `@objc` methods of a class.
  ///
  /// - Returns: The method's result; nil if the class has no such method.
  open func callManaged(_ selector: String, _ arguments: ManagedArguments) throws -> ManagedResult? { nil }
}

/// Calls a policy of Core Data's from a migration of Persist's.
final class MigrationPolicyBridge: EntityMigrationPolicy {
  private(set) var policy = NSEntityMigrationPolicy()
  private var mapping = NSEntityMapping()
  /// The arguments of the call that the policy may delegate.
  private var current: (mapping: EntityMapping, manager: MigrationManager)?

  required init() {}

  /// The bridge under every name.
  static var policies: MigrationPolicies {
    var policies = MigrationPolicies()
    policies.other = self
    return policies
  }

  private func call(
    _ mapping: EntityMapping, by manager: MigrationManager, _ body: (NSMigrationManager) throws -> Void
  ) throws {
    guard let manager = (manager as? MigrationManagerBridge)?.manager else {
      throw Self.failure(mapping, "The migration has no NSMigrationManager, or it was released while it ran.")
    }
    let former = current
    current = (mapping, manager.base)
    defer { current = former }
    try body(manager)
  }

  private static func failure(_ mapping: EntityMapping, _ message: String) -> PersistenceError {
    PersistenceError(
      PersistenceError.Code(NSEntityMigrationPolicyError, "migrationFailed"),
      at: .entity(mapping.destinationEntityName ?? mapping.sourceEntityName ?? ""),
      "The policy '\(mapping.policyName ?? "")' of the entity mapping '\(mapping.name)' can't be called. \(message)",
      fix: "Migrate with an NSMigrationManager of this module, or with the options of a persistent store coordinator.")
  }

  private static func object(_ object: ManagedObject, _ mapping: EntityMapping) throws -> NSManagedObject {
    if let object = object as? NSManagedObject { return object }
    throw failure(mapping, "The migration's objects are of class \(type(of: object)), not NSManagedObject.")
  }

  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    let name = mapping.policyName ?? ""
    guard let type = RuntimeTypes.type(named: name, inheritingFrom: NSEntityMigrationPolicy.self) else {
      throw PersistenceError(
        PersistenceError.Code(NSEntityMigrationPolicyError, "migrationFailed"),
        at: .entity(mapping.destinationEntityName ?? ""), "There is no migration policy with the name '\(name)'.",
        fix: "Link the class, or correct its name in the mapping model.")
    }
    policy = type.init()
    policy.bridge = self
    self.mapping = NSEntityMapping(mapping)
    try call(mapping, by: manager) { try policy.begin(self.mapping, with: $0) }
  }

  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try Self.object(source, mapping)
    try call(mapping, by: manager) {
      try policy.createDestinationInstances(forSource: object, in: self.mapping, manager: $0)
    }
  }

  override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, by: manager) { try policy.endInstanceCreation(forMapping: self.mapping, manager: $0) }
  }

  override func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try Self.object(destination, mapping)
    try call(mapping, by: manager) {
      try policy.createRelationships(forDestination: object, in: self.mapping, manager: $0)
    }
  }

  override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, by: manager) { try policy.endRelationshipCreation(forMapping: self.mapping, manager: $0) }
  }

  override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, by: manager) { try policy.performCustomValidation(forMapping: self.mapping, manager: $0) }
  }

  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, by: manager) { try policy.end(self.mapping, manager: $0) }
  }

  override func call(_ selector: String, arguments: [FetchValue]) throws -> FetchValue? {
    try policy.callManaged(selector, ManagedArguments(selector, arguments, of: policy))?.value()
  }

  fileprivate func createStandardInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping
  ) throws {
    let current = try standard(mapping)
    try super.createDestinationInstances(forSource: source, in: current.mapping, manager: current.manager)
  }

  fileprivate func createStandardRelationships(
    forDestination destination: NSManagedObject, in mapping: NSEntityMapping
  ) throws {
    let current = try standard(mapping)
    try super.createRelationships(forDestination: destination, in: current.mapping, manager: current.manager)
  }

  /// The mapping that a policy passes to `super`, which may be a changed copy of the one that it got.
  private func standard(_ mapping: NSEntityMapping) throws -> (mapping: EntityMapping, manager: MigrationManager) {
    guard let current else {
      throw PersistenceError(
        PersistenceError.Code(NSEntityMigrationPolicyError, "migrationFailed"),
        "A method of NSEntityMigrationPolicy was called outside of a migration's passes.",
        fix: "Call super only from the overriding method.")
    }
    return (mapping.mapping(), current.manager)
  }
}
