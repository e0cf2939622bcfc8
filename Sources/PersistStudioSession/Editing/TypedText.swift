import Foundation
import Persist
import PersistInspection

/// Values as the user types them: the inverse of ``ValueText``.
enum TypedText {
  /// Returns the value of a text for an attribute.
  ///
  /// - Parameter text: Nil for null.
  /// - Throws: `PersistenceError.Code.typeMismatch`, with what is expected.
  static func value(_ text: String?, as type: AttributeType, at place: PersistenceError.Place) throws -> Any? {
    guard let text else { return nil }
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    func require<Value>(_ value: Value?, _ what: String) throws -> Value {
      if let value { return value }
      throw PersistenceError(.typeMismatch, at: place, "\(ValueWords.text(trimmed)) isn't \(what).")
    }
    switch type {
    case .int16: return try Int(require(Int16(trimmed), "a whole number from -32768 to 32767"))
    case .int32: return try Int(require(Int32(trimmed), "a whole number of 32 bits"))
    case .int64: return try Int(require(Int64(trimmed), "a whole number"))
    case .double: return try require(Double(trimmed), "a number")
    case .float: return try Double(require(Float(trimmed), "a number"))
    case .decimal:
      let isDecimal = trimmed.wholeMatch(of: #/[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/#) != nil
      return try require(
        isDecimal ? Decimal(wholeText: trimmed) : nil, "a decimal number that can be stored with all its digits")
    case .boolean:
      let values = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]
      return try require(values[trimmed.lowercased()], "true or false")
    case .date: return try require(date(trimmed), "a date such as 2025-08-01T12:00:00Z")
    case .uuid: return try require(UUID(uuidString: trimmed), "a UUID")
    case .uri: return try require(URL(string: trimmed), "a URI")
    case .string: return text
    case .binary, .transformable: return try require(bytes(trimmed), "a row of hexadecimal digits")
    case .composite, .objectID, .undefined:
      throw PersistenceError(.invalidRequest, at: place, "A value of type \(type.rawValue) can't be typed.")
    }
  }

  /// A date that exists in ISO 8601, with any number of decimals, in UTC if it has no time zone; or seconds since 2001.
  private static func date(_ text: String) -> Date? {
    if let seconds = Double(text) { return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil }
    let form = #/
      (?<day> [0-9]{4}-[0-9]{2}-[0-9]{2} ) (?: [T\ ] (?<time> [0-9]{2}:[0-9]{2} ) (?<seconds> :[0-9]{2} )?
      (?<fraction> \.[0-9]+ )? \ ? (?<zone> Z | UTC | [+-][0-9]{2}:?[0-9]{2} )? )?
      /#
    guard let match = text.wholeMatch(of: form) else { return nil }
    let zone = match.zone.map { $0 == "UTC" ? "Z" : String($0) } ?? "Z"
    let whole = "\(match.day)T\(match.time ?? "00:00")\(match.seconds ?? ":00")"
    // Foundation reads February 30 as a day in March.
    guard DateText.date(iso8601: whole + "Z") != nil, let date = try? Date(whole + zone, strategy: .iso8601) else {
      return nil
    }
    return date.addingTimeInterval(match.fraction.flatMap { Double("0" + $0) } ?? 0)
  }

  private static func bytes(_ text: String) -> Data? {
    let digits = text.filter { !$0.isWhitespace }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var data = Data(capacity: digits.count / 2)
    var rest = digits[...]
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
      data.append(byte)
      rest = rest.dropFirst(2)
    }
    return data
  }
}
