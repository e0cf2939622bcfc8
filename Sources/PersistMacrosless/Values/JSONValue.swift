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
      let value = try? Self.decoder.decode(Self.self, from: Data(text.utf8))
    else { return nil }
    self = value
  }

  public var stored: StoredValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no numbers for these.
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

