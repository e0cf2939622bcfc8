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
    let kind = jsonKind
    return Self.plainKind(of: type) == kind.name ? kind.value : .object([kind.name: kind.value])
  }

  /// Returns the kind of an attribute's values; nil if they are always written with their kind.
  private static func plainKind(of type: AttributeType) -> String? {
    switch type {
    case .int16, .int32, .int64: "integer"
    case .double, .float: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .boolean: "boolean"
    case .date: "date"
    case .binary, .transformable: "data"
    case .uuid: "uuid"
    case .uri: "uri"
    case .composite, .objectID, .undefined: nil
    }
  }

  private var jsonKind: (name: String, value: JSONElement) {
    switch self {
    case .null: ("null", .null)
    case .boolean(let value): ("boolean", .boolean(value))
    case .integer(let value): ("integer", .integer(value))
    case .double(let value): ("double", .double(value))
    case .decimal(let value): ("decimal", .string(value.description))
    case .string(let value): ("string", .string(value))
    case .date(let value): ("date", .double(value.timeIntervalSinceReferenceDate))
    case .data(let value): ("data", .string(value.base64EncodedString()))
    case .uuid(let value): ("uuid", .string(value.uuidString))
    case .uri(let value): ("uri", .string(value))
    case .objectID(let value): ("objectID", .string(value.description))
    case .composite(let elements):
      ("composite", .object(elements.mapValues { value in
        let kind = value.jsonKind
        return .object([kind.name: kind.value])
      }))
    }
  }

  private static func plain(_ json: JSONElement, as type: AttributeType) -> StoredValue? {
    plainKind(of: type).flatMap { value(json, kind: $0) }
  }

  private static func withKind(_ json: JSONElement) -> StoredValue? {
    guard case .object(let members) = json, let member = members.first, members.count == 1 else { return nil }
    return value(member.value, kind: member.key)
  }

  private static func value(_ json: JSONElement, kind: String) -> StoredValue? {
    switch (kind, json) {
    case ("null", .null): .null
    case ("boolean", .boolean(let value)): .boolean(value)
    case ("integer", .integer(let value)): .integer(value)
    case ("double", _): number(json).map(StoredValue.double)
    case ("date", _): number(json).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case ("decimal", .string(let text)): decimal(text).map(StoredValue.decimal)
    case ("string", .string(let text)): .string(text)
    case ("data", .string(let text)): Data(base64Encoded: text).map(StoredValue.data)
    case ("uuid", .string(let text)): UUID(uuidString: text).map(StoredValue.uuid)
    case ("uri", .string(let text)): .uri(text)
    case ("objectID", .string(let text)):
      URL(string: text).flatMap { ManagedObjectID(uriRepresentation: $0) }.map(StoredValue.objectID)
    case ("composite", .object(let members)): composite(members)
    default: nil
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
