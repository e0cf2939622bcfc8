public import Persist

/// Conditions without operators, for key paths in parentheses: `(\Item.name).beginsWith("Te")`.
///
/// The compiler needs the class in front of the first dot, except in a closure: `Item.where { $0.name.beginsWith("Te")
/// }`.
extension KeyPath where Root: ManagedObject {
  fileprivate func expression<Other>() -> TypedExpression<Root, Other> {
    TypedExpression(.keyPath(of: .current, KeyPathReference(ofProperties: self)))
  }
}

/// A property of type `String` or `String?`.
public protocol TextProperty {}
extension String: TextProperty {}
extension Optional: TextProperty where Wrapped == String {}

extension KeyPath where Root: ManagedObject, Value: TextProperty {
  private var text: TypedExpression<Root, String> { expression() }

  /// Whether the text begins with a part; false if it is missing. Without options, an index of the attribute can be
  /// used.
  public func beginsWith(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    text.beginsWith(part, options)
  }

  /// Unavailable: Swift's name, for which the compiler suggests `beginsWith`, the name in the format language.
  @available(*, unavailable, renamed: "beginsWith(_:)")
  public func hasPrefix(_ part: String) -> TypedPredicate<Root> { beginsWith(part) }

  /// Unavailable: Swift's name, for which the compiler suggests `endsWith`, the name in the format language.
  @available(*, unavailable, renamed: "endsWith(_:)")
  public func hasSuffix(_ part: String) -> TypedPredicate<Root> { endsWith(part) }

  /// Whether the text ends with a part; false if it is missing. No index is used: every row is examined.
  public func endsWith(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    text.endsWith(part, options)
  }

  /// Whether the text contains a part; false if it is missing. No index is used: every row is examined. For words, see
  /// ``matchesText(_:)``.
  public func contains(_ part: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    text.contains(part, options)
  }

  /// Whether the whole text matches a pattern, in which `*` matches any characters and `?` any single one.
  public func like(_ pattern: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    text.like(pattern, options)
  }

  /// Whether a regular expression matches the whole text.
  public func matches(_ pattern: String, _ options: FetchPredicate.Options = []) -> TypedPredicate<Root> {
    text.matches(pattern, options)
  }

  /// Whether the text matches a full-text query; see `FullTextQuery`. The attribute must be indexed for full-text
  /// search.
  public func matchesText(_ query: String) -> TypedPredicate<Root> { text.matchesText(query) }

  /// Whether the texts are equal, with options such as `FetchPredicate.Options.caseInsensitive`; `==` has none.
  public func equals(_ other: String, _ options: FetchPredicate.Options) -> TypedPredicate<Root> {
    text.equals(other, options)
  }
}

extension KeyPath where Root: ManagedObject, Value: StorableValue {
  /// Whether the value is one of the given values.
  public func `in`(_ values: some Sequence<Value>) -> TypedPredicate<Root> {
    (expression() as TypedExpression<Root, Value>).in(values)
  }

  /// Whether the value is in a range that includes both bounds.
  public func between(_ lower: Value, _ upper: Value) -> TypedPredicate<Root> {
    (expression() as TypedExpression<Root, Value>).between(lower, upper)
  }
}

extension KeyPath where Root: ManagedObject, Value: StorableValue & Comparable {
  /// Whether the value is in a range that includes both bounds.
  public func between(_ range: ClosedRange<Value>) -> TypedPredicate<Root> {
    between(range.lowerBound, range.upperBound)
  }
}

extension KeyPath where Root: ManagedObject, Value: MemberCollection {
  private var members: TypedExpression<Root, Value> { expression() }

  /// Whether a condition holds for at least one member.
  public func contains(where condition: TypedPredicate<Value.Element>) -> TypedPredicate<Root> {
    members.contains(where: condition)
  }

  /// Whether a condition holds for at least one member.
  public func contains(
    where condition: (TypedExpression<Root, Value.Element>) -> TypedPredicate<Root>
  ) -> TypedPredicate<Root> {
    members.contains(where: condition)
  }

  /// Whether a condition holds for every member; true if there are no members.
  public func allSatisfy(_ condition: TypedPredicate<Value.Element>) -> TypedPredicate<Root> {
    members.allSatisfy(condition)
  }

  /// Whether a condition holds for every member; true if there are no members.
  public func allSatisfy(
    _ condition: (TypedExpression<Root, Value.Element>) -> TypedPredicate<Root>
  ) -> TypedPredicate<Root> {
    members.allSatisfy(condition)
  }

  /// Whether an object is a member.
  public func contains(_ object: Value.Element) -> TypedPredicate<Root> { members.contains(object) }

  /// Whether the relationship has no members: `NOT EXISTS` in SQL, which reads at most one.
  public var isEmpty: TypedPredicate<Root> { members.isEmpty }

  /// The number of members, to be compared: `(\Category.items).count > 3`.
  public var count: TypedExpression<Root, Int> { members.count }

  /// The sum of a property of the members; members without a value are ignored.
  public func sum<Number>(_ keyPath: any KeyPath<Value.Element, Number> & Sendable) -> TypedExpression<Root, Number>
  where Number: StorableValue & Numeric {
    members.sum(keyPath)
  }
}
