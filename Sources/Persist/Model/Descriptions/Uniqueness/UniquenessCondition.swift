/// A test of an attribute that an object must pass for a uniqueness constraint to concern it.
///
/// ```swift
/// // Two users may have the same address if one of them has been deleted.
/// EntityDescription(
///   "User", uniquenessConstraints: [["email"]], uniquenessConditions: [["email"]: [.isNil("deletedAt")]]
/// ) { … }
/// ```
///
/// A store enforces it with a unique index over some of the rows, so that only tests with one meaning in every database
/// are possible.
public struct UniquenessCondition: Sendable, Hashable {
  /// The tests of a value.
  public enum Test: Sendable, Hashable {
    /// The attribute has no value.
    case isNil
    /// The attribute has a value.
    case isNotNil
    /// An integer attribute has this value.
    case integer(Int64)
    /// A Boolean attribute has this value.
    case boolean(Bool)
  }

  /// The name of the attribute.
  public var attribute: String
  /// The test that its value must pass.
  public var test: Test

  /// Creates a test of an attribute.
  public init(_ attribute: String, _ test: Test) {
    self.attribute = attribute
    self.test = test
  }

  /// The attribute has no value.
  public static func isNil(_ attribute: String) -> Self { Self(attribute, .isNil) }
  /// The attribute has a value.
  public static func isNotNil(_ attribute: String) -> Self { Self(attribute, .isNotNil) }
  /// The attribute has a value of an integer.
  public static func equal(_ attribute: String, _ value: Int64) -> Self { Self(attribute, .integer(value)) }
  /// The attribute has a Boolean value.
  public static func equal(_ attribute: String, _ value: Bool) -> Self { Self(attribute, .boolean(value)) }
}

extension UniquenessCondition.Test {
  /// Whether a value passes the test.
  package func holds(for value: StoredValue) -> Bool {
    switch self {
    case .isNil: value.isNull
    case .isNotNil: !value.isNull
    case .integer(let number): value == .integer(number)
    case .boolean(let flag): value == .boolean(flag)
    }
  }
}

extension Sequence<UniquenessCondition> {
  /// The conditions as a predicate, regardless of their order.
  package var words: String { map(\.description).sorted().joined(separator: " AND ") }
}

extension UniquenessCondition: CustomStringConvertible {
  /// The condition as a predicate: `deletedAt == nil`.
  public var description: String {
    switch test {
    case .isNil: "\(attribute) == nil"
    case .isNotNil: "\(attribute) != nil"
    case .integer(let number): "\(attribute) == \(number)"
    case .boolean(let flag): "\(attribute) == \(flag ? "YES" : "NO")"
    }
  }
}
