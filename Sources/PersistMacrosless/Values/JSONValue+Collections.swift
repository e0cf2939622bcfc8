import Foundation
public import Persist

// Arrays, sets and dictionaries of `Codable` elements are stored as JSON text:
//
//     @Attribute var tags: [String] = []
//     @Attribute var limits: [String: Int] = ["week": 7]

extension Array: StorableValue, JSONValue, AttributeValue where Element: Codable {
  /// The empty array.
  public static var absent: [Element] { [] }
}

extension Set: StorableValue, JSONValue, AttributeValue where Element: Codable {
  /// The empty set.
  public static var absent: Set<Element> { [] }

  /// The JSON text of an array whose elements are sorted by their texts, so that equal sets have the same text. Traps
  /// if an element can't be encoded.
  public var stored: StoredValue {
    let texts = map { element in
      // An array, because some decoders require a container at the top.
      if case .string(let text) = [element].stored { String(text.dropFirst().dropLast()) } else { "" }
    }
    return .string("[\(texts.sorted().joined(separator: ","))]")
  }
}

/// Only texts as keys: dictionaries with other keys become arrays in JSON, in an order that differs for equal values.
extension Dictionary: StorableValue, JSONValue, AttributeValue where Key == String, Value: Codable {
  /// The empty dictionary.
  public static var absent: [String: Value] { [:] }
}
