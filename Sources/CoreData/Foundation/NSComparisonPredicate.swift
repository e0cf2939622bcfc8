public import Foundation
import Persist

/// A predicate that compares two expressions.
///
/// Foundation's class of this name can't be used outside of Apple's platforms.
open class NSComparisonPredicate: NSPredicate {
  /// The ways to compare.
  public enum Operator: UInt, Sendable {
    /// `<`
    case lessThan = 0
    /// `<=`
    case lessThanOrEqualTo = 1
    /// `>`
    case greaterThan = 2
    /// `>=`
    case greaterThanOrEqualTo = 3
    /// `==`
    case equalTo = 4
    /// `!=`
    case notEqualTo = 5
    /// A regular expression for the whole text.
    case matches = 6
    /// A text with the wildcards `*` and `?`.
    case like = 7
    /// The beginning of a text.
    case beginsWith = 8
    /// The end of a text.
    case endsWith = 9
    /// A member of the collection on the right.
    case `in` = 10
    /// A part of the text, or a member of the collection, on the left.
    case contains = 99
    /// A value between two others.
    case between = 100
  }

  /// The members of a collection on the left that have to fulfill the comparison.
  public enum Modifier: UInt, Sendable {
    /// The left side is one value.
    case direct = 0
    /// Every member.
    case all = 1
    /// At least one member.
    case any = 2
  }

  /// The differences between texts that a comparison ignores.
  public struct Options: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The case of letters is ignored.
    public static let caseInsensitive = Self(rawValue: 1)
    /// Accents are ignored.
    public static let diacriticInsensitive = Self(rawValue: 2)
    /// The texts are compared as they are.
    public static let normalized = Self(rawValue: 4)
  }

  let comparison: FetchPredicate.Comparison

  init(_ comparison: FetchPredicate.Comparison) {
    self.comparison = comparison
    super.init(value: true)
  }

  /// Creates a predicate that compares two expressions.
  public init(
    leftExpression left: NSExpression, rightExpression right: NSExpression, modifier: Modifier, type: Operator,
    options: Options = []
  ) {
    comparison = FetchPredicate.Comparison(
      left: left.fetchExpression, operation: type.persistOperator, right: right.fetchExpression,
      modifier: modifier.persistModifier, options: FetchPredicate.Options(rawValue: Int(options.rawValue)))
    super.init(value: true)
  }

  /// Nil: predicates can't be read from archives here.
  public required init?(coder: NSCoder) { nil }

  /// The expression on the left.
  open var leftExpression: NSExpression { NSExpression(comparison.left) }

  /// The expression on the right.
  open var rightExpression: NSExpression { NSExpression(comparison.right) }

  /// The way to compare.
  open var predicateOperatorType: Operator { Operator(comparison.operation) }

  /// The members of a collection on the left that have to fulfill the comparison.
  open var comparisonPredicateModifier: Modifier { Modifier(comparison.modifier) }

  /// The differences between texts that are ignored.
  open var options: Options { Options(rawValue: UInt(comparison.options.rawValue)) }

  open override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    FetchPredicate.comparison(comparison).value(with: object, bindings)
  }

  open override var predicateFormat: String { FetchPredicate.comparison(comparison).format }
  open override var description: String { FetchPredicate.comparison(comparison).format }
  open override func copy(with zone: NSZone? = nil) -> Any { self }
  open override func isEqual(_ other: Any?) -> Bool { (other as? NSComparisonPredicate)?.comparison == comparison }
  open override var hash: Int { comparison.hashValue }
}

extension NSComparisonPredicate.Operator {
  fileprivate init(_ operation: FetchPredicate.Operator) {
    self =
      switch operation {
      case .equal: .equalTo
      case .notEqual: .notEqualTo
      case .less: .lessThan
      case .lessOrEqual: .lessThanOrEqualTo
      case .greater: .greaterThan
      case .greaterOrEqual: .greaterThanOrEqualTo
      case .between: .between
      case .in: .in
      case .contains, .matchesText: .contains
      case .beginsWith: .beginsWith
      case .endsWith: .endsWith
      case .like: .like
      case .matches: .matches
      }
  }

  fileprivate var persistOperator: FetchPredicate.Operator {
    switch self {
    case .lessThan: .less
    case .lessThanOrEqualTo: .lessOrEqual
    case .greaterThan: .greater
    case .greaterThanOrEqualTo: .greaterOrEqual
    case .equalTo: .equal
    case .notEqualTo: .notEqual
    case .matches: .matches
    case .like: .like
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .in: .in
    case .contains: .contains
    case .between: .between
    }
  }
}

extension NSComparisonPredicate.Modifier {
  fileprivate init(_ modifier: FetchPredicate.Modifier) {
    self =
      switch modifier {
      case .direct: .direct
      case .any: .any
      case .all: .all
      }
  }

  fileprivate var persistModifier: FetchPredicate.Modifier {
    switch self {
    case .direct: .direct
    case .all: .all
    case .any: .any
    }
  }
}
