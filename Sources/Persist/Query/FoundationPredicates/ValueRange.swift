/// A range of values, unbounded on a side without a bound.
struct ValueRange {
  var lower: FetchExpression?
  var upper: FetchExpression?
  /// Whether the range includes the upper bound. It always includes the lower one.
  var isClosed: Bool

  func contains(_ value: FetchExpression) -> FetchPredicate {
    if let lower, let upper, isClosed { return .compare(value, .between, .aggregate([lower, upper])) }
    var parts: [FetchPredicate] = []
    if let lower { parts.append(.compare(value, .greaterOrEqual, lower)) }
    if let upper { parts.append(.compare(value, isClosed ? .lessOrEqual : .less, upper)) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }
}

/// Swift's ranges with bounds that are arguments.
protocol RangeOfArguments {
  var values: ValueRange? { get }
}

extension Range: RangeOfArguments {
  var values: ValueRange? { ValueRange(lowerBound, upperBound, isClosed: false) }
}

extension ClosedRange: RangeOfArguments {
  var values: ValueRange? { ValueRange(lowerBound, upperBound, isClosed: true) }
}

extension PartialRangeFrom: RangeOfArguments {
  var values: ValueRange? { FetchExpression(any: lowerBound).map { ValueRange(lower: $0, isClosed: true) } }
}

extension PartialRangeThrough: RangeOfArguments {
  var values: ValueRange? { FetchExpression(any: upperBound).map { ValueRange(upper: $0, isClosed: true) } }
}

extension PartialRangeUpTo: RangeOfArguments {
  var values: ValueRange? { FetchExpression(any: upperBound).map { ValueRange(upper: $0, isClosed: false) } }
}

extension ValueRange {
  fileprivate init?(_ lower: Any, _ upper: Any, isClosed: Bool) {
    guard let lower = FetchExpression(any: lower), let upper = FetchExpression(any: upper) else { return nil }
    self.init(lower: lower, upper: upper, isClosed: isClosed)
  }
}

extension FetchExpression {
  /// The expression of a value of any argument type, such as a number, an enum's raw value, or a list of them.
  init?(any value: Any) {
    switch value {
    case let argument as any FetchArgument: self = argument.fetchExpression
    case let character as Character: self = .constant(.string(String(character)))
    case let value as any RawRepresentable: self.init(any: value.rawValue)
    case let sequence as any Collection:
      var parts: [FetchExpression] = []
      for element in sequence {
        guard let part = FetchExpression(any: element) else { return nil }
        parts.append(part)
      }
      self = .aggregate(parts)
    default:
      // An optional of a type that isn't itself an argument, such as an enum.
      let mirror = Mirror(reflecting: value)
      guard mirror.displayStyle == .optional else { return nil }
      guard let wrapped = mirror.children.first else {
        self = .constant(.null)
        return
      }
      self.init(any: wrapped.value)
    }
  }
}
