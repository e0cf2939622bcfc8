/// The check of the names in a mapping model.
extension CopyPlanner {
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for a property that the destination doesn't have, or is of the
  ///   other kind and would be ignored.
  func checkNames(of mapping: EntityMapping, creating destination: Entity) throws {
    let kinds = [(mapping.attributeMappings, "an attribute"), (mapping.relationshipMappings, "a relationship")]
    for (isAttribute, (properties, kind)) in zip([true, false], kinds) {
      for name in properties.map(\.name) {
        let property = destination.property(named: name)
        if let property, (property.attribute != nil) == isAttribute { continue }
        throw PersistenceError(
          .unknownProperty, at: .property(destination.name, name),
          property == nil
            ? "The entity mapping '\(mapping.name)' maps '\(name)', which '\(destination.name)' doesn't have."
            : "The entity mapping '\(mapping.name)' maps '\(name)' as \(kind), which it isn't.",
          fix: property == nil
            ? "Remove the property mapping, or name one of the destination's properties."
            : "Move the property mapping to '\(isAttribute ? "relationshipMappings" : "attributeMappings")'.")
      }
    }
  }

  /// Finds what would fail with the first row.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for a key that the source doesn't have, and
  ///   ``PersistenceError/Code/invalidPredicate`` for a variable without a value.
  func checkExpressions(of mapping: EntityMapping, over source: Entity?) throws {
    let variables = MappingVariable.all(hasSource: source != nil)
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      guard let expression = property.valueExpression else { continue }
      do {
        if let unknown = expression.variables.subtracting(variables).min() {
          throw PersistenceError(
            .invalidPredicate, at: PersistenceError.Place(entity: mapping.destinationEntityName),
            "The variable $\(unknown) has no value.",
            fix: "The variables are \(variables.map { "$" + $0 }.joined(separator: ", ")).")
        }
        try checkCalls(in: expression, over: source)
        guard let source else { continue }
        try PredicateCheck.check(expression, where: MappingVariable.source, is: source, in: old.model)
      } catch var error as PersistenceError {
        error.message = "The value of '\(property.name)' in the entity mapping '\(mapping.name)': \(error.message)"
        throw error
      }
    }
    guard let source, case .predicate(let predicate) = Self.selection(of: mapping) else { return }
    try PredicateCheck.check(predicate, over: source, in: old.model)
  }

  /// Checks the relationships that are the first arguments of the manager's methods.
  ///
  /// An entity mapping that doesn't exist may have been removed: what it would have created counts as lost.
  private func checkCalls(in expression: FetchExpression, over source: Entity?) throws {
    if case .call(on: .variable(MappingVariable.manager), let selector, let arguments) = expression,
      selector == MappingSelector.destinationInstancesForRelationship,
      case .string(let name)? = arguments.first?.constantValue, let source,
      !old.model.hierarchy(of: source).contains(where: { $0.relationship(named: name) != nil })
    {
      throw PersistenceError(
        .unknownProperty, at: .property(source.name, name), "'\(source.name)' has no relationship '\(name)'.",
        fix: "Name a relationship of the source entity.")
    }
    for part in expression.parts { try checkCalls(in: part, over: source) }
  }
}
