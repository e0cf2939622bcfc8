import Foundation

/// Turns what data say into a value of an attribute's type, as generously as MagicalRecord does.
///
/// | attribute | takes beside its own values |
/// |---|---|
/// | numbers | texts with a number, Booleans as 0 and 1; what doesn't fit is refused |
/// | `boolean` | 0 and other numbers; `true`, `yes`, `t`, `y`, `1` and their opposites |
/// | `string` | numbers and Booleans, as text |
/// | `date` | texts in the attribute's `dateFormat`, or in ISO 8601; numbers of seconds since 1970 |
/// | `uuid` | texts |
/// | `uri` | texts |
/// | `binary` | texts in base64 |
/// | `transformable` | what its transformer takes; where that isn't registered texts in base64 |
/// | `composite` | an object with the elements' names |
///
/// `dateFormat` in the attribute's user info is a pattern such as `yyyy-MM-dd HH:mm`, for the time zone of Greenwich
/// unless it has one of its own, or `UnixTime` for seconds since 1970.
struct ImportConversion {
  let attribute: AttributeDescription
  let place: PersistError.Place

  func stored(_ value: ImportValue) throws -> StoredValue {
    switch value {
    case .plain(.null): return .null
    case _ where attribute.type == .transformable:
      if let transformer = AttributeTransformers.transformer(of: attribute) {
        return .data(try transformer.data(from: value.any))
      }
      guard case .plain(.string(let text)) = value, let data = Data(base64Encoded: text) else {
        throw PersistError(
          .typeMismatch, at: place, "No transformer '\(attribute.valueTransformerName ?? "")' is registered.",
          fix: "Register it with AttributeTransformers.register(_:named:), or give its bytes in base64.")
      }
      return .data(data)
    case .plain(let plain):
      guard let stored = converted(plain) else { throw mismatch(plain) }
      return stored
    case .list, .fields:
      throw PersistError(
        .typeMismatch, at: place, "'\(attribute.name)' is \(attribute.type.rawValue) and takes a single value.",
        fix: "Name the nested value with a dot in mappedKeyName: 'outer.inner'.")
    }
  }

  /// A value for a composite attribute.
  func stored(_ value: ImportValue, elements: [Property.Element], below path: [String]) throws -> StoredValue {
    if value.isNull { return .null }
    guard case .fields(let members) = value else {
      throw PersistError(.typeMismatch, at: place, "'\(attribute.name)' is composite and takes an object.")
    }
    var parts: [String: StoredValue] = [:]
    for (name, member) in members {
      let inner = path + [name]
      if let element = elements.first(where: { $0.path == inner }) {
        parts[name] = try ImportConversion(attribute: element.attribute, place: place).stored(member)
      } else if elements.contains(where: { $0.path.starts(with: inner) }) {
        parts[name] = try stored(member, elements: elements, below: inner)
      }
    }
    return .composite(parts)
  }

  private func converted(_ value: StoredValue) -> StoredValue? {
    switch attribute.type {
    case .int16: whole(value).flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
    case .int32: whole(value).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
    case .int64: whole(value).map(StoredValue.integer)
    case .double: real(value).map(StoredValue.double)
    // A float's column is eight bytes wide; what is beyond a float's precision must not come back.
    case .float: real(value).map { .double(Double(Float($0))) }
    case .decimal: decimal(value).map(StoredValue.decimal)
    case .boolean: truth(value).map(StoredValue.boolean)
    case .string: text(value).map(StoredValue.string)
    case .uri: text(value).map(StoredValue.uri)
    case .date: date(value).map(StoredValue.date)
    case .uuid: if case .string(let text) = value { UUID(uuidString: text).map(StoredValue.uuid) } else { own(value) }
    case .binary:
      if case .string(let text) = value { Data(base64Encoded: text).map(StoredValue.data) } else { own(value) }
    case .undefined: value
    case .composite, .objectID, .transformable: own(value)
    }
  }

  private func own(_ value: StoredValue) -> StoredValue? {
    switch (value, attribute.type) {
    case (.uuid, .uuid), (.data, .binary), (.composite, .composite), (.objectID, .objectID):
      value
    default: nil
    }
  }

  private func whole(_ value: StoredValue) -> Int64? {
    switch value {
    case .integer(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number): Int64(exactly: number.rounded(.towardZero))
    case .decimal(let number): Int64(exactly: (number as NSDecimalNumber).doubleValue.rounded(.towardZero))
    case .string(let text):
      Int64(text.trimmed) ?? Double(text.trimmed).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    default: nil
    }
  }

  private func real(_ value: StoredValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number): number
    case .decimal(let number): (number as NSDecimalNumber).doubleValue
    case .string(let text): Double(text.trimmed)
    default: nil
    }
  }

  private func decimal(_ value: StoredValue) -> Decimal? {
    switch value {
    case .integer(let number): Decimal(number)
    case .boolean(let flag): flag ? 1 : 0
    // By its shortest text: 1.2 is meant, not the double next to it.
    case .double(let number): Decimal(string: "\(number)", locale: Locale(identifier: "en_US_POSIX"))
    case .decimal(let number): number
    case .string(let text): Decimal(string: text.trimmed, locale: Locale(identifier: "en_US_POSIX"))
    default: nil
    }
  }

  private func truth(_ value: StoredValue) -> Bool? {
    switch value {
    case .boolean(let flag): return flag
    case .integer(let number): return number != 0
    case .double(let number): return number != 0
    case .string(let text):
      switch text.trimmed.lowercased() {
      case "true", "yes", "t", "y", "1": return true
      case "false", "no", "f", "n", "0": return false
      default: return nil
      }
    default: return nil
    }
  }

  private func text(_ value: StoredValue) -> String? {
    switch value {
    case .string(let text), .uri(let text): text
    case .integer(let number): "\(number)"
    case .double(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .decimal(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .uuid(let uuid): uuid.uuidString
    default: nil
    }
  }

  private func date(_ value: StoredValue) -> Date? {
    if case .date(let date) = value { return date }
    let format = attribute.userInfo["dateFormat"]
    guard case .string(let text) = value else { return real(value).map { Date(timeIntervalSince1970: $0) } }
    if format == "UnixTime" { return Double(text.trimmed).map { Date(timeIntervalSince1970: $0) } }
    guard let format else {
      return (try? Date.ISO8601FormatStyle().parse(text)) ?? Self.date(text, format: "yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ")
        ?? Self.date(text, format: "yyyy-MM-dd")
    }
    return Self.date(text, format: format)
  }

  private static func date(_ text: String, format: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = format
    return formatter.date(from: text)
  }

  private func mismatch(_ value: StoredValue) -> PersistError {
    let format = attribute.type == .date ? attribute.userInfo["dateFormat"] : nil
    return PersistError(
      .typeMismatch, at: place, "'\(attribute.name)' is \(attribute.type.rawValue) and can't be made of \(value).",
      fix: format.map { "Its dateFormat is '\($0)'." } ?? "Mend the data, or give the attribute another type.")
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
