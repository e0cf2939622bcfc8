/// The policy classes that mapping models may name.
///
/// Classes are never created from text: only those that the program provides are used. A class is found by its name
/// with or without a module, because mapping models name the module of the application for which they were made.
public struct MigrationPolicies: Sendable, ExpressibleByArrayLiteral {
  private static let registered = LockProtected<[String: EntityMigrationPolicy.Type]>(Dictionary())
  private var classes: [String: EntityMigrationPolicy.Type] = Dictionary()
  /// The class under all other names.
  package var other: EntityMigrationPolicy.Type?

  /// Registers classes under their own names.
  public init(_ classes: [EntityMigrationPolicy.Type] = []) {
    for type in classes { self.classes[String(describing: type)] = type }
  }

  public init(arrayLiteral elements: EntityMigrationPolicy.Type...) { self.init(elements) }

  /// Registers a class under a different name.
  public mutating func register(_ type: EntityMigrationPolicy.Type, as name: String) { classes[name] = type }

  /// Registers classes for every migration of the process.
  public static func register(_ classes: EntityMigrationPolicy.Type...) {
    registered.withLock { names in
      for type in classes { names[String(describing: type)] = type }
    }
  }

  /// The class with a name; nil if none is registered.
  public subscript(name: String) -> EntityMigrationPolicy.Type? {
    let short = name.split(separator: ".").last.map(String.init) ?? name
    return classes[name] ?? classes[short] ?? Self.registered.withLock { $0[name] ?? $0[short] } ?? other
  }

  func policy(named name: String, for mapping: EntityMapping) throws -> EntityMigrationPolicy.Type {
    if let type = self[name] { return type }
    throw PersistenceError(
      .missingMappingModel, at: .entity(mapping.destinationEntityName ?? mapping.sourceEntityName ?? ""),
      "The entity mapping '\(mapping.name)' needs the policy class '\(name)', which isn't registered.",
      fix: "Subclass EntityMigrationPolicy under this name and pass the class: AutomaticMigrator(policies: […]). Only "
        + "the application can run it; `persist plan --policies \(name)` assumes that it does.")
  }
}
