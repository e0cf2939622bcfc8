/// A value computed from all objects of a group: `sum:(salary)`, `@avg.price`, `@count`.
///
/// The same functions over the members of a to-many relationship, as in `sum:(items.price)`, are values of a single
/// object and aren't group aggregates.
package struct GroupAggregate: Sendable, Hashable {
  package enum Function: Sendable, Hashable {
    case count, sum, least, greatest, average
  }

  package let function: Function
  /// The value of each object; nil to count the objects themselves.
  package let argument: FetchExpression?

  package init?(_ expression: FetchExpression, over entity: Entity, in model: ManagedObjectModel) {
    switch expression {
    case .function(let function, let arguments):
      guard arguments.count == 1, let known = Function(function),
        !Self.isCollection(arguments[0], from: entity, in: model)
      else { return nil }
      self.function = known
      argument = arguments[0] == .current ? nil : arguments[0]
    case .path(of: .current, let keys):
      guard let operation = keys.first.flatMap(CollectionOperator.init), let known = Function(operation) else {
        return nil
      }
      function = known
      argument = keys.count == 1 ? nil : .path(of: .current, Array(keys.dropFirst()))
    default: return nil
    }
    if argument == nil, function != .count { return nil }
  }

  /// The aggregate of some values.
  package func value(of values: [FetchValue]) throws -> FetchValue {
    switch function {
    case .count: .value(.integer(Int64(values.count { !$0.isNull })))
    case .sum: try Aggregate.sum(values)
    case .least: Aggregate.extreme(values, .less)
    case .greatest: Aggregate.extreme(values, .greater)
    case .average: try Aggregate.average(values)
    }
  }

  private static func isCollection(
    _ expression: FetchExpression, from start: Entity, in model: ManagedObjectModel
  ) -> Bool {
    switch expression {
    case .aggregate, .subquery: return true
    case .path(of: .current, let keys):
      var entity = start
      for key in keys {
        guard let relationship = entity.relationship(named: key) else { return false }
        if relationship.isToMany { return true }
        entity = model.destination(of: relationship)
      }
      return false
    default: return false
    }
  }
}

extension GroupAggregate.Function {
  fileprivate init?(_ function: FetchFunction) {
    switch function {
    case .count: self = .count
    case .sum: self = .sum
    case .minimum: self = .least
    case .maximum: self = .greatest
    case .average: self = .average
    default: return nil
    }
  }

  fileprivate init?(_ operation: CollectionOperator) {
    // The collection operators correspond to these functions.
    let functions: [CollectionOperator: FetchFunction] = [
      .count: .count, .sum: .sum, .minimum: .minimum, .maximum: .maximum, .average: .average,
    ]
    guard let function = functions[operation] else { return nil }
    self.init(function)
  }
}
