extension FetchPredicate {
  /// Two expressions and how they are compared.
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

  /// How two values are compared. Raw values are the operators' canonical forms in the format language.
  public enum Operator: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// The right side is two bounds; both belong to the range.
    case between = "BETWEEN"
    /// The left value is a member of the right collection, or a part of the right text.
    case `in` = "IN"
    /// The right value is a member of the left collection, or a part of the left text.
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    /// Wildcards for the whole text: `*` for any characters, `?` for one.
    case like = "LIKE"
    /// A regular expression for the whole text.
    case matches = "MATCHES"
    /// The text has what a full-text query looks for; see ``FullTextQuery``. The left side is an attribute that is
    /// marked for it; see ``FullTextSearch``. NSPredicate has no such operator.
    case matchesText = "MATCHTEXT"
  }

  /// What a comparison says of the members of the collection on its left.
  public enum Modifier: String, Sendable, Hashable, CaseIterable {
    /// The left side is compared as it is.
    case direct = ""
    /// True where at least one member compares so: `ANY`, also written `SOME`. `NONE` is its negation.
    case any = "ANY"
    /// True where every member compares so; also where there is no member: `ALL`.
    case all = "ALL"
  }

  /// How texts are compared: `[c]`, `[d]`, `[n]`, `[l]` and their combinations.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `c`: upper and lower case are the same.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `d`: letters are the same with and without diacritical marks.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `n`: the texts were made comparable before and are compared byte by byte; overrides the others.
    public static let normalized = Options(rawValue: 4)
    /// `l`: texts compare by the rules of the current locale.
    public static let localeSensitive = Options(rawValue: 8)

    /// Letters of the format language, in the order in which they are printed.
    static let letters: [(letter: Character, option: Options)] = [
      ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localeSensitive),
    ]
  }
}
