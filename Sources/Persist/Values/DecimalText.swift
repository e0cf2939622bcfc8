package import Foundation

/// A number as its significant digits and a power of ten: exactly what the text says, before any type rounds it.
///
/// The syntax is that of numbers in Swift and JSON: `-12`, `3.10`, `1e-7`. Nothing may surround the number, and words
/// such as `nan` are rejected.
package struct DecimalText: Equatable {
  let isNegative: Bool
  /// The digits without leading and trailing zeros; empty for zero.
  let digits: ArraySlice<UInt8>
  /// The power of ten of the last digit.
  let exponent: Int

  package init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    let sign = rest.first
    if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
    let whole = rest.prefix(while: Self.isDigit)
    rest = rest.dropFirst(whole.count)
    var fraction: ArraySlice<UInt8> = []
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      fraction = rest.prefix(while: Self.isDigit)
      rest = rest.dropFirst(fraction.count)
    }
    guard !whole.isEmpty || !fraction.isEmpty else { return nil }
    var power = 0
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      guard rest.count <= 12, let written = Int(String(decoding: rest.dropFirst(), as: UTF8.self)) else { return nil }
      power = written
      rest = []
    }
    guard rest.isEmpty else { return nil }
    let all = Array(whole) + fraction
    let significant = all.reversed().drop { $0 == UInt8(ascii: "0") }.reversed().drop { $0 == UInt8(ascii: "0") }
    digits = Array(significant)[...]
    isNegative = sign == UInt8(ascii: "-") && !digits.isEmpty
    let trailing = all.reversed().prefix { $0 == UInt8(ascii: "0") }.count
    exponent = digits.isEmpty ? 0 : power - fraction.count + trailing
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  var isWhole: Bool { exponent >= 0 }

  /// The number without a power of ten and without needless zeros, as `Decimal` is described: `0.05`, `1200`. Nil if
  /// the text would be of an unreasonable length.
  package var positional: String? {
    guard abs(exponent) <= 1000 else { return nil }
    var text = String(decoding: digits.isEmpty ? [UInt8(ascii: "0")] : digits, as: UTF8.self)
    if exponent >= 0 {
      text += String(repeating: "0", count: exponent)
    } else {
      let missing = max(0, -exponent - text.count + 1)
      text = String(repeating: "0", count: missing) + text
      text.insert(".", at: text.index(text.endIndex, offsetBy: exponent))
    }
    return isNegative ? "-" + text : text
  }

  /// Bytes that sort like the numbers: the sign, the power of ten of the first digit, and the digits, inverted for
  /// negative numbers. Negative numbers end with a byte greater than any digit, so that those with more digits sort
  /// first.
  package var sortKey: [UInt8] {
    guard !digits.isEmpty else { return [1] }
    let power = UInt16(clamping: exponent + digits.count + 0x8000)
    let magnitude = [UInt8(power >> 8), UInt8(power & 0xFF)] + digits
    return isNegative ? [0] + magnitude.map { ~$0 } + [0xFF] : [2] + magnitude
  }
}

extension Decimal {
  /// Parses the text of a column's value. Nil for a text that isn't a number: Foundation would read its beginning, that
  /// of `-Infinity` as zero.
  package init?(storedText text: String) {
    let isNumber = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
    guard isNumber, text.utf8.last.map({ $0 >= UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }) == true,
      let value = Decimal(string: text)
    else { return nil }
    self = value
  }

  /// Parses a complete text as a number. Nil if the text contains anything else or if a decimal can't represent the
  /// number exactly.
  package init?(wholeText text: String) {
    guard let wanted = DecimalText(text), wanted.digits.count <= 39 else { return nil }
    let number = "\(wanted.isNegative ? "-" : "")\(wanted.mantissa)e\(wanted.exponent)"
    guard let value = Decimal(string: number, locale: nil), !value.isNaN, DecimalText(value.description) == wanted
    else { return nil }
    self = value
  }

  /// Converts a floating-point number through its shortest text: 10.11 becomes 10.11, whatever its binary fraction. Nil
  /// if the number isn't finite or exceeds what a decimal can hold.
  package init?(shortestTextOf number: some BinaryFloatingPoint & CustomStringConvertible) {
    guard number.isFinite else { return nil }
    self.init(wholeText: number.description)
  }

  /// The double nearest to the number. Foundation's own conversion is sometimes off by the last bit.
  package var nearestDouble: Double { Double(description) ?? .nan }
}

extension DecimalText {
  fileprivate var mantissa: String { digits.isEmpty ? "0" : String(decoding: digits, as: UTF8.self) }
}

extension Int64 {
  /// The integer equal to a decimal; nil if the decimal has a fraction or is out of range.
  init?(exactly number: Decimal) {
    guard !number.isNaN, let text = DecimalText(number.description), text.isWhole,
      text.digits.count + text.exponent <= 19,
      let value = Int64((text.isNegative ? "-" : "") + text.mantissa + String(repeating: "0", count: text.exponent))
    else { return nil }
    self = value
  }
}
