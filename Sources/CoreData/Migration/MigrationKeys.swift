// The names of variables that the expressions of mapping models may use.

/// The variable for the migration manager.
public let NSMigrationManagerKey = "manager"
/// The variable for the source object.
public let NSMigrationSourceObjectKey = "source"
/// The variable for the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable for the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable for the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable for the entity mapping's policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"
