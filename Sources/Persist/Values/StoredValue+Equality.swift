import Foundation

extension StoredValue {
  /// Whether two values are identical to a store.
  ///
  /// Strings and URIs are compared by their code units: `é` as one scalar and `e` with a combining accent are different
  /// values, as they are to SQLite, to predicates and to unique constraints. Swift's `==` on strings calls them equal.
  /// Values of different cases are never equal. NaN equals itself.
  @inline(never)
  public static func == (left: StoredValue, right: StoredValue) -> Bool {
    // Nested switches, because matching a pair would copy both values.
    switch left {
    case .null: if case .null = right { return true }
    case .boolean(let left): if case .boolean(let right) = right { return left == right }
    case .integer(let left): if case .integer(let right) = right { return left == right }
    case .double(let left):
      if case .double(let right) = right { return left == right || (left.isNaN && right.isNaN) }
    case .decimal(let left): if case .decimal(let right) = right { return left == right }
    case .string(let left): if case .string(let right) = right { return left.hasSameCodeUnits(as: right) }
    case .date(let left): if case .date(let right) = right { return left.isSame(as: right) }
    case .data(let left): if case .data(let right) = right { return left == right }
    case .uuid(let left): if case .uuid(let right) = right { return left == right }
    case .uri(let left): if case .uri(let right) = right { return left.hasSameCodeUnits(as: right) }
    case .objectID(let left): if case .objectID(let right) = right { return left == right }
    case .composite(let left): if case .composite(let right) = right { return left == right }
    }
    return false
  }

  @inline(never)
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? .nan : value)
    case .decimal(let value): hasher.combine(value)
    case .string(let value), .uri(let value): value.hashCodeUnits(into: &hasher)
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      hasher.combine(seconds.isNaN ? .nan : seconds)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .objectID(let value): hasher.combine(value)
    case .composite(let value): hasher.combine(value)
    }
  }
}

extension String {
  /// Whether two strings have the same code units, without regard to normalization forms.
  ///
  /// - Complexity: O(*length*), without normalization; O(1) for strings of different lengths.
  func hasSameCodeUnits(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let areSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard let left = left.baseAddress, let other = right.baseAddress else { return true }
        return memcmp(left, other, right.count) == 0
      }
    }
    return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  fileprivate func hashCodeUnits(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Date {
  fileprivate func isSame(as other: Date) -> Bool {
    let (left, right) = (timeIntervalSinceReferenceDate, other.timeIntervalSinceReferenceDate)
    return left == right || (left.isNaN && right.isNaN)
  }
}
