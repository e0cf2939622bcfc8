extension FetchPredicate {
  /// Two expressions and the comparison between them.
  public struct Comparison: Sendable, Hashable {
    public var left: FetchExpression
    public var operation: Operator
    public var right: FetchExpression
    public var modifier: Modifier
    public var options: Options

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
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// The right side consists of two bounds; the range includes both.
    case between = "BETWEEN"
    /// The left value is a member of the right collection, or a substring of the right text.
    case `in` = "IN"
    /// The right value is a member of the left collection, or a substring of the left text.
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
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
