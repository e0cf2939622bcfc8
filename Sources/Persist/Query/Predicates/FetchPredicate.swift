/// A condition on objects: which ones a request finds, which values a rule accepts.
///
/// A value, read from NSPredicate's format language or built in code. It means the same everywhere: a store's SQL and
/// evaluation in memory give the same answer. Logic has two values: a comparison with no value is false, except that
/// no value equals no value and differs from everything else.
///
/// ```swift
/// let cheap = try FetchPredicate("price < %@ AND category.name ==[c] %@", 5, "tea")
/// let all = FetchPredicate.constant(true)
/// print(cheap)   // price < 5 AND category.name ==[c] "tea"
/// ```
///
/// The name isn't `Predicate` because Foundation has that one.
public enum FetchPredicate: Sendable, Hashable {
  /// Always true or always false: `TRUEPREDICATE`, `FALSEPREDICATE`.
  case constant(Bool)
  /// Two expressions compared.
  indirect case comparison(Comparison)
  /// True where every part is; also where there is no part.
  case and([FetchPredicate])
  /// True where at least one part is.
  case or([FetchPredicate])
  indirect case not(FetchPredicate)
}

extension FetchPredicate {
  /// A comparison of two expressions.
  ///
  /// ```swift
  /// FetchPredicate.compare(.key("name"), .beginsWith, .value("A"), options: .caseInsensitive)
  /// ```
  public static func compare(
    _ left: FetchExpression, _ operation: Operator, _ right: FetchExpression, modifier: Modifier = .direct,
    options: Options = []
  ) -> FetchPredicate {
    .comparison(
      Comparison(left: left, operation: operation, right: right, modifier: modifier, options: options))
  }

  /// Both; parts of a conjunction on either side become parts of the new one.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .and(left.parts(ofConjunction: true) + right.parts(ofConjunction: true))
  }

  /// At least one; parts of a disjunction on either side become parts of the new one.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or(left.parts(ofConjunction: false) + right.parts(ofConjunction: false))
  }

  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }

  private func parts(ofConjunction isConjunction: Bool) -> [FetchPredicate] {
    switch self {
    case .and(let parts) where isConjunction: parts
    case .or(let parts) where !isConjunction: parts
    default: [self]
    }
  }
}
