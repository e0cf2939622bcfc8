/// The rules for an attribute's values.
public struct AttributeValidation: Sendable, Hashable {
  /// The minimum value; for dates, the earliest. A `float` attribute's limits are rounded to the nearest floats.
  public var minimum: StoredValue?
  /// The maximum value; for dates, the latest.
  public var maximum: StoredValue?
  /// The minimum length of a string in UTF-16 units, as counted by `length` in predicates and by Core Data's rules.
  public var minimumLength: Int?
  /// The maximum length of a string in UTF-16 units.
  public var maximumLength: Int?
  /// A regular expression that the whole string must match.
  public var pattern: String?
  /// Rules in the predicate language, applied to `SELF`.
  public var rules: [Rule]

  /// A rule and the warning for its violation.
  public struct Rule: Sendable, Hashable {
    /// The predicate's format string, such as `SELF >= 0`.
    public var predicate: String
    /// The message for a value that violates the rule; nil for one that is composed from the predicate.
    public var warning: String?

    /// Creates a rule, without parsing its predicate.
    public init(predicate: String, warning: String? = nil) {
      self.predicate = predicate
      self.warning = warning
    }
  }

  /// Creates the rules of an attribute; without arguments, none.
  public init(
    minimum: StoredValue? = nil, maximum: StoredValue? = nil, minimumLength: Int? = nil, maximumLength: Int? = nil,
    pattern: String? = nil, rules: [Rule] = []
  ) {
    self.minimum = minimum
    self.maximum = maximum
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.pattern = pattern
    self.rules = rules
  }

  /// Whether there are no rules.
  public var isEmpty: Bool {
    minimum == nil && maximum == nil && minimumLength == nil && maximumLength == nil && pattern == nil && rules.isEmpty
  }
}
