public import Foundation

/// A value for `%@` in a format string.
///
/// Numbers, texts, dates, data, UUIDs, URLs, identifiers, expressions, and arrays and sets of them are arguments.
/// Managed objects are arguments too and represent their identifiers. A list is one argument:
/// `"name IN %@", ["a", "b"]`.
public protocol FetchArgument {
  /// The expression that replaces the placeholder, usually a constant.
  var fetchExpression: FetchExpression { get }
}

extension FetchExpression: FetchArgument {
  /// The expression itself: an argument may be computed from the evaluated object.
  public var fetchExpression: FetchExpression { self }
}

extension StoredValue: FetchArgument {
  /// The value as a constant.
  public var fetchExpression: FetchExpression { .constant(self) }
}

extension FetchArgument where Self: BinaryInteger {
  /// An integer beyond the signed 64-bit range becomes a decimal.
  public var fetchExpression: FetchExpression {
    if let value = Int64(exactly: self) { return .constant(.integer(value)) }
    return .constant(Decimal(string: "\(self)").map(StoredValue.decimal) ?? .double(Double(self)))
  }
}

extension Int: FetchArgument {}
extension Int8: FetchArgument {}
extension Int16: FetchArgument {}
extension Int32: FetchArgument {}
extension Int64: FetchArgument {}
extension UInt: FetchArgument {}
extension UInt8: FetchArgument {}
extension UInt16: FetchArgument {}
extension UInt32: FetchArgument {}
extension UInt64: FetchArgument {}

extension Bool: FetchArgument { public var fetchExpression: FetchExpression { .constant(.boolean(self)) } }
extension Double: FetchArgument { public var fetchExpression: FetchExpression { .constant(.double(self)) } }
extension Float: FetchArgument { public var fetchExpression: FetchExpression { .constant(.double(Double(self))) } }
extension Decimal: FetchArgument { public var fetchExpression: FetchExpression { .constant(.decimal(self)) } }
extension String: FetchArgument { public var fetchExpression: FetchExpression { .constant(.string(self)) } }
extension Substring: FetchArgument {
  /// The characters as a text.
  public var fetchExpression: FetchExpression { .constant(.string(String(self))) }
}
extension Date: FetchArgument { public var fetchExpression: FetchExpression { .constant(.date(self)) } }
extension Data: FetchArgument { public var fetchExpression: FetchExpression { .constant(.data(self)) } }
extension UUID: FetchArgument { public var fetchExpression: FetchExpression { .constant(.uuid(self)) } }
extension URL: FetchArgument { public var fetchExpression: FetchExpression { .constant(.uri(absoluteString)) } }
extension ManagedObjectID: FetchArgument {
  /// The identifier as a constant, equal to the object that it identifies.
  public var fetchExpression: FetchExpression { .constant(.objectID(self)) }
}
extension Entity: FetchArgument { public var fetchExpression: FetchExpression { .constant(.string(name)) } }

extension Optional: FetchArgument where Wrapped: FetchArgument {
  /// The wrapped argument, or null.
  public var fetchExpression: FetchExpression { self?.fetchExpression ?? .constant(.null) }
}
extension Array: FetchArgument where Element: FetchArgument {
  /// The elements as a list, for `IN` and functions over collections.
  public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}
extension ArraySlice: FetchArgument where Element: FetchArgument {
  /// The elements as a list, for `IN` and functions over collections.
  public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}
extension Set: FetchArgument where Element: FetchArgument {
  /// The elements as a list, in no particular order.
  public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}
extension ClosedRange: FetchArgument where Bound: FetchArgument {
  /// The bounds, for `BETWEEN`.
  public var fetchExpression: FetchExpression {
    .aggregate([lowerBound.fetchExpression, upperBound.fetchExpression])
  }
}
