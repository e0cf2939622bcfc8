import Foundation

/// Values in a model's JSON. A value of the expected type is written directly, any other with its kind.
extension StoredValue {
  /// Reads a member that contains a value; nil if it is absent.
  init?(json key: String, of fields: inout JSONFields, type: AttributeType) throws {
    guard let json = fields.value(key) else { return nil }
    guard let value = Self.plain(json, as: type) ?? Self.withKind(json) else {
      throw fields.error(key, "Expected a value of type \(type.rawValue), found \(json.kind).")
    }
    self = value
  }

  func jsonValue(as type: AttributeType) -> JSONElement {
    Self.plainKind(of: type) == valueKind ? json : withKind
  }

  /// Returns the kind of an attribute's values; nil if they are always written with their kind.
  private static func plainKind(of type: AttributeType) -> ValueKind? {
    [.composite, .objectID].contains(type) ? nil : type.traits.values
  }

  private var withKind: JSONElement { .object([valueKind.rawValue: json]) }

  @inline(never)
  private var json: JSONElement {
    switch self {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .decimal(let value): .string(value.description)
    case .string(let value), .uri(let value): .string(value)
    case .date(let value): .double(value.timeIntervalSinceReferenceDate)
    case .data(let value): .string(value.base64EncodedString())
    case .uuid(let value): .string(value.uuidString)
    case .objectID(let value): .string(value.description)
    case .composite(let elements): .object(elements.mapValues(\.withKind))
    }
  }

  private static func plain(_ json: JSONElement, as type: AttributeType) -> StoredValue? {
    plainKind(of: type).flatMap { value(json, $0) }
  }

  private static func withKind(_ json: JSONElement) -> StoredValue? {
    guard case .object(let members) = json, let member = members.first, members.count == 1 else { return nil }
    return ValueKind(rawValue: member.key).flatMap { value(member.value, $0) }
  }

  private static func value(_ json: JSONElement, _ kind: ValueKind) -> StoredValue? {
    var text: String? { if case .string(let text) = json { text } else { nil } }
    switch kind {
    case .null: return json == .null ? .null : nil
    case .boolean: return if case .boolean(let value) = json { .boolean(value) } else { nil }
    case .integer: return if case .integer(let value) = json { .integer(value) } else { nil }
    case .double: return number(json).map(StoredValue.double)
    case .date: return number(json).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .decimal: return text.flatMap(decimal).map(StoredValue.decimal)
    case .string: return text.map(StoredValue.string)
    case .data: return text.flatMap { Data(base64Encoded: $0) }.map(StoredValue.data)
    case .uuid: return text.flatMap { UUID(uuidString: $0) }.map(StoredValue.uuid)
    case .uri: return text.map(StoredValue.uri)
    case .objectID:
      return text.flatMap { URL(string: $0) }.flatMap { ManagedObjectID(uriRepresentation: $0) }
        .map(StoredValue.objectID)
    case .composite: return if case .object(let members) = json { composite(members) } else { nil }
    }
  }

  private static func composite(_ members: [String: JSONElement]) -> StoredValue? {
    var elements: [String: StoredValue] = Dictionary()
    for (name, member) in members {
      guard let value = withKind(member) else { return nil }
      elements[name] = value
    }
    return .composite(elements)
  }

  private static func number(_ json: JSONElement) -> Double? {
    switch json {
    case .number(let value): value
    case .integer(let value): Double(exactly: value)
    case .decimal(let value): Double(value.description)
    case .string(let text) where ["nan", "inf", "-inf"].contains(text): Double(text)
    default: nil
    }
  }

  private static func decimal(_ text: String) -> Decimal? {
    if text == "NaN" { return .nan }
    return Decimal(wholeText: text)
  }
}
