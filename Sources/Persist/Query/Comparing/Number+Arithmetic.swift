import Foundation

/// Arithmetic on numbers of any width.
///
/// Integers remain integers and use integer division; a result too large for 64 bits becomes floating-point, as in
/// SQLite. If either operand is a decimal, so is the result. Undefined results, such as division by zero, are nil.
extension Number {
  package static func add(_ left: Number, _ right: Number) -> Number? {
    combine(left, right, integers: { $0.addingReportingOverflow($1) }, doubles: +, decimals: +)
  }

  package static func subtract(_ left: Number, _ right: Number) -> Number? {
    combine(left, right, integers: { $0.subtractingReportingOverflow($1) }, doubles: -, decimals: -)
  }

  package static func multiply(_ left: Number, _ right: Number) -> Number? {
    combine(left, right, integers: { $0.multipliedReportingOverflow(by: $1) }, doubles: *, decimals: *)
  }

  package static func divide(_ left: Number, _ right: Number) -> Number? {
    guard right.double != 0 else { return nil }
    return combine(left, right, integers: { $0.dividedReportingOverflow(by: $1) }, doubles: /, decimals: /)
  }

  static func modulus(_ left: Number, _ right: Number) -> Number? {
    guard right.double != 0 else { return nil }
    return combine(
      left, right, integers: { $0.remainderReportingOverflow(dividingBy: $1) },
      doubles: { $0.truncatingRemainder(dividingBy: $1) },
      decimals: { $0 - Number.truncated($0 / $1) * $1 })
  }

  static func power(_ left: Number, _ right: Number) -> Number? {
    if case .integer(let base) = left, case .integer(let exponent) = right, exponent >= 0,
      let result = power(base, exponent)
    {
      return .integer(result)
    }
    return .double(pow(left.double, right.double)).unlessNaN
  }

  /// The integer power; nil on overflow.
  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    if exponent > 63, ![0, 1, -1].contains(base) { return nil }
    if exponent > 63 { return base == -1 && !exponent.isMultiple(of: 2) ? -1 : base == 0 ? 0 : 1 }
    var result: Int64 = 1
    for _ in 0..<exponent {
      let (product, overflow) = result.multipliedReportingOverflow(by: base)
      if overflow { return nil }
      result = product
    }
    return result
  }

  var negated: Number? { Self.subtract(.integer(0), self) }

  package var absolute: Number? { double < 0 ? negated : self }

  /// The number rounded to an integral value of the same representation.
  package func rounded(_ rule: FloatingPointRoundingRule) -> Number {
    switch self {
    case .integer: return self
    case .double(let value): return .double(value.rounded(rule))
    case .decimal(let value):
      var (source, result) = (value, Decimal())
      let mode: NSDecimalNumber.RoundingMode =
        switch rule {
        case .up: .up
        case .down: .down
        default: value < 0 ? .up : .down
        }
      NSDecimalRound(&result, &source, 0, mode)
      return .decimal(result)
    }
  }

  /// The number truncated to an integer and clamped to 64 bits; 0 for NaN.
  var truncated: Number {
    let whole = rounded(.towardZero)
    if let value = whole.whole { return .integer(value) }
    return .integer(double.isNaN ? 0 : double > 0 ? .max : .min)
  }

  private static func truncated(_ value: Decimal) -> Decimal {
    if case .decimal(let whole) = Number.decimal(value).rounded(.towardZero) { whole } else { value }
  }

  /// The number; nil if it is NaN, such as the root of -1.
  package var unlessNaN: Number? {
    switch self {
    case .integer: self
    case .double(let value): value.isNaN ? nil : self
    case .decimal(let value): value.isNaN ? nil : self
    }
  }

  @inline(never)
  private static func combine(
    _ left: Number, _ right: Number, integers whole: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
    doubles floating: (Double, Double) -> Double, decimals decimal: (Decimal, Decimal) -> Decimal
  ) -> Number? {
    switch (left, right) {
    case (.integer(let a), .integer(let b)):
      let (result, overflow) = whole(a, b)
      return overflow ? .double(floating(Double(a), Double(b))) : .integer(result)
    case (.decimal, _), (_, .decimal):
      if let a = left.decimal, let b = right.decimal { return Number.decimal(decimal(a, b)).unlessNaN }
    default: break
    }
    return Number.double(floating(left.double, right.double)).unlessNaN
  }
}
