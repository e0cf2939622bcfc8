import Foundation
import Persist

/// Decodes JSON whose text is older than the type: missing members and members that their types can't read have those
/// of a default.
///
/// Every part of the text that `JSONDecoder` can decode is decoded by it. Only the values around a failure are decoded
/// member by member.
struct JSONMemberDecoder: Decoder {
  let tree: JSONTree
  /// The value's default; nil if none is known.
  let standard: JSONTree?
  let path: [String]
  let unreadable: UnreadableParts
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// The decoder for texts of today's type.
  static var strict: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }

  /// - Parameters:
  ///   - tree: the stored value.
  ///   - standard: the value's default; nil if none is known.
  ///   - path: the names that lead to the value.
  ///   - unreadable: gets the members that can't be decoded.
  init(_ tree: JSONTree, standard: JSONTree?, at path: [String], recordingIn unreadable: UnreadableParts) {
    self.tree = tree
    self.standard = standard
    self.path = path
    self.unreadable = unreadable
  }

  /// Decodes the value as a type.
  func value<Value: Decodable>(of type: Value.Type) throws -> Value {
    let json = type as? any JSONValue.Type
    let tree = tree.renaming(json?.renamedMembers ?? [:])
    if let value = try? Self.strict.decode(type, from: tree.data) { return value }
    // Decoding a type of the standard library member by member would end here again.
    guard !(type is String.Type || type is Bool.Type || type is any Numeric.Type) else { throw mismatch("a \(type)") }
    if let value = Self.renamedCase(of: type, in: tree) { return value }
    var standard = standard
    if standard == nil, let new = json?.init(), case .string(let text) = new.stored { standard = JSONTree(text) }
    return try Value(from: JSONMemberDecoder(tree, standard: standard, at: path, recordingIn: unreadable))
  }

  /// The case of an enumeration that had another raw value.
  private static func renamedCase<Value>(of type: Value.Type, in tree: JSONTree) -> Value? {
    guard let renamed = type as? any RenamedCases.Type else { return nil }
    func find<Cases: RenamedCases>(_ type: Cases.Type) -> Cases? {
      guard let raw = Cases.RawValue.self as? any Decodable.Type,
        let value = (try? strict.decode(raw, from: tree.data)) as? Cases.RawValue
      else { return nil }
      return Cases.renamedCases[value]
    }
    return find(renamed) as? Value
  }

  func member(_ tree: JSONTree, standard: JSONTree?, _ name: String) -> JSONMemberDecoder {
    JSONMemberDecoder(tree, standard: standard, at: path + [name], recordingIn: unreadable)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let members = tree.members else { throw mismatch("an object") }
    return KeyedDecodingContainer(
      JSONMembers<Key>(decoder: self, members: members, standard: standard?.members ?? [:]))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let elements = tree.elements else { throw mismatch("an array") }
    return JSONElements(decoder: self, elements: elements)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { JSONSingleValue(decoder: self) }

  fileprivate func mismatch(_ expected: String) -> DecodingError {
    DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: "'\(path.joined(separator: "."))' isn't \(expected)."))
  }
}

private struct JSONMembers<Key: CodingKey>: OptionalDecodingContainer {
  let decoder: JSONMemberDecoder
  let members: [String: JSONTree]
  /// The members of the default, for keys that the text lacks or that can't be decoded.
  let standard: [String: JSONTree]
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil || standard[key.stringValue] != nil }
  func decodeNil(forKey key: Key) -> Bool { (members[key.stringValue] ?? standard[key.stringValue])?.isNull != false }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let name = key.stringValue
    guard let tree = members[name] else { return try standardValue(type, key) }
    do {
      return try decoder.member(tree, standard: standard[name], name).value(of: type)
    } catch {
      // A key that the default doesn't contain has no default value.
      guard standard[name] != nil else { throw error }
      decoder.unreadable.record(decoder.path + [name], .string(tree.text), as: type)
      return try standardValue(type, key)
    }
  }

  /// A missing optional member is nil, as the encoder writes it. An unreadable one has its default, which may be nil.
  func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
    let name = key.stringValue
    guard let tree = members[name], !tree.isNull else { return nil }
    do {
      return try decoder.member(tree, standard: standard[name], name).value(of: type)
    } catch {
      decoder.unreadable.record(decoder.path + [name], .string(tree.text), as: type)
      return standard[name] == nil ? nil : try? standardValue(type, key)
    }
  }

  private func standardValue<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
    guard let tree = standard[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: [], debugDescription: "'\(key.stringValue)' has neither a value nor a default."))
    }
    return try JSONMemberDecoder.strict.decode(type, from: tree.data)
  }

  private func inner(_ key: String) throws -> JSONMemberDecoder {
    guard let tree = members[key] ?? standard[key] else { throw decoder.mismatch("an object with '\(key)'") }
    return decoder.member(tree, standard: standard[key], key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try inner(key.stringValue).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inner(key.stringValue).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try inner("super") }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key.stringValue) }
}

private struct JSONElements: UnkeyedDecodingContainer {
  let decoder: JSONMemberDecoder
  let elements: [JSONTree]
  let codingPath: [any CodingKey] = []
  private(set) var currentIndex = 0

  init(decoder: JSONMemberDecoder, elements: [JSONTree]) {
    self.decoder = decoder
    self.elements = elements
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex].isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try next().value(of: type)
    currentIndex += 1
    return value
  }

  /// The decoder of the next element, which has no default but that of its type.
  private func next() throws -> JSONMemberDecoder {
    guard !isAtEnd else { throw decoder.mismatch("long enough") }
    return decoder.member(elements[currentIndex], standard: nil, "\(currentIndex)")
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try next().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try next().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try next()
    currentIndex += 1
    return decoder
  }
}

private struct JSONSingleValue: SingleValueDecodingContainer {
  let decoder: JSONMemberDecoder
  let codingPath: [any CodingKey] = []

  func decodeNil() -> Bool { decoder.tree.isNull }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(of: type) }
}
