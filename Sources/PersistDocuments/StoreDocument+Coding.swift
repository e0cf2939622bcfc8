import Foundation
import Persist

extension StoreDocument: Codable {
  private enum Key: String, CodingKey { case format, identifier, model, metadata, lastKeys, objects }

  /// The version of the form that this version of Persist writes.
  static let format = 1

  /// Decodes a document.
  ///
  /// - Throws: The errors of the decoder, `PersistenceError.Code.malformedFile` for a form that is newer than this
  ///   version of Persist, and the errors of reading the model.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    try Self.requireFormat(try container.decode(Int.self, forKey: .format))
    let model = try container.decode(ModelTree.self, forKey: .model)
    let metadata = try container.decodeIfPresent(String.self, forKey: .metadata)
    self.init(
      identifier: try container.decode(String.self, forKey: .identifier),
      model: try ModelDescription(json: try JSONEncoder().encode(model)), metadata: try Self.metadata(metadata),
      lastKeys: try container.decodeIfPresent([String: Int64].self, forKey: .lastKeys) ?? [:],
      objects: try container.decode([Object].self, forKey: .objects))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(Self.format, forKey: .format)
    try container.encode(identifier, forKey: .identifier)
    try container.encode(JSONDecoder().decode(ModelTree.self, from: Data(model.json.utf8)), forKey: .model)
    try container.encodeIfPresent(metadataText(), forKey: .metadata)
    try container.encode(lastKeys, forKey: .lastKeys)
    try container.encode(objects, forKey: .objects)
  }

  static func requireFormat(_ number: Int) throws {
    guard number == format else {
      throw PersistenceError(
        .malformedFile, "The document has the form \(number); this version of Persist reads the form \(format).",
        fix: "Use a newer version of Persist.")
    }
  }

  /// The application's metadata as the base64 text of a property list; nil if there are none.
  func metadataText() throws -> String? {
    metadata.isEmpty ? nil : try PropertyList.dictionary(metadata).binaryData().base64EncodedString()
  }

  static func metadata(_ text: String?) throws -> [String: PropertyList] {
    guard let text else { return [:] }
    guard let data = Data(base64Encoded: text), case .dictionary(let values) = try PropertyList(data: data) else {
      throw PersistenceError(.malformedFile, "The document's metadata aren't a property list in base64.")
    }
    return values
  }
}

extension StoreDocument.Object: Codable {
  private enum Key: String, CodingKey { case entity, key, version, values, references, members }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      entity: try container.decode(String.self, forKey: .entity), key: try container.decode(Int64.self, forKey: .key),
      version: try container.decodeIfPresent(Int64.self, forKey: .version) ?? 1,
      values: (try container.decodeIfPresent([String: CodedValue].self, forKey: .values) ?? [:]).mapValues(\.value),
      references: try container.decodeIfPresent([String: StoreDocument.Reference].self, forKey: .references) ?? [:],
      members: try container.decodeIfPresent([String: [Int64]].self, forKey: .members) ?? [:])
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(entity, forKey: .entity)
    try container.encode(key, forKey: .key)
    if version != 1 { try container.encode(version, forKey: .version) }
    if !values.isEmpty { try container.encode(values.mapValues(CodedValue.init), forKey: .values) }
    if !references.isEmpty { try container.encode(references, forKey: .references) }
    if !members.isEmpty { try container.encode(members, forKey: .members) }
  }
}

/// The JSON of a model as a part of a document.
///
/// Any encoder has this form, that of property lists, too, whose numbers `JSONElement` can't tell apart.
private enum ModelTree: Codable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([ModelTree])
  case object([String: ModelTree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([ModelTree].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: ModelTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
