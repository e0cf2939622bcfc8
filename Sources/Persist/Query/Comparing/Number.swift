package import Foundation

/// A number of any representation, compared and computed without losing digits.
package enum Number: Sendable {
  case integer(Int64)
  case double(Double)
  case decimal(Decimal)

  /// The numeric value of a stored value: Booleans are 1 and 0, dates are seconds since 2001.
  package init?(_ value: StoredValue) {
    switch value {
    case .integer(let value): self = .integer(value)
    case .boolean(let value): self = .integer(value ? 1 : 0)
    case .double(let value): self = .double(value)
    case .decimal(let value): self = .decimal(value)
    case .date(let value): self = .double(value.timeIntervalSinceReferenceDate)
    default: return nil
    }
  }

  /// The number that a text represents; nil for any other text.
  init?(text: String) {
    if let value = Int64(text) {
      self = .integer(value)
    } else if let value = Decimal(wholeText: text) {
      self = .decimal(value)
    } else {
      return nil
    }
  }

  var value: StoredValue {
    switch self {
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .decimal(let value): value.isNaN ? .null : .decimal(value)
    }
  }

  package var double: Double {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): value.nearestDouble
    }
  }

  /// The number as a decimal. A fractional double becomes the decimal of its shortest description, so that 10.11 is
  /// 10.11 in every representation. Nil if a decimal can't represent it.
  package var decimal: Decimal? {
    switch self {
    case .integer(let value): Decimal(value)
    case .double(let value):
      if let whole = Int64(exactly: value) { Decimal(whole) } else { Decimal(shortestTextOf: value) }
    case .decimal(let value): value
    }
  }

  /// The number as an integer if it has no fraction.
  package var whole: Int64? {
    switch self {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .decimal(let value): Int64(exactly: value)
    }
  }

  /// The order of two numbers by their exact values; nil if either is NaN.
  package func order(to other: Number) -> ValueOrder? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return ValueOrder(left, right)
    case (.double(let left), .double(let right)):
      return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    case (.integer(let left), .double(let right)): return Self.order(left, right)
    case (.double(let left), .integer(let right)): return Self.order(right, left)?.reversed
    default:
      if case .decimal(let value) = self, value.isNaN { return nil }
      if case .decimal(let value) = other, value.isNaN { return nil }
      if let left = decimal, let right = other.decimal { return ValueOrder(left, right) }
      let (left, right) = (double, other.double)
      return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    }
  }

  private static func order(_ left: Int64, _ right: Double) -> ValueOrder? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return .less }
    if right < -0x1p63 { return .greater }
    let whole = right.rounded(.towardZero)
    let order = ValueOrder(left, Int64(whole))
    return order == .equal ? ValueOrder(whole, right) : order
  }
}
