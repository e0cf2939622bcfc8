import Foundation

/// Values from programs and data: every kind at its bounds, and at random.
enum GivenSamples {
  static var all: [Any] { integers + numbers + decimals + foundation + others }

  private static var integers: [Any] {
    var bounds: [Int64] = [0, 1, -1, 2, 127, 128, 255, 256, .min, .max, .min + 1, .max - 1]
    for shift in [15, 16, 24, 31, 32, 53] {
      let bound = Int64(1) << Int64(shift)
      for step in [-1, 0, 1] as [Int64] { bounds += [bound + step, step - bound] }
    }
    for _ in 0..<20 { bounds.append(Int64.random(in: .min ... .max) >> Int64.random(in: 0..<63)) }
    let narrow: [Any] = [
      Int8.min, UInt8.max, Int16.min, UInt16.max, Int32.max, UInt32.max, UInt64.max, UInt.max, UInt64(1) << 63,
    ]
    var values = narrow
    for bound in bounds { values += [bound, Int(bound), NSNumber(value: bound)] as [Any] }
    return values
  }

  private static var numbers: [Any] {
    var doubles: [Double] = [
      0, -0.0, 1, -1, 0.5, 1.5, 1.9, 0.1, 10.11, 1e15, 1e22, 1e23, 1e30, 1e127, 1e200, 1e300, -1e300, 1e-7, 1e-200,
      0x1p24, 0x1p24 + 1, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p63, -0x1p63, .infinity, -.infinity, .nan,
      .leastNonzeroMagnitude, .greatestFiniteMagnitude, 123_456_789, 123_456_789.5, 32767, 32768,
    ]
    for _ in 0..<20 { doubles.append(Double(bitPattern: .random(in: .min ... .max))) }
    let floats: [Float] = [0, 1, 0.1, 1.5, 16_777_216, 3e38, .leastNonzeroMagnitude, .infinity, .nan, .random(in: -1...1)]
    var values: [Any] = [CGFloat(1.5), CGFloat(7)]
    for double in doubles { values += [double, NSNumber(value: double)] as [Any] }
    for float in floats { values += [float, NSNumber(value: float)] as [Any] }
    return values
  }

  private static let decimalTexts = [
    "0", "1", "-1", "1.0", "0.1", "1.9", "9007199254740993", "9007199254740993.5", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678", "12345678901234567.89",
    "99999999999999999999999999999999999999", "1e127", "1e-128", "3.3333333333333333", "1e30",
  ]

  private static var decimals: [Any] {
    let decimals: [Decimal] = decimalTexts.compactMap { Decimal(string: $0) } + [Decimal.nan]
    var values: [Any] = decimalTexts
    for decimal in decimals { values += [decimal, NSDecimalNumber(decimal: decimal)] as [Any] }
    return values
  }

  private static var foundation: [Any] {
    [
      NSNumber(value: true), NSNumber(value: false), NSNumber(value: Int8(1)), NSNumber(value: UInt8(200)),
      NSNumber(value: Int16.min), NSNumber(value: UInt16.max), NSNumber(value: Int32.min), NSNumber(value: UInt32.max),
      NSNumber(value: UInt64.max), NSNumber(value: UInt(7)), NSNumber(value: 1 as Int), NSString(string: "text"),
      NSDate(timeIntervalSinceReferenceDate: 0.25), NSData(bytes: [1, 2] as [UInt8], length: 2), NSUUID(),
      NSURL(string: "https://swift.org/x") as Any, NSNull(),
    ]
  }

  private static var others: [Any] {
    [
      true, false, "", "text", "true", "no", "1", "0", " 2 ", "1.5abc", "abc", "nan", "inf", "0x10", "1e3", "1,5", "١",
      "1.9", "2001-01-01T00:00:00Z", "AQI=", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "Substring".prefix(3),
      Date(timeIntervalSinceReferenceDate: 1.5), Date(timeIntervalSinceReferenceDate: .nan), Date.distantFuture,
      Data([0, 255]), Data(), [1, 2, 255] as [UInt8], UUID(), URL(string: "x:y") as Any, Optional<Int>.none as Any,
      Optional(3) as Any, [1, 2], ["a": 1], Date.self, Character("a"),
    ]
  }

  /// Texts of JSON's numbers.
  static let jsonNumbers =
    decimalTexts + [
      "9007199254740991", "9007199254740992", "9007199254740993.0", "0.10000000000000001", "-0", "-0.0", "1E3", "1e3",
      "1.5", "127.0", "1765432109876543211", "12345678901234567.8", "0.30000000000000004", "4.9e-324", "1e300",
    ]
}
