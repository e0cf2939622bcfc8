public import Persist

/// Members of to-many relationships.
extension TypedExpression where Value: MemberCollection {
  public typealias Member = TypedExpression<Root, Value.Element>

  /// Whether a condition holds for at least one member.
  public func contains(where condition: (Member) -> TypedPredicate<Root>) -> TypedPredicate<Root> {
    compared(counted { condition($0).predicate }, .greater, .value(0))
  }

  /// Whether a condition holds for at least one member.
  public func contains(where condition: TypedPredicate<Value.Element>) -> TypedPredicate<Root> {
    compared(counted { condition.predicate.asking(of: $0.expression) }, .greater, .value(0))
  }

  /// Whether a condition holds for every member; it does where there is none.
  public func allSatisfy(_ condition: (Member) -> TypedPredicate<Root>) -> TypedPredicate<Root> {
    compared(counted { !condition($0).predicate }, .equal, .value(0))
  }

  /// Whether a condition holds for every member; it does where there is none.
  public func allSatisfy(_ condition: TypedPredicate<Value.Element>) -> TypedPredicate<Root> {
    compared(counted { !condition.predicate.asking(of: $0.expression) }, .equal, .value(0))
  }

  /// Whether an object is a member.
  public func contains(_ object: Value.Element) -> TypedPredicate<Root> {
    compared(object.fetchExpression, .in, expression)
  }

  public var isEmpty: TypedPredicate<Root> { compared(count.expression, .equal, .value(0)) }

  public var count: TypedExpression<Root, Int> { TypedExpression<Root, Int>(.path(of: expression, ["@count"])) }

  /// The members for which a condition holds, to be counted or asked further.
  public func filter(_ condition: (Member) -> TypedPredicate<Root>) -> TypedExpression {
    TypedExpression(subquery { condition($0).predicate })
  }

  /// The sum of a property of the members; members without a value are left out.
  public func sum<Number>(_ keyPath: any KeyPath<Value.Element, Number> & Sendable) -> TypedExpression<Root, Number>
  where Number: StorableValue & Numeric {
    computed("@sum", keyPath)
  }

  public func sum<Number>(_ keyPath: any KeyPath<Value.Element, Number?> & Sendable) -> TypedExpression<Root, Number>
  where Number: StorableValue & Numeric {
    computed("@sum", keyPath)
  }

  /// The mean of a property of the members; of none there is none.
  public func average<Number>(_ keyPath: any KeyPath<Value.Element, Number> & Sendable) -> TypedExpression<Root, Double>
  where Number: AttributeValue {
    computed("@avg", keyPath)
  }

  public func min<Other>(_ keyPath: any KeyPath<Value.Element, Other> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@min", keyPath)
  }

  public func min<Other>(_ keyPath: any KeyPath<Value.Element, Other?> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@min", keyPath)
  }

  public func max<Other>(_ keyPath: any KeyPath<Value.Element, Other> & Sendable) -> TypedExpression<Root, Other>
  where Other: StorableValue {
    computed("@max", keyPath)
  }

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

/// A collection of managed objects that a relationship has: ``RelationshipSet``.
public protocol MemberCollection {
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

/// Names for the members that conditions are about, so that a condition inside another has a name of its own.
private enum MemberNames {
  @TaskLocal static var depth = 0

  static func withNext<Result>(_ body: (String) -> Result) -> Result {
    let name = "member\(depth)"
    return $depth.withValue(depth + 1) { body(name) }
  }
}
