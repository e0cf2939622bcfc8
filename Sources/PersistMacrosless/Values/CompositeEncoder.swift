import Persist

/// Splits a composite value into its parts, each a stored value.
final class CompositeEncoder: Encoder {
  fileprivate(set) var parts: [String: StoredValue] = [:]
  /// Whether a nested composite that can't be encoded is an error; otherwise it traps.
  fileprivate let isExample: Bool
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// The older stored parts beneath the value, and the stored form of what the program read from them; nil for none.
  fileprivate let older: (current: [String: StoredValue], base: [String: StoredValue])?

  init(isExample: Bool = false, over older: (current: [String: StoredValue], base: [String: StoredValue])? = nil) {
    self.isExample = isExample
    self.older = older
  }

  /// Returns the stored form of a composite value, with the parts of an older stored value that the program couldn't
  /// read and hasn't changed. Traps if the value can't be encoded as one value for each key.
  static func parts(
    of value: any CompositeValue, over current: StoredValue, readAs base: StoredValue
  ) -> StoredValue {
    guard case .composite(let currentParts) = current else { return value.stored }
    let baseParts: [String: StoredValue] = if case .composite(let parts) = base { parts } else { [:] }
    let encoder = CompositeEncoder(over: (currentParts, baseParts))
    do {
      try value.encode(to: encoder)
    } catch {
      preconditionFailure("A value of type \(type(of: value)) can't be encoded: \(error)")
    }
    // Parts that the type doesn't know are kept as they are.
    for (name, part) in currentParts where encoder.parts[name] == nil && baseParts[name] == nil {
      encoder.parts[name] = part
    }
    return .composite(encoder.parts)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedParts<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }

  fileprivate static func refusal(_ value: Any, _ key: String) -> EncodingError {
    EncodingError.invalidValue(
      value,
      .init(codingPath: [], debugDescription: "A composite's part '\(key)' can't be of type \(type(of: value))."))
  }
}

private struct KeyedParts<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: CompositeEncoder
  let codingPath: [any CodingKey] = []

  func encodeNil(forKey key: Key) {}

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    guard let storable = value as? any StorableValue else {
      throw CompositeEncoder.refusal(value, key.stringValue)
    }
    if encoder.isExample, let composite = value as? any CompositeValue {
      encoder.parts[key.stringValue] = .composite(try composite.exampleParts())
    } else if let older = encoder.older, let current = older.current[key.stringValue] {
      let base = older.base[key.stringValue] ?? .null
      encoder.parts[key.stringValue] = PartReader.stored(storable, over: current, readAs: base)
    } else {
      encoder.parts[key.stringValue] = storable.stored
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(RefusingContainer.Keyed<Nested>())
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
  func superEncoder() -> any Encoder { CompositeEncoder() }
  func superEncoder(forKey key: Key) -> any Encoder { CompositeEncoder() }
}

/// A container that rejects all values, for types that aren't encoded as one value per key.
private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  let codingPath: [any CodingKey] = []
  let count = 0

  func encodeNil() throws { throw CompositeEncoder.refusal(Any?.none as Any, "") }
  func encode<Value: Encodable>(_ value: Value) throws { throw CompositeEncoder.refusal(value, "") }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>())
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { CompositeEncoder() }

  struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) throws { throw CompositeEncoder.refusal(Any?.none as Any, key.stringValue) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      throw CompositeEncoder.refusal(value, key.stringValue)
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      KeyedEncodingContainer(Keyed<Nested>())
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
    func superEncoder() -> any Encoder { CompositeEncoder() }
    func superEncoder(forKey key: Key) -> any Encoder { CompositeEncoder() }
  }
}
