public import Foundation
import Persist

/// The rules by which the objects of an entity mapping are migrated.
open class NSEntityMigrationPolicy: NSObject {
  fileprivate weak var bridge: MigrationPolicyBridge?

  public required override init() { super.init() }

  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  open func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try bridge?.createStandardInstances(forSource: source)
  }

  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  open func createRelationships(
    forDestination destination: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try bridge?.createStandardRelationships(forDestination: destination)
  }

  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

/// Calls a policy of Core Data's from a migration of Persist's.
final class MigrationPolicyBridge: EntityMigrationPolicy {
  private var policy = NSEntityMigrationPolicy()
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
    _ mapping: EntityMapping, _ manager: MigrationManager, _ body: (NSMigrationManager) throws -> Void
  ) throws {
    guard let manager = (manager as? MigrationManagerBridge)?.manager else { return }
    current = (mapping, manager.base)
    try body(manager)
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
    try call(mapping, manager) { try policy.begin(self.mapping, with: $0) }
  }

  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let object = source as? NSManagedObject else { return }
    try call(mapping, manager) {
      try policy.createDestinationInstances(forSource: object, in: self.mapping, manager: $0)
    }
  }

  override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, manager) { try policy.endInstanceCreation(forMapping: self.mapping, manager: $0) }
  }

  override func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let object = destination as? NSManagedObject else { return }
    try call(mapping, manager) {
      try policy.createRelationships(forDestination: object, in: self.mapping, manager: $0)
    }
  }

  override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, manager) { try policy.endRelationshipCreation(forMapping: self.mapping, manager: $0) }
  }

  override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, manager) { try policy.performCustomValidation(forMapping: self.mapping, manager: $0) }
  }

  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    try call(mapping, manager) { try policy.end(self.mapping, manager: $0) }
  }

  fileprivate func createStandardInstances(forSource source: NSManagedObject) throws {
    guard let current else { return }
    try super.createDestinationInstances(forSource: source, in: current.mapping, manager: current.manager)
  }

  fileprivate func createStandardRelationships(forDestination destination: NSManagedObject) throws {
    guard let current else { return }
    try super.createRelationships(forDestination: destination, in: current.mapping, manager: current.manager)
  }
}
