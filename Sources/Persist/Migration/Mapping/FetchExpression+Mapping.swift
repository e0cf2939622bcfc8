/// The standard expressions of mapping models.
extension FetchExpression {
  /// `$source.key…`: the value at a key path from the source object.
  public static func source(_ keyPath: String) -> FetchExpression {
    .path(of: .variable(MappingVariable.source), keyPath.dottedKeys)
  }

  /// The objects that an entity mapping created from source objects.
  ///
  /// - Parameters:
  ///   - mapping: the entity mapping's name.
  ///   - sources: an expression for the source objects, such as `.source("owner")`.
  public static func destinationInstances(
    ofMapping mapping: String, for sources: FetchExpression
  ) -> FetchExpression {
    .call(
      on: .variable(MappingVariable.manager), selector: MappingSelector.destinationInstancesForMapping,
      [.constant(.string(mapping)), sources])
  }

  /// The objects that any entity mapping created from those at the other end of a source relationship.
  public static func destinationInstances(
    ofRelationship name: String, for sources: FetchExpression? = nil
  ) -> FetchExpression {
    .call(
      on: .variable(MappingVariable.manager), selector: MappingSelector.destinationInstancesForRelationship,
      [.constant(.string(name)), sources ?? .source(name)])
  }

  /// The objects of exactly a source entity for which a predicate holds, for an entity mapping's source expression.
  ///
  /// - Parameters:
  ///   - entity: the name of the source entity.
  ///   - predicate: a predicate in the format language.
  public static func sourceObjects(of entity: String, where predicate: String = "TRUEPREDICATE") -> FetchExpression {
    .fetch(
      request: .call(
        on: .variable(MappingVariable.manager), selector: MappingSelector.fetchRequest,
        [.constant(.string(entity)), .constant(.string(predicate))]),
      context: .path(of: .variable(MappingVariable.manager), ["sourceContext"]), countOnly: false)
  }
}

/// The names of the variables in a mapping model's expressions.
enum MappingVariable {
  static let source = "source"
  static let destination = "destination"
  static let manager = "manager"
  static let entityMapping = "entityMapping"
  static let entityPolicy = "entityPolicy"

  static func all(hasSource: Bool) -> [String] {
    (hasSource ? [source] : []) + [destination, manager, entityMapping, entityPolicy]
  }
}

/// The selectors with which mapping models call the manager's methods; they are Core Data's.
enum MappingSelector {
  static let destinationInstancesForMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  static let destinationInstancesForRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  static let sourceInstancesForMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
  static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
}
