import Foundation

extension StoredValue {
  /// The description of the value's kind in error messages.
  package var kind: String {
    switch self {
    case .null: "no value"
    case .boolean: "a Boolean"
    case .integer: "an integer"
    case .double, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .objectID: "an identifier"
    case .composite: "a composite value"
    }
  }

  /// The text that text operators use; nil for values without a textual form.
  var text: String? {
    switch self {
    case .string(let value), .uri(let value): value
    case .integer(let value): String(value)
    case .boolean(let value): value ? "1" : "0"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .uuid(let value): value.uuidString
    case .null, .date, .data, .objectID, .composite: nil
    }
  }

  /// The value for a key of this value: an element of a composite, or one of the few properties of Foundation's values
  /// that format strings use.
  func value(forKey key: String) throws -> StoredValue {
    switch (self, key) {
    case (.null, _): return .null
    case (_, "self"): return self
    case (.composite(let elements), _): return elements[key] ?? .null
    case (.objectID, "objectID"): return self
    case (.string(let text), "length"): return .integer(Int64(text.utf16.count))
    case (.string(let text), "lowercaseString"): return .string(text.lowercased())
    case (.string(let text), "uppercaseString"): return .string(text.uppercased())
    case (.string(let text), "capitalizedString"): return .string(text.capitalized)
    case (.string(let text), "lastPathComponent"): return .string((text as NSString).lastPathComponent)
    case (.string(let text), "pathExtension"): return .string((text as NSString).pathExtension)
    case (.string(let text), "intValue"), (.string(let text), "integerValue"), (.string(let text), "longLongValue"):
      return .integer((text as NSString).longLongValue)
    case (.string(let text), "doubleValue"), (.string(let text), "floatValue"):
      return .double((text as NSString).doubleValue)
    case (.string(let text), "boolValue"): return .boolean((text as NSString).boolValue)
    case (.uri(let text), "absoluteString"): return .string(text)
    case (.uri(let text), "host"): return URL(string: text)?.host.map(StoredValue.string) ?? .null
    case (.uri(let text), "path"): return (URL(string: text)?.path).map(StoredValue.string) ?? .null
    case (.uri(let text), "scheme"): return URL(string: text)?.scheme.map(StoredValue.string) ?? .null
    case (.uri(let text), "lastPathComponent"):
      return (URL(string: text)?.lastPathComponent).map(StoredValue.string) ?? .null
    case (.uri(let text), "pathExtension"):
      return (URL(string: text)?.pathExtension).map(StoredValue.string) ?? .null
    case (.uuid(let value), "UUIDString"), (.uuid(let value), "uuidString"): return .string(value.uuidString)
    case (.date(let date), "timeIntervalSinceReferenceDate"): return .double(date.timeIntervalSinceReferenceDate)
    case (.date(let date), "timeIntervalSince1970"): return .double(date.timeIntervalSince1970)
    case (.data(let data), "length"): return .integer(Int64(data.count))
    case (_, "stringValue"), (_, "description"):
      if let text { return .string(text) }
    case (_, "intValue"), (_, "integerValue"), (_, "longLongValue"):
      if let number = Number(self) { return number.truncated.value }
    case (_, "doubleValue"), (_, "floatValue"):
      if let number = Number(self) { return .double(number.double) }
    case (_, "boolValue"):
      if let number = Number(self) { return .boolean(number.double != 0) }
    default: break
    }
    throw PersistenceError(
      .unknownProperty, at: PersistenceError.Place(property: key), "\(kind) has no property '\(key)'.")
  }
}
