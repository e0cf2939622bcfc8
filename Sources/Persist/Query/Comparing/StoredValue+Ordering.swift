import Foundation

extension StoredValue {
  /// The order of two values; nil for null and for kinds that can't be compared.
  ///
  /// Numbers compare by value regardless of representation, and with dates as seconds since 2001. A numeric text
  /// compares with numbers, and the text of a UUID with UUIDs. Texts compare by their UTF-8 bytes, as in SQLite.
  package func order(to other: StoredValue, options: FetchPredicate.Options = []) -> ValueOrder? {
    switch (self, other) {
    case (.string(let left), .string(let right)), (.uri(let left), .uri(let right)),
      (.string(let left), .uri(let right)), (.uri(let left), .string(let right)):
      return TextComparison(options).order(left, right)
    case (.data(let left), .data(let right)): return Self.order(left, right)
    case (.uuid(let left), .uuid(let right)): return Self.order(left.bytes, right.bytes)
    case (.uuid(let left), .string(let text)):
      return UUID(uuidString: text).flatMap { Self.order(left.bytes, $0.bytes) }
    case (.string, .uuid): return other.order(to: self)?.reversed
    case (.string(let text), .integer), (.string(let text), .double), (.string(let text), .decimal),
      (.string(let text), .boolean):
      guard let left = Number(text: text), let right = Number(other) else { return nil }
      return left.order(to: right)
    case (.integer, .string), (.double, .string), (.decimal, .string), (.boolean, .string):
      return other.order(to: self)?.reversed
    default:
      guard let left = Number(self), let right = Number(other) else { return nil }
      return left.order(to: right)
    }
  }

  /// Whether two values are equal in a predicate. Null equals null.
  @inline(never)
  func isSame(as other: StoredValue, options: FetchPredicate.Options = []) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.null, _), (_, .null): false
    case (.objectID(let left), .objectID(let right)): left == right || left.current == right.current
    case (.composite(let left), .composite(let right)): Self.areSame(left, right)
    default: order(to: other, options: options) == .equal
    }
  }

  /// Missing elements are null.
  private static func areSame(_ left: [String: StoredValue], _ right: [String: StoredValue]) -> Bool {
    Set(left.keys).union(right.keys).allSatisfy { (left[$0] ?? .null).isSame(as: right[$0] ?? .null) }
  }

  private static func order(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> ValueOrder {
    if left.lexicographicallyPrecedes(right) { return .less }
    return left.elementsEqual(right) ? .equal : .greater
  }
}

extension UUID {
  /// The sixteen bytes in order.
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}
