/// The expressions that mapping models are made of.
extension FetchExpression {
  /// `$source.key…`: the value at keys from the source object.
  public static func source(_ keyPath: String) -> FetchExpression {
    .path(of: .variable(MappingVariable.source), keyPath.split(separator: ".").map(String.init))
  }

  /// The objects that an entity mapping made for source objects.
  ///
  /// - Parameters:
  ///   - mapping: the entity mapping's name.
  ///   - sources: what leads to the source objects, such as `.source("owner")`.
  public static func destinationInstances(
    ofMapping mapping: String, for sources: FetchExpression
  ) -> FetchExpression {
    .call(
      on: .variable(MappingVariable.manager), selector: MappingSelector.destinationInstancesForMapping,
      [.constant(.string(mapping)), sources])
  }

  /// The objects that were made, by whatever entity mapping, for those at the other end of a source relationship.
  public static func destinationInstances(
    ofRelationship name: String, for sources: FetchExpression? = nil
  ) -> FetchExpression {
    .call(
      on: .variable(MappingVariable.manager), selector: MappingSelector.destinationInstancesForRelationship,
      [.constant(.string(name)), sources ?? .source(name)])
  }

  /// The objects of exactly a source entity for which a predicate holds: an entity mapping's source expression.
  ///
  /// - Parameter predicate: in the format language.
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
}

/// The names by which mapping models call the manager's methods, those of Core Data.
enum MappingSelector {
  static let destinationInstancesForMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  static let destinationInstancesForRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  static let sourceInstancesForMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
  static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
}
