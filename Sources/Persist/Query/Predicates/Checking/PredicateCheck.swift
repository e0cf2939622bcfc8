/// Validates a predicate against an entity: finds unknown keys and variables without a value.
///
/// A request is checked before it runs, so that a wrong key is reported even if the store has no rows.
package struct PredicateCheck {
  /// The kind of an expression's result, as far as the model defines it.
  private enum Target {
    case object(Entity)
    case objects(Entity)
    /// A value, or the result of a function: not inspected.
    case value
  }

  private let model: ManagedObjectModel
  private let entity: Entity
  private var bound: [String: Target] = Dictionary()
  /// Whether variables without a known entity have values, and a path may lead to a property of subentities.
  private var knowsLittle = false

  private init(_ entity: Entity, in model: ManagedObjectModel) {
    self.entity = entity
    self.model = model
  }

  /// - Throws: ``PersistenceError/Code/unknownProperty`` for an unknown key, ``PersistenceError/Code/invalidPredicate``
  ///   for a variable that wasn't substituted.
  package static func check(_ predicate: FetchPredicate, over entity: Entity, in model: ManagedObjectModel) throws {
    try PredicateCheck(entity, in: model).check(predicate)
  }

  /// Validates the paths of an expression that begin with a variable; other variables may have any value.
  ///
  /// - Parameter variable: The variable for an object of the entity.
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for an unknown key.
  package static func check(
    _ expression: FetchExpression, where variable: String, is entity: Entity, in model: ManagedObjectModel
  ) throws {
    var check = PredicateCheck(entity, in: model)
    check.bound[variable] = .object(entity)
    check.knowsLittle = true
    _ = try check.target(of: expression)
  }

  private func check(_ predicate: FetchPredicate) throws {
    try predicate.forEachComparison { comparison in
      _ = try target(of: comparison.left)
      _ = try target(of: comparison.right)
      if comparison.operation == .matchesText { try checkFullText(comparison) }
    }
  }

  private func checkFullText(_ comparison: FetchPredicate.Comparison) throws {
    _ = try comparison.fullTextQuery()
    let (root, keys) = try comparison.fullTextPath()
    // The value of a variable, other than a subquery member with a known entity, is only known during evaluation.
    guard case .object(let entity) = try target(of: root) else { return }
    _ = try model.fullTextAttribute(at: keys, from: entity)
  }

  private func target(of expression: FetchExpression) throws -> Target {
    switch expression {
    case .constant: return .value
    case .current: return .object(entity)
    case .variable(let name):
      if let target = bound[name] { return target }
      if knowsLittle { return .value }
      throw PersistenceError(
        .invalidPredicate, at: .entity(entity.name), "The variable $\(name) has no value.",
        fix: "Substitute a value before the request runs.")
    case .path(let root, let keys): return try follow(keys[...], from: target(of: root))
    case .keyPath(_, let reference): throw reference.withoutNames
    case .element(let list, let position):
      if case .index(let index) = position { _ = try target(of: index) }
      switch try (target(of: list), position) {
      case (_, .size): return .value
      case (.objects(let entity), _): return .object(entity)
      default: return .value
      }
    case .aggregate(let parts), .function(_, let parts):
      for part in parts { _ = try target(of: part) }
      return .value
    case .call(let object, _, let arguments):
      for part in [object] + arguments { _ = try target(of: part) }
      return .value
    case .subquery(let collection, let variable, let predicate):
      let members = try target(of: collection)
      var inner = self
      inner.bound[variable] = .value
      if case .objects(let entity) = members { inner.bound[variable] = .object(entity) }
      try inner.check(predicate)
      return members
    case .ternary(let predicate, let first, let second):
      try check(predicate)
      _ = try target(of: first)
      return try target(of: second)
    case .fetch(let request, let context, _):
      _ = try (target(of: request), target(of: context))
      return .value
    }
  }

  private func follow(_ keys: ArraySlice<String>, from start: Target) throws -> Target {
    var target = start
    var rest = keys
    while let key = rest.popFirst() {
      switch target {
      case .value: return .value
      case .object(let entity), .objects(let entity):
        // Comparing a key with all operators takes longer than the rest of its check.
        if key.utf8.first == UInt8(ascii: "@"), CollectionOperator(rawValue: key) != nil {
          _ = try follow(rest, from: .object(entity))
          return .value
        }
        var isToMany = false
        if case .objects = target { isToMany = true }
        target = try next(key, of: entity, isToMany: isToMany)
      }
    }
    return target
  }

  private func next(_ key: String, of entity: Entity, isToMany: Bool) throws -> Target {
    switch entity.property(named: key)?.kind {
    case .attribute: return .value
    case .relationship(let relationship):
      let destination = model.destination(of: relationship)
      return isToMany || relationship.isToMany ? .objects(destination) : .object(destination)
    case .fetchedProperty:
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, key),
        "'\(key)' is a fetched property of '\(entity.name)': predicates can't follow it.",
        fix: "Use the condition of its request in the predicate.")
    case nil:
      switch key {
      case "self": return isToMany ? .objects(entity) : .object(entity)
      case "objectID", "entity": return .value
      default:
        if knowsLittle, model.hierarchy(of: entity).contains(where: { $0.slot(named: key) != nil }) {
          return .value
        }
        throw PersistenceError(
          .unknownProperty, at: .property(entity.name, key), "'\(entity.name)' has no property '\(key)'.",
          fix: "Its properties are \(entity.properties.map(\.name).sorted().joined(separator: ", ")).")
      }
    }
  }
}
