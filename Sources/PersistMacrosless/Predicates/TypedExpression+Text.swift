public import Persist

/// Conditions on text. Without options, comparisons are sensitive to case and diacritics.
extension TypedExpression where Value == String {
  /// Whether the text begins with a part; false if it is missing. Without options, an index of the attribute can be
  /// used.
  public func beginsWith(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .beginsWith, .value(part), options: options)
  }

  /// Unavailable: Swift's name, for which the compiler suggests `beginsWith`, the name in the format language.
  @available(*, unavailable, renamed: "beginsWith(_:)")
  public func hasPrefix(_ part: String) -> TypedPredicate<Root> { beginsWith(part) }

  /// Unavailable: Swift's name, for which the compiler suggests `endsWith`, the name in the format language.
  @available(*, unavailable, renamed: "endsWith(_:)")
  public func hasSuffix(_ part: String) -> TypedPredicate<Root> { endsWith(part) }

  /// Whether the text ends with a part; false if it is missing. No index is used: every row is examined.
  public func endsWith(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .endsWith, .value(part), options: options)
  }

  /// Whether the text contains a part; false if it is missing. No index is used: every row is examined. For words, see
  /// ``matchesText(_:)``.
  public func contains(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .contains, .value(part), options: options)
  }

  /// Whether the whole text matches a pattern, in which `*` matches any characters and `?` any single one.
  public func like(_ pattern: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .like, .value(pattern), options: options)
  }

  /// Whether a regular expression matches the whole text.
  public func matches(_ pattern: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .matches, .value(pattern), options: options)
  }

  /// Whether the text matches a full-text query; see `FullTextQuery`. The attribute must be indexed for full-text
  /// search.
  public func matchesText(_ query: String) -> TypedPredicate<Root> {
    compared(expression, .matchesText, .value(query))
  }

  /// Whether the texts are equal, with options such as `FetchPredicate.Options.caseInsensitive`.
  public func equals(_ text: String, _ options: FetchPredicate.Options) -> TypedPredicate<Root> {
    compared(expression, .equal, .value(text), options: options)
  }

  /// The length in UTF-16 code units.
  public var length: TypedExpression<Root, Int> { TypedExpression<Root, Int>(.function(.length, [expression])) }
  /// The text in lower case, regardless of the locale: `lowercase:` in format strings.
  public var lowercased: TypedExpression { TypedExpression(.function(.lowercase, [expression])) }
  /// The text in upper case, regardless of the locale: `uppercase:` in format strings.
  public var uppercased: TypedExpression { TypedExpression(.function(.uppercase, [expression])) }
  /// The lowercased text without diacritics.
  public var canonical: TypedExpression { TypedExpression(.function(.canonical, [expression])) }
}

/// Swift's own spellings, for which the compiler suggests the predicate's equivalents.
extension Sequence where Element: StorableValue {
  /// Unavailable: the compiler suggests `in(_:)`, a method of the property instead of the list.
  @available(*, unavailable, message: "Ask the property whether it is in the list: '$0.name.in(list)'.")
  public func contains<Root>(_ value: TypedExpression<Root, Element>) -> TypedPredicate<Root> { value.in(self) }
}
