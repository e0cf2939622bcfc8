import Persist

/// Assembles a composite value from its parts.
struct CompositeDecoder: Decoder {
  let parts: [String: StoredValue]
  /// Records the names and types of the parts; nil when a value is read.
  let shape: CompositeShape?
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ parts: [String: StoredValue], noting shape: CompositeShape? = nil) {
    self.parts = parts
    self.shape = shape
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedParts<Key>(parts: parts, shape: shape))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.refusal }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.refusal }

  static let refusal = DecodingError.dataCorrupted(
    .init(codingPath: [], debugDescription: "A composite is coded as one value for each key."))
}

/// The parts of a composite type, recorded while the type decodes an example.
final class CompositeShape {
  let example: [String: StoredValue]
  private(set) var elements: [CompositeElement] = []

  init(example: [String: StoredValue]) { self.example = example }

  func note(_ name: String, _ type: Any.Type, isOptional: Bool) throws {
    guard let type = type as? any StorableValue.Type else {
      throw DecodingError.typeMismatch(
        type, .init(codingPath: [], debugDescription: "The part '\(name)' is of type \(type), which can't be stored."))
    }
    if elements.contains(where: { $0.name == name }) { return }
    elements.append(CompositeElement(name: name, type: type, isOptional: isOptional || type.isOptional))
  }
}

private struct KeyedParts<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let parts: [String: StoredValue]
  let shape: CompositeShape?
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { parts.keys.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { parts[key.stringValue]?.isNull == false }
  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try shape?.note(key.stringValue, type, isOptional: false)
    if let value = value(of: type, forKey: key) { return value }
    // The column of a part that was added to the type later is empty in older rows.
    if let type = type as? any AttributeValue.Type, let absent = type.absent as? Value { return absent }
    throw DecodingError.valueNotFound(
      type, .init(codingPath: [key], debugDescription: "The part '\(key.stringValue)' has no value."))
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }

  private func value<Value>(of type: Value.Type, forKey key: Key) -> Value? {
    guard let stored = parts[key.stringValue], let storable = type as? any StorableValue.Type else { return nil }
    return storable.init(stored: stored) as? Value
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try shape?.note(key.stringValue, type, isOptional: true)
    return value(of: type, forKey: key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    throw CompositeDecoder.refusal
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw CompositeDecoder.refusal
  }

  func superDecoder() throws -> any Decoder { throw CompositeDecoder.refusal }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw CompositeDecoder.refusal }
}
