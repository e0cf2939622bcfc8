import Persist

/// Splits a composite value into its parts, each a stored value.
final class CompositeEncoder: Encoder {
  fileprivate(set) var parts: [String: StoredValue] = [:]
  /// Whether a nested composite that can't be encoded is an error; otherwise it traps.
  fileprivate let isExample: Bool
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(isExample: Bool = false) { self.isExample = isExample }

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
