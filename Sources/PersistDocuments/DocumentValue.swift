import Foundation
import Persist

/// A value in a document: texts, integers and Booleans as such, others as an object with their kind.
enum DocumentValue {
  /// The kinds of values, which are their keys in a document.
  enum Kind: String, CodingKey {
    case double, date, decimal, data, uuid, uri, composite, entity, key
  }
}

/// Codes one stored value.
struct CodedValue: Codable {
  let value: StoredValue

  init(_ value: StoredValue) { self.value = value }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: DocumentValue.Kind.self), let kind = container.allKeys.first {
      value = try Self.value(of: kind, in: container)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      value = .null
    } else if let flag = try? container.decode(Bool.self) {
      value = .boolean(flag)
    } else if let number = try? container.decode(Int64.self) {
      value = .integer(number)
    } else {
      value = .string(try container.decode(String.self))
    }
  }

  private static func value(
    of kind: DocumentValue.Kind, in container: KeyedDecodingContainer<DocumentValue.Kind>
  ) throws -> StoredValue {
    func text() throws -> String { try container.decode(String.self, forKey: kind) }
    func found<Value>(_ value: Value?) throws -> Value {
      guard let value else {
        throw DecodingError.dataCorruptedError(
          forKey: kind, in: container, debugDescription: "It isn't a value of the kind '\(kind.rawValue)'.")
      }
      return value
    }
    switch kind {
    case .double: return .double(try container.decode(CodedDouble.self, forKey: kind).value)
    case .date:
      return .date(Date(timeIntervalSinceReferenceDate: try container.decode(CodedDouble.self, forKey: kind).value))
    case .decimal: return .decimal(try found(StoredValue.decimal(inDocument: text())))
    case .data: return .data(try found(Data(base64Encoded: text())))
    case .uuid: return .uuid(try found(UUID(uuidString: text())))
    case .uri: return .uri(try text())
    case .composite:
      return .composite(try container.decode([String: CodedValue].self, forKey: kind).mapValues(\.value))
    case .entity, .key:
      throw DecodingError.dataCorruptedError(
        forKey: kind, in: container, debugDescription: "An attribute can't refer to an object.")
    }
  }

  func encode(to encoder: any Encoder) throws {
    func encode(_ value: some Encodable, _ kind: DocumentValue.Kind) throws {
      var container = encoder.container(keyedBy: DocumentValue.Kind.self)
      try container.encode(value, forKey: kind)
    }
    func encode(plain value: some Encodable) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
    switch value {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .boolean(let flag): try encode(plain: flag)
    case .integer(let number): try encode(plain: number)
    case .string(let text): try encode(plain: text)
    case .double(let number): try encode(CodedDouble(number), .double)
    case .date(let date): try encode(CodedDouble(date.timeIntervalSinceReferenceDate), .date)
    case .decimal(let number): try encode(number.description, .decimal)
    case .data(let data): try encode(data.base64EncodedString(), .data)
    case .uuid(let uuid): try encode(uuid.uuidString, .uuid)
    case .uri(let text): try encode(text, .uri)
    case .composite(let elements): try encode(elements.mapValues(CodedValue.init), .composite)
    case .objectID(let id): try encode(id.uriRepresentation().absoluteString, .uri)
    }
  }
}

/// Codes a double, also one that isn't finite.
private struct CodedDouble: Codable {
  let value: Double

  init(_ value: Double) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Double.self) {
      value = number
      return
    }
    let text = try container.decode(String.self)
    guard let number = StoredValue.double(inDocument: text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' isn't a number.")
    }
    value = number
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if value.isFinite { try container.encode(value) } else { try container.encode("\(value)") }
  }
}

extension StoredValue {
  /// The double that a document's text names.
  static func double(inDocument text: String) -> Double? { Double(text) }

  /// The decimal number that a document's text names.
  static func decimal(inDocument text: String) -> Decimal? {
    text == "NaN" ? .nan : Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }
}
