public import Persist

/// Texts. Without options, letters differ by case and by diacritical marks.
extension TypedExpression where Value == String {
  public func beginsWith(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .beginsWith, .value(part), options: options)
  }

  @available(*, unavailable, renamed: "beginsWith(_:)")
  public func hasPrefix(_ part: String) -> TypedPredicate<Root> { beginsWith(part) }

  @available(*, unavailable, renamed: "endsWith(_:)")
  public func hasSuffix(_ part: String) -> TypedPredicate<Root> { endsWith(part) }

  public func endsWith(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .endsWith, .value(part), options: options)
  }

  public func contains(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .contains, .value(part), options: options)
  }

  /// Whether the whole text is as a pattern, in which `*` stands for any characters and `?` for one.
  public func like(_ pattern: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .like, .value(pattern), options: options)
  }

  /// Whether a regular expression matches the whole text.
  public func matches(_ pattern: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    compared(expression, .matches, .value(pattern), options: options)
  }

  /// Whether the text has what a full-text query looks for; see `FullTextQuery`. The attribute is marked for it.
  public func matchesText(_ query: String) -> TypedPredicate<Root> {
    compared(expression, .matchesText, .value(query))
  }

  /// Whether the texts are equal, with options such as ``FetchPredicate/Options/caseInsensitive``.
  public func equals(_ text: String, _ options: FetchPredicate.Options) -> TypedPredicate<Root> {
    compared(expression, .equal, .value(text), options: options)
  }

  /// In UTF-16 units.
  public var length: TypedExpression<Root, Int> { TypedExpression<Root, Int>(.function(.length, [expression])) }
  public var lowercased: TypedExpression { TypedExpression(.function(.lowercase, [expression])) }
  public var uppercased: TypedExpression { TypedExpression(.function(.uppercase, [expression])) }
  /// Lower case without diacritical marks.
  public var canonical: TypedExpression { TypedExpression(.function(.canonical, [expression])) }
}

/// Words that are Swift's own: the compiler names the ones that predicates use.
extension Sequence where Element: StorableValue {
  @available(*, unavailable, message: "Ask the property whether it is in the list: '$0.name.in(list)'.")
  public func contains<Root>(_ value: TypedExpression<Root, Element>) -> TypedPredicate<Root> { value.in(self) }
}
