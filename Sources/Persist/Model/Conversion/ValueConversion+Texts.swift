import Foundation

extension ValueConversion {
  func text(_ given: GivenValue) throws(Refusal) -> String {
    if case .value(.string(let text)) = given { return text }
    guard source == .data else { throw .kind }
    switch given {
    case .value(.uri(let text)): return text
    case .value(.uuid(let uuid)): return uuid.uuidString
    case .value(.boolean(let flag)): return "\(flag)"
    case .value(.integer(let number)): return "\(number)"
    case .value(.decimal(let number)) where !number.isNaN: return "\(number)"
    case .value(.double(let number)) where number.isFinite: return Self.text(number)
    case .float(let number) where number.isFinite: return Self.text(number)
    default: throw .kind
    }
  }

  /// Formats a whole number without a fraction, since JSON doesn't distinguish 1 from 1.0.
  private static func text(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> String {
    Int64(exactly: number).map { "\($0)" } ?? number.description
  }

  func uri(_ given: GivenValue) throws(Refusal) -> String {
    switch given {
    case .value(.uri(let text)), .value(.string(let text)): return text
    default: throw .kind
    }
  }

  func uuid(_ given: GivenValue) throws(Refusal) -> UUID {
    switch given {
    case .value(.uuid(let uuid)): return uuid
    case .value(.string(let text)) where source == .data:
      guard let uuid = UUID(uuidString: text.trimmed) else { throw .kind }
      return uuid
    default: throw .kind
    }
  }

  func data(_ given: GivenValue) throws(Refusal) -> Data {
    switch given {
    case .value(.data(let data)): return data
    case .value(.string(let text)) where source == .data:
      guard let data = Data(base64Encoded: text) else { throw .kind }
      return data
    default: throw .kind
    }
  }

  /// Converts to a date. Numbers are seconds since 1970, or milliseconds if the format is `UnixTime`, as in
  /// MagicalRecord.
  func date(_ given: GivenValue) throws(Refusal) -> Date {
    if case .value(.date(let date)) = given { return date }
    guard source == .data else { throw .kind }
    let format = attribute.userInfo["dateFormat"]
    let unit: Double = format == "UnixTime" ? 1000 : 1
    switch given {
    case .value(.integer(let number)): return Date(timeIntervalSince1970: Double(number) / unit)
    case .value(.double(let number)) where number.isFinite: return Date(timeIntervalSince1970: number / unit)
    case .float(let number) where number.isFinite: return Date(timeIntervalSince1970: Double(number) / unit)
    case .value(.decimal(let number)):
      guard let seconds = Double(number.description), seconds.isFinite else { throw .kind }
      return Date(timeIntervalSince1970: seconds / unit)
    case .value(.string(let text)):
      guard let date = Self.date(text, format: format, unit: unit) else { throw .kind }
      return date
    default: throw .kind
    }
  }

  private static func date(_ text: String, format: String?, unit: Double) -> Date? {
    if format == "UnixTime" {
      guard DecimalText(text.trimmed) != nil, let number = Double(text.trimmed), number.isFinite else { return nil }
      return Date(timeIntervalSince1970: number / unit)
    }
    if let format { return date(text, format: format) }
    return (try? Date.ISO8601FormatStyle().parse(text)) ?? date(text, format: "yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ")
      ?? date(text, format: "yyyy-MM-dd")
  }

  private static func date(_ text: String, format: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = format
    return formatter.date(from: text)
  }
}

extension String {
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
