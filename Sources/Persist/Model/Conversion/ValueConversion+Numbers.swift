import Foundation

extension ValueConversion {
  /// Returns a number with all its digits, before conversion to the attribute's type.
  private func number(_ given: GivenValue) throws(Refusal) -> GivenValue {
    switch given {
    case .float, .value(.integer), .value(.double), .value(.decimal): return given
    case .value(.boolean(let flag)): return .value(.integer(flag ? 1 : 0))
    case .value(.string(let text)) where source == .data:
      let trimmed = text.trimmed
      if let number = Int64(trimmed) { return .value(.integer(number)) }
      guard let parsed = DecimalText(trimmed) else { throw .kind }
      if let number = Decimal(wholeText: trimmed) { return .value(.decimal(number)) }
      // No decimal can hold it, but a double may represent this whole number exactly, or round a fraction.
      guard [.double, .float].contains(attribute.type), let number = Double(trimmed), number.isFinite, number != 0,
        !parsed.isWhole || DecimalText(number.description) == parsed
      else { throw .digits }
      return .value(.double(number))
    default: throw .kind
    }
  }

  func whole(_ given: GivenValue) throws(Refusal) -> Int64 {
    let range = attribute.type.integerRange
    let value: Int64?
    let outside = Refusal.range("\(range.lowerBound) to \(range.upperBound)")
    switch try number(given) {
    case .value(.integer(let number)): value = number
    case .value(.double(let number)): value = try Self.whole(number, else: outside)
    case .float(let number): value = try Self.whole(Double(number), else: outside)
    case .value(.decimal(let number)):
      value = Int64(exactly: number)
      if value == nil, !number.isNaN, abs(number) >= Decimal(Int64.max) { throw outside }
    default: throw .kind
    }
    guard let value else { throw .digits }
    guard range.contains(value) else { throw outside }
    return value
  }

  private static func whole(_ number: Double, else outside: Refusal) throws(Refusal) -> Int64? {
    if abs(number) >= 0x1p63, number != -0x1p63 { throw outside }
    return Int64(exactly: number)
  }

  func truth(_ given: GivenValue) throws(Refusal) -> Bool {
    if case .value(.string(let text)) = given, source == .data {
      switch text.trimmed.lowercased() {
      case "true", "yes", "t", "y": return true
      case "false", "no", "f", "n": return false
      default: break
      }
    }
    switch try number(given) {
    case .value(.integer(0)), .value(.double(0)), .value(.decimal(0)), .float(0): return false
    case .value(.integer(1)), .value(.double(1)), .value(.decimal(1)), .float(1): return true
    default: throw .range("0 to 1")
    }
  }

  func double(_ given: GivenValue) throws(Refusal) -> Double {
    switch try number(given) {
    case .value(.double(let number)): return number
    case .float(let number): return Double(number)
    case .value(.integer(let number)):
      guard let exact = Double(exactly: number) else { throw .digits }
      return exact
    case .value(.decimal(let number)):
      // Foundation's own conversion is sometimes off by the last bit; parsing the text rounds correctly.
      guard let text = DecimalText(number.description), let nearest = Double(number.description) else { throw .digits }
      if text.isWhole || abs(nearest) >= 0x1p53 {
        let exact = DecimalText(String(format: "%.0f", nearest))
        guard DecimalText(nearest.description) == text || exact == text else { throw .digits }
      }
      return nearest
    default: throw .kind
    }
  }

  func float(_ given: GivenValue) throws(Refusal) -> Float {
    switch try number(given) {
    case .float(let number): return number
    case .value(.integer(let number)):
      guard let exact = Float(exactly: number) else { throw .digits }
      return exact
    case .value(.decimal(let number)):
      // The intermediate double preserves every digit that a float can have, or throws.
      let wide = try double(given)
      guard let text = DecimalText(number.description) else { throw .digits }
      return try Self.checked(Float(wide), text, of: wide)
    case .value(.double(let number)):
      if !number.isFinite { return Float(number) }
      guard let text = DecimalText(number.description) else { throw .digits }
      return try Self.checked(Float(number), text, of: number)
    default: throw .kind
    }
  }

  /// Returns the nearest float if it preserves every digit of the number's integer part.
  private static func checked(_ nearest: Float, _ text: DecimalText, of number: Double) throws(Refusal) -> Float {
    let limit = Float.greatestFiniteMagnitude
    guard nearest.isFinite else { throw .range("\(-limit) to \(limit)") }
    let isExact = Double(nearest) == number || DecimalText(nearest.description) == text
    if isExact { return nearest }
    guard !text.isWhole, abs(nearest) < 0x1p24, nearest != 0 else { throw .digits }
    return nearest
  }

  func decimal(_ given: GivenValue) throws(Refusal) -> Decimal {
    switch try number(given) {
    case .value(.decimal(let number)): return number
    case .value(.integer(let number)): return Decimal(number)
    case .value(.double(let number)):
      guard let decimal = Decimal(shortestTextOf: number) else { throw Self.beyondDecimals }
      return decimal
    case .float(let number):
      guard let decimal = Decimal(shortestTextOf: number) else { throw Self.beyondDecimals }
      return decimal
    default: throw .kind
    }
  }

  private static var beyondDecimals: Refusal { .range("1e-128 to 1e127") }
}
