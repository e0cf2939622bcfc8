/// A condition on objects, used to select the results of a request or the values that a validation rule accepts.
///
/// It is a value, parsed from NSPredicate's format language or built in code. Its meaning is the same everywhere: a
/// store's SQL and in-memory evaluation give the same answer. Logic is two-valued: a comparison with null is false,
/// except that null equals null and differs from every other value.
///
/// ```swift
/// let cheap = try FetchPredicate("price < %@ AND category.name ==[c] %@", 5, "tea")
/// let all = FetchPredicate.constant(true)
/// print(cheap)   // price < 5 AND category.name ==[c] "tea"
/// ```
///
/// It isn't named `Predicate` because Foundation has a type of that name.
public enum FetchPredicate: Sendable, Hashable {
  /// Always true or always false: `TRUEPREDICATE`, `FALSEPREDICATE`.
  case constant(Bool)
  /// A comparison of two expressions.
  indirect case comparison(Comparison)
  /// True if every part is true, even if there are none.
  case and([FetchPredicate])
  /// True if at least one part is true.
  case or([FetchPredicate])
  /// True if the predicate is false.
  indirect case not(FetchPredicate)
}

extension FetchPredicate {
  /// A comparison of two expressions.
  ///
  /// ```swift
  /// FetchPredicate.compare(.key("name"), .beginsWith, .value("A"), options: .caseInsensitive)
  /// ```
  @inline(never)
  public static func compare(
    _ left: FetchExpression, _ operation: Operator, _ right: FetchExpression, modifier: Modifier = .direct,
    options: Options = []
  ) -> FetchPredicate {
    .comparison(
      Comparison(left: left, operation: operation, right: right, modifier: modifier, options: options))
  }

  /// The conjunction of two predicates; parts of a conjunction on either side become parts of the new one, unless they
  /// are many.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .and(joined(left, right, asConjunction: true))
  }

  /// The disjunction of two predicates; parts of a disjunction on either side become parts of the new one, unless they
  /// are many.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or(joined(left, right, asConjunction: false))
  }

  /// The number of parts from which a predicate isn't extended but becomes a part of another one: a loop would
  /// otherwise copy the parts at each step.
  static let groupSize = 64

  private static func joined(
    _ left: FetchPredicate, _ right: FetchPredicate, asConjunction isConjunction: Bool
  ) -> [FetchPredicate] {
    let (leftParts, rightParts) = (left.parts(ofConjunction: isConjunction), right.parts(ofConjunction: isConjunction))
    if leftParts.count + rightParts.count <= groupSize { return leftParts + rightParts }
    if leftParts.count >= groupSize, rightParts.count >= groupSize { return [left, right] }
    return leftParts.count >= rightParts.count ? [left] + rightParts : leftParts + [right]
  }

  /// The negation of a predicate.
  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }

  private func parts(ofConjunction isConjunction: Bool) -> [FetchPredicate] {
    switch self {
    case .and(let parts) where isConjunction: parts
    case .or(let parts) where !isConjunction: parts
    default: [self]
    }
  }
}
