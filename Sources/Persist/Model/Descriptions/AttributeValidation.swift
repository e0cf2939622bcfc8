/// The rules that an attribute's values must keep.
public struct AttributeValidation: Sendable, Hashable {
  /// The least value; also the first moment, for dates.
  public var minimum: StoredValue?
  /// The greatest value; also the last moment, for dates.
  public var maximum: StoredValue?
  /// The least length of a text in UTF-16 units, as `length` counts in predicates and Core Data in its rules.
  public var minimumLength: Int?
  /// The greatest length of a text in UTF-16 units.
  public var maximumLength: Int?
  /// A regular expression that the whole text must match.
  public var pattern: String?
  /// Rules in the predicate language, over `SELF`.
  public var rules: [Rule]

  /// One rule and what to say when it is broken.
  public struct Rule: Sendable, Hashable {
    /// The predicate's format string, such as `SELF >= 0`.
    public var predicate: String
    public var warning: String?

    public init(predicate: String, warning: String? = nil) {
      self.predicate = predicate
      self.warning = warning
    }
  }

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

  public var isEmpty: Bool { self == AttributeValidation() }
}
