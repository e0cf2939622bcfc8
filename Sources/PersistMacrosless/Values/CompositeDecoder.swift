import Persist

/// Assembles a composite value from its parts.
struct CompositeDecoder: Decoder {
  /// The handling of a part that its type can't read.
  enum Reading {
    /// The whole value can't be read.
    case strict
    /// The part reads as its default, and is recorded.
    case tolerant(UnreadableParts)
    /// Nothing is read: the names and types of the parts are recorded.
    case recording(CompositeShape)
  }

  let parts: [String: StoredValue]
  let reading: Reading
  /// The names that lead to the composite from the property's value.
  let path: [String]
  /// Returns the defaults of the parts.
  let standard: () -> [String: StoredValue]
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// - Parameters:
  ///   - parts: the stored parts, omitting those without a value.
  ///   - reading: what is done with a part that its type can't read.
  ///   - path: the names that lead to the composite from the property's value.
  ///   - standard: returns the defaults of the parts.
  init(
    _ parts: [String: StoredValue], _ reading: Reading = .strict, at path: [String] = [],
    standard: @escaping () -> [String: StoredValue]
  ) {
    self.parts = parts
    self.reading = reading
    self.path = path
    self.standard = standard
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedParts<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.refusal }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.refusal }

  static let refusal = DecodingError.dataCorrupted(
    .init(codingPath: [], debugDescription: "A composite is coded as one value for each key."))

  /// Returns a part; nil if it has no value, or one that is recorded as unreadable.
  ///
  /// - Throws: an error if a strictly read part is unreadable.
  fileprivate func part<Part>(_ name: String, as type: Part.Type) throws -> Part? {
    guard let stored = parts[name], !stored.isNull else { return nil }
    switch reading {
    case .tolerant(let unreadable):
      return PartReader.value(
        of: type, in: stored, at: path + [name], standard: { standard()[name] }, recordingIn: unreadable)
    case .strict, .recording:
      if let storable = (type as? any StorableValue.Type)?.wrappedType,
        let value = storable.init(stored: stored) as? Part
      {
        return value
      }
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "The part '\(name)' isn't a value of \(type)."))
    }
  }

  /// Returns the value of a part that has no readable one: a nested composite without any part, the part's default, or
  /// the type's value for "none".
  ///
  /// The column of a part that was added to the type later may be empty in older rows.
  fileprivate func missingPart<Part>(_ name: String, as type: Part.Type) -> Part? {
    let isMissing = parts[name]?.isNull != false
    if isMissing, let type = type as? any AttributeValue.Type, type.isOptional { return type.absent as? Part }
    let standard = standard()[name]
    if isMissing, let nested = type as? any CompositeValue.Type {
      let inner: [String: StoredValue]? = if case .composite(let inner)? = standard { inner } else { nil }
      if let value = nested.withoutParts(standard: inner) as? Part { return value }
    }
    if let storable = type as? any StorableValue.Type, let value = standard.flatMap({ storable.init(stored: $0) }),
      let part = value as? Part
    {
      return part
    }
    return (type as? any AttributeValue.Type)?.absent as? Part
  }
}

/// The parts of a composite type, recorded while the type decodes an example.
final class CompositeShape {
  let example: [String: StoredValue]
  private(set) var elements: [CompositeElement] = []

  init(example: [String: StoredValue]) { self.example = example }

  func record(_ name: String, _ type: Any.Type, isOptional: Bool) throws {
    guard let type = type as? any StorableValue.Type else {
      throw DecodingError.typeMismatch(
        type, .init(codingPath: [], debugDescription: "The part '\(name)' is of type \(type), which can't be stored."))
    }
    if elements.contains(where: { $0.name == name }) { return }
    elements.append(CompositeElement(name: name, type: type, isOptional: isOptional || type.isOptional))
  }
}

private struct KeyedParts<Key: CodingKey>: OptionalDecodingContainer {
  let decoder: CompositeDecoder
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { decoder.parts.keys.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { decoder.parts[key.stringValue]?.isNull == false }
  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  private func record(_ type: Any.Type, _ key: Key, isOptional: Bool) throws {
    guard case .recording(let shape) = decoder.reading else { return }
    try shape.record(key.stringValue, type, isOptional: isOptional)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try record(type, key, isOptional: false)
    if let value = try decoder.part(key.stringValue, as: type) { return value }
    if let value = decoder.missingPart(key.stringValue, as: type) { return value }
    throw DecodingError.valueNotFound(
      type, .init(codingPath: [key], debugDescription: "The part '\(key.stringValue)' has no value."))
  }

  func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try record(type, key, isOptional: true)
    if let value = try decoder.part(key.stringValue, as: type) { return value }
    // A missing value is nil; an unreadable one is the part's default.
    guard contains(key), let standard = decoder.standard()[key.stringValue] else { return nil }
    return (type as? any StorableValue.Type)?.init(stored: standard) as? Value
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
