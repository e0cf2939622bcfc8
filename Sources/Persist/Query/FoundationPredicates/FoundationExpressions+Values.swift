import Foundation

/// A constant expression.
protocol ConstantExpression {
  var constant: Any { get }
}

extension PredicateExpressions.Value: ConstantExpression, TranslatableExpression {
  var constant: Any { value }

  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    if let range = (value as? any RangeOfArguments)?.values { return .range(range) }
    guard let expression = FetchExpression(any: value) else {
      throw FoundationTranslation.error(self, "is a \(Output.self), which no attribute can hold")
    }
    return .expression(expression)
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) -> FoundationTranslation.Term { .expression(.value(nil)) }
}

extension PredicateExpressions.Variable: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard let term = translation.term(key) else {
      throw FoundationTranslation.error(self, "belongs to another predicate")
    }
    return term
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let root = try translation.expression(root)
    if Root.Output.self is any KeyedObject.Type { return .expression(.keyPath(of: root, KeyPathReference(keyPath))) }
    if let members = Root.Output.self as? any KeyedMembers.Type {
      if keyPath == members.countKeyPath { return .expression(root.appending(["@count"])) }
      if keyPath == members.isEmptyKeyPath {
        return .predicate(.compare(root.appending(["@count"]), .equal, .value(0)))
      }
    }
    let isText = Root.Output.self is any StringProtocol.Type
    switch kind {
    case .collectionCount where !isText: return .expression(root.appending(["@count"]))
    case .collectionIsEmpty:
      return .predicate(
        isText ? .compare(root, .equal, .value("")) : .compare(root.appending(["@count"]), .equal, .value(0)))
    case .collectionFirst where !isText: return .expression(.element(of: root, .first))
    case .bidirectionalCollectionLast where !isText: return .expression(.element(of: root, .last))
    default:
      throw FoundationTranslation.error(
        self, "asks for \(keyPath) of a \(Root.Output.self), which isn't a property of an entity")
    }
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let value = try translation.expression(wrapped)
    let isPresent = FetchPredicate.compare(value, .notEqual, .value(nil))
    switch try translation.term(transform, where: variable.key, is: .expression(value)) {
    case .predicate(let predicate): return .optional(predicate, where: isPresent)
    case .optional(let predicate, let inner): return .optional(predicate, where: isPresent && inner)
    // A key path from null is null anyway.
    case .expression(.keyPath(of: value, let reference)): return .expression(.keyPath(of: value, reference))
    case .expression(let expression): return .expression(.ternary(isPresent, expression, .value(nil)))
    case .range, .order: throw FoundationTranslation.error(self)
    }
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    switch try translation.term(lhs) {
    case .optional(let predicate, let isPresent):
      switch try translation.predicate(rhs) {
      case .constant(true): return .predicate((isPresent && predicate) || !isPresent)
      case .constant(false): return .predicate(isPresent && predicate)
      case let other: return .predicate((isPresent && predicate) || (!isPresent && other))
      }
    case .expression(let value):
      return .expression(
        .ternary(.compare(value, .notEqual, .value(nil)), value, try translation.expression(rhs)))
    case .predicate(let predicate): return .predicate(predicate)
    case .range, .order: throw FoundationTranslation.error(self)
    }
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  /// Null isn't unwrapped but compares as null: a request doesn't stop the program.
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    try translation.term(inner)
  }
}

extension PredicateExpressions.ForceCast: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard Desired.self is any KeyedObject.Type else { throw FoundationTranslation.error(self) }
    return try translation.term(input)
  }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let function: FetchFunction =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw FoundationTranslation.error(self)
      }
    return .expression(.function(function, [try translation.expression(lhs), try translation.expression(rhs)]))
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(.function(.divide, [try translation.expression(lhs), try translation.expression(rhs)]))
  }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(.function(.modulus, [try translation.expression(lhs), try translation.expression(rhs)]))
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(.function(.divide, [try translation.expression(lhs), try translation.expression(rhs)]))
  }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    switch try translation.expression(wrapped) {
    case .constant(.integer(let number)) where number != .min: .expression(.value(-number))
    case .constant(.double(let number)): .expression(.value(-number))
    case let expression: .expression(.function(.negate, [expression]))
    }
  }
}

extension PredicateExpressions.ExpressionEvaluate: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard let whole = (expression as? any ConstantExpression)?.constant as? any TranslatableWholeExpression else {
      throw FoundationTranslation.error(self, "evaluates an expression that isn't a constant")
    }
    var inputs: [FoundationTranslation.Term] = []
    for part in repeat each input { inputs.append(try translation.term(part)) }
    return try whole.term(of: inputs, &translation)
  }
}

/// Foundation's `Expression`, of any inputs.
private protocol TranslatableWholeExpression {
  func term(of inputs: [FoundationTranslation.Term], _ translation: inout FoundationTranslation) throws
    -> FoundationTranslation.Term
}

extension Foundation.Expression: TranslatableWholeExpression {
  fileprivate func term(of inputs: [FoundationTranslation.Term], _ translation: inout FoundationTranslation) throws
    -> FoundationTranslation.Term
  {
    var rest = inputs[...]
    for variable in repeat each variable { translation.bind(variable.key, to: rest.popFirst()) }
    return try translation.term(expression)
  }
}
