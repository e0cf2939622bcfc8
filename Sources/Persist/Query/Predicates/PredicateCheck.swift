/// Finds what a predicate says of an entity that can't be: keys that it doesn't have, variables without a value.
///
/// A request is checked before it runs, so that a wrong key is an error also where there is no row to show it.
struct PredicateCheck {
  /// What an expression leads to, as far as the model tells.
  private enum Target {
    case object(Entity)
    case objects(Entity)
    /// A value, or whatever functions make: not looked into.
    case value
  }

  private let model: ManagedObjectModel
  private let entity: Entity
  private var bound: [String: Target] = [:]

  private init(_ entity: Entity, in model: ManagedObjectModel) {
    self.entity = entity
    self.model = model
  }

  /// - Throws: ``PersistenceError/Code/unknownProperty`` for a key that leads nowhere,
  ///   ``PersistenceError/Code/invalidPredicate`` for a variable that was not substituted.
  static func check(_ predicate: FetchPredicate, over entity: Entity, in model: ManagedObjectModel) throws {
    try PredicateCheck(entity, in: model).check(predicate)
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
    // What a variable stands for beyond a member's entity shows only when the predicate is evaluated.
    guard case .object(let entity) = try target(of: root) else { return }
    _ = try model.fullTextAttribute(at: keys, from: entity)
  }

  private func target(of expression: FetchExpression) throws -> Target {
    switch expression {
    case .constant: return .value
    case .current: return .object(entity)
    case .variable(let name):
      if let target = bound[name] { return target }
      throw PersistenceError(
        .invalidPredicate, at: .entity(entity.name), "The variable $\(name) has no value.",
        fix: "Substitute one before the request runs.")
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
        if CollectionOperator(rawValue: key) != nil {
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
        fix: "Put what it asks for into the predicate.")
    case nil:
      switch key {
      case "self": return isToMany ? .objects(entity) : .object(entity)
      case "objectID", "entity": return .value
      default:
        throw PersistenceError(
          .unknownProperty, at: .property(entity.name, key), "'\(entity.name)' has no property '\(key)'.",
          fix: "Its properties are \(entity.properties.map(\.name).sorted().joined(separator: ", ")).")
      }
    }
  }
}
