public import Persist

/// Members of to-many relationships.
extension TypedExpression where Value: MemberCollection {
  /// An expression for one member, which the closures of conditions receive.
  public typealias Member = TypedExpression<Root, Value.Element>

  /// Whether a condition holds for at least one member.
  public func contains(where condition: (Member) -> TypedPredicate<Root>) -> TypedPredicate<Root> {
    compared(counted { condition($0).predicate }, .greater, .value(0))
  }

  /// Whether a condition holds for at least one member.
  public func contains(where condition: TypedPredicate<Value.Element>) -> TypedPredicate<Root> {
    compared(counted { condition.predicate.asking(of: $0.expression) }, .greater, .value(0))
  }

  /// Whether a condition holds for every member; true if there are no members.
  public func allSatisfy(_ condition: (Member) -> TypedPredicate<Root>) -> TypedPredicate<Root> {
    compared(counted { !condition($0).predicate }, .equal, .value(0))
  }

  /// Whether a condition holds for every member; true if there are no members.
  public func allSatisfy(_ condition: TypedPredicate<Value.Element>) -> TypedPredicate<Root> {
    compared(counted { !condition.predicate.asking(of: $0.expression) }, .equal, .value(0))
  }

  /// Whether an object is a member.
  public func contains(_ object: Value.Element) -> TypedPredicate<Root> {
    compared(object.fetchExpression, .in, expression)
  }

  /// Whether the relationship has no members: `NOT EXISTS` in SQL, which reads at most one.
  public var isEmpty: TypedPredicate<Root> { compared(count.expression, .equal, .value(0)) }

  /// The number of members: `@count` in format strings, a subquery in SQL.
  public var count: TypedExpression<Root, Int> { TypedExpression<Root, Int>(.path(of: expression, ["@count"])) }

  /// The members for which a condition holds, for further conditions or to be counted.
  public func filter(_ condition: (Member) -> TypedPredicate<Root>) -> TypedExpression {
    TypedExpression(subquery { condition($0).predicate })
  }

  /// The sum of a property of the members; members without a value are ignored.
  public func sum<Number>(_ keyPath: any KeyPath<Value.Element, Number> & Sendable) -> TypedExpression<Root, Number>
  where Number: StorableValue & Numeric {
    computed("@sum", keyPath)
  }

  /// The sum of an optional property of the members; 0 if none of them has a value.
  ///
  /// The store computes sums of 16-bit and 32-bit integer attributes; a predicate over any other sum is evaluated in
  /// memory.
  public func sum<Number>(_ keyPath: any KeyPath<Value.Element, Number?> & Sendable) -> TypedExpression<Root, Number>
  where Number: StorableValue & Numeric {
    computed("@sum", keyPath)
  }

  /// The average of a property of the members; no value if there are no members.
  public func average<Number>(_ keyPath: any KeyPath<Value.Element, Number> & Sendable) -> TypedExpression<Root, Double>
  where Number: AttributeValue {
    computed("@avg", keyPath)
  }

  /// The least value of a property of the members: `@min` in format strings. No value if there are no members.
  public func min<Other>(_ keyPath: any KeyPath<Value.Element, Other> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@min", keyPath)
  }

  /// The least value of an optional property of the members; members without a value are ignored.
  public func min<Other>(_ keyPath: any KeyPath<Value.Element, Other?> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@min", keyPath)
  }

  /// The greatest value of a property of the members: `@max` in format strings. No value if there are no members.
  public func max<Other>(_ keyPath: any KeyPath<Value.Element, Other> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@max", keyPath)
  }

  /// The greatest value of an optional property of the members; members without a value are ignored.
  public func max<Other>(_ keyPath: any KeyPath<Value.Element, Other?> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@max", keyPath)
  }

  private func computed<Result>(_ key: String, _ keyPath: any AnyKeyPath & Sendable) -> TypedExpression<Root, Result> {
    TypedExpression<Root, Result>(.keyPath(of: .path(of: expression, [key]), KeyPathReference(keyPath)))
  }

  private func counted(_ condition: (Member) -> FetchPredicate) -> FetchExpression {
    .path(of: subquery(condition), ["@count"])
  }

  private func subquery(_ condition: (Member) -> FetchPredicate) -> FetchExpression {
    MemberNames.withNext { name in
      .subquery(expression, variable: name, where: condition(Member(.variable(name))))
    }
  }
}

/// The collection of managed objects in a to-many relationship, such as `RelationshipSet`.
public protocol MemberCollection {
  /// The class of the members.
  associatedtype Element: ManagedObject
}

extension RelationshipSet: MemberCollection {}
extension OrderedRelationshipSet: MemberCollection {}

extension OrderedRelationshipSet: KeyedMembers {
  package static var countKeyPath: AnyKeyPath { \OrderedRelationshipSet<Element>.count }
  package static var isEmptyKeyPath: AnyKeyPath { \OrderedRelationshipSet<Element>.isEmpty }
}

extension OrderedRelationshipSet: RecordedMembers {
  package var recordedOwner: ManagedObject? { members.recordedOwner }
  package var relationshipName: String { members.relationshipName }
}

/// Unique variable names for members, so that nested conditions don't share a name.
private enum MemberNames {
  @TaskLocal static var depth = 0

  static func withNext<Result>(_ body: (String) -> Result) -> Result {
    let name = "member\(depth)"
    return $depth.withValue(depth + 1) { body(name) }
  }
}
