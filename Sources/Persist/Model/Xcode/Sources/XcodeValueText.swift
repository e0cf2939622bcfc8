import Foundation

/// Parses values as written by Xcode in a model's XML.
enum XcodeValueText {
  static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }

  /// Parses the text of a default value; nil if it doesn't fit the type.
  ///
  /// Dates aren't handled here: the format has them as seconds in a separate attribute. Types without a text form
  /// return nil too.
  static func value(_ text: String, of type: AttributeType) -> StoredValue? {
    if type == .string { return .string(text) }
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch type {
    case .int16: return integer(text).flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
    case .int32: return integer(text).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
    case .int64: return integer(text).map(StoredValue.integer)
    case .double, .float: return (number(text) ?? truth(text).map(Double.init)).map(StoredValue.double)
    case .decimal: return (decimal(text) ?? truth(text).map { Decimal($0) }).map(StoredValue.decimal)
    case .boolean: return (boolean(text) ?? number(text).map { $0 != 0 }).map(StoredValue.boolean)
    case .uuid: return UUID(uuidString: text).map(StoredValue.uuid)
    case .uri: return .uri(text)
    case .string, .date, .binary, .transformable, .composite, .objectID, .undefined: return nil
    }
  }

  /// Parses a limit for a number, which may exceed the type's range.
  static func limit(_ text: String, of type: AttributeType) -> StoredValue? {
    switch type {
    case .int16, .int32: value(text, of: .int64)
    case .boolean: number(text).flatMap { Int64(exactly: $0) }.map(StoredValue.integer)
    default: value(text, of: type)
    }
  }

  /// Parses seconds since 2001-01-01 00:00 UTC.
  static func date(_ text: String) -> StoredValue? {
    number(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
  }

  /// Parses a whole number, which may end in `.0`.
  private static func integer(_ text: String) -> Int64? {
    Int64(text) ?? number(text).flatMap { Int64(exactly: $0) } ?? truth(text)
  }

  /// Returns 1 for `YES`, 0 for `NO`: Xcode retains a Boolean's default when its attribute becomes a number.
  private static func truth(_ text: String) -> Int64? {
    switch text.lowercased() {
    case "yes", "true": 1
    case "no", "false": 0
    default: nil
    }
  }

  private static func number(_ text: String) -> Double? {
    guard isNumber(text), let value = Double(text), value.isFinite else { return nil }
    return value
  }

  static func decimal(_ text: String) -> Decimal? {
    guard isNumber(text), let value = Decimal(string: text), !value.isNaN else { return nil }
    return value
  }

  /// Whether a string is a plain decimal number: `Decimal(string:)` and `Double` accept more than that.
  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 400
      && text.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.eE".utf8.contains($0) }
      && Double(text) != nil
  }
}
