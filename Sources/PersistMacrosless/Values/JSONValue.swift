import Foundation
public import Persist

/// A `Codable` type whose values are stored as a text, in JSON.
///
/// ```swift
/// struct Preferences: JSONValue {
///   var columns: [String] = []
///   var isCompact = false
/// }
///
/// final class User: ManagedObject {
///   @Attribute var preferences = Preferences()
/// }
/// ```
///
/// The store keeps the whole as one value, with sorted keys; what is inside can't be asked for. A text of an older form
/// of the type that can't be decoded reads as no value. For parts in columns of their own there is ``CompositeValue``.
public protocol JSONValue: StorableValue, Codable {}

extension JSONValue {
  public static var attributeType: AttributeType { .string }

  public init?(stored: StoredValue) {
    guard case .string(let text) = stored,
      let value = try? JSONDecoder().decode(Self.self, from: Data(text.utf8))
    else { return nil }
    self = value
  }

  public var stored: StoredValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // What JSON can't say, as a number that is infinite, is no value.
    guard let data = try? encoder.encode(self) else { return .null }
    return .string(String(decoding: data, as: UTF8.self))
  }
}

