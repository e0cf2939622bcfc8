extension FetchPredicate {
  /// Two expressions and the comparison between them.
  public struct Comparison: Sendable, Hashable {
    /// The left side; a collection if there is a ``modifier``.
    public var left: FetchExpression
    /// The comparison between the two sides.
    public var operation: Operator
    /// The right side: a value, two bounds, a collection or a pattern, depending on the operator.
    public var right: FetchExpression
    /// The quantifier over the left side's members; ``Modifier/direct`` for none.
    public var modifier: Modifier
    /// The options for comparing texts; without effect on other values.
    public var options: Options

    /// Creates a comparison; ``FetchPredicate/compare(_:_:_:modifier:options:)`` also makes it a predicate.
    public init(
      left: FetchExpression, operation: Operator, right: FetchExpression, modifier: Modifier = .direct,
      options: Options = []
    ) {
      self.left = left
      self.operation = operation
      self.right = right
      self.modifier = modifier
      self.options = options
    }
  }

  /// The operator of a comparison. Raw values are the canonical forms in the format language.
  public enum Operator: String, Sendable, Hashable, CaseIterable {
    /// The sides are equal, even if both are null.
    case equal = "=="
    /// The sides differ, even if exactly one is null.
    case notEqual = "!="
    /// The left value is less than the right one; false if either is null.
    case less = "<"
    /// The left value is less than or equal to the right one; false if either is null.
    case lessOrEqual = "<="
    /// The left value is greater than the right one; false if either is null.
    case greater = ">"
    /// The left value is greater than or equal to the right one; false if either is null.
    case greaterOrEqual = ">="
    /// The right side consists of two bounds; the range includes both.
    case between = "BETWEEN"
    /// The left value is a member of the right collection, or a substring of the right text.
    case `in` = "IN"
    /// The right value is a member of the left collection, or a substring of the left text.
    case contains = "CONTAINS"
    /// The left text begins with the right one.
    case beginsWith = "BEGINSWITH"
    /// The left text ends with the right one.
    case endsWith = "ENDSWITH"
    /// A wildcard pattern for the whole text: `*` matches any number of characters, `?` matches one.
    case like = "LIKE"
    /// A regular expression for the whole text.
    case matches = "MATCHES"
    /// The text matches a full-text query; see ``FullTextQuery``. The left side is an attribute marked for full-text
    /// search; see ``FullTextSearch``. NSPredicate has no such operator.
    case matchesText = "MATCHTEXT"
  }

  /// The quantifier over the members of the collection on the left side.
  public enum Modifier: String, Sendable, Hashable, CaseIterable {
    /// Compares the left side itself.
    case direct = ""
    /// True if at least one member matches: `ANY`, also written `SOME`. `NONE` is its negation.
    case any = "ANY"
    /// True if every member matches, including if there are none: `ALL`.
    case all = "ALL"
  }

  /// The options for comparing texts: `[c]`, `[d]`, `[n]`, `[l]` and their combinations.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `c`: ignores case.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `d`: ignores diacritical marks.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `n`: the texts are already normalized and are compared byte by byte; overrides the other options.
    public static let normalized = Options(rawValue: 4)
    /// `l`: texts compare by the rules of the current locale.
    public static let localeSensitive = Options(rawValue: 8)

    /// The letters in the format language, in the order in which they are printed.
    static let letters: [(letter: Character, option: Options)] = [
      ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localeSensitive),
    ]
  }
}
