import Foundation
public import Persist

/// A `Codable` type whose values are stored as JSON text.
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
/// The store contains the whole as one value, with sorted keys; its contents can't be queried. A text in an older
/// format of the type that can't be decoded reads as no value. To store parts in separate columns use
/// ``CompositeValue``.
public protocol JSONValue: StorableValue, Codable {}

extension JSONValue {
  /// Core Data's String: the JSON text, in a `VARCHAR` column.
  public static var attributeType: AttributeType { .string }

  /// Decodes a value; nil if the stored value isn't JSON text that the type can decode.
  public init?(stored: StoredValue) {
    guard case .string(let text) = stored,
      let value = try? Self.decoder.decode(Self.self, from: Data(text.utf8))
    else { return nil }
    self = value
  }

  /// The JSON text, with sorted keys. Infinity and NaN become the texts `inf`, `-inf` and `nan`. Traps if the value
  /// can't be encoded.
  public var stored: StoredValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no numbers for infinity and NaN.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return .string(String(decoding: try encoder.encode(self), as: UTF8.self))
    } catch {
      preconditionFailure("A value of type \(Self.self) can't be encoded: \(error)")
    }
  }

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }
}

