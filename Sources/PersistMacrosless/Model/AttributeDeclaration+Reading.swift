import Foundation
import Persist

extension AttributeDeclaration: AttributeReading {
  /// True for the standard library's own types over attributes whose values all fit into them. A raw value may be that
  /// of no case, and a `Codable` type can refuse anything.
  func readsEveryValue(of type: AttributeType) -> Bool {
    switch Value.wrappedType {
    case is Bool.Type: type == .boolean
    case is String.Type: type == .string
    case is Date.Type: type == .date
    case is UUID.Type: type == .uuid
    case is Decimal.Type: type == .decimal
    case is Data.Type: type == .binary || type == .transformable
    case is Double.Type, is Float.Type: type == .double || type == .float
    case let integer as any (FixedWidthInteger & StorableValue).Type: integer.contains(type)
    case let transformable as any TransformableValue.Type:
      // Without a transformer, which the program may register later, nothing is known about the values.
      AttributeTransformers.transformer(named: transformable.transformerName) == nil
    default: false
    }
  }

  func unreadableParts(of value: StoredValue) -> [UnreadablePart] {
    let unreadable = UnreadableParts()
    let isComposite = Value.wrappedType is any CompositeValue.Type
    _ = PartReader.value(
      of: Value.self, in: value, at: [], standard: { isComposite ? nil : initialValue?() }, recordingIn: unreadable)
    return unreadable.parts
  }
}

extension FixedWidthInteger {
  /// Whether all values of an integer attribute fit into the type.
  fileprivate static func contains(_ type: AttributeType) -> Bool {
    guard [.int16, .int32, .int64].contains(type) else { return false }
    return Int64(clamping: Self.min) <= type.integerRange.lowerBound
      && Int64(clamping: Self.max) >= type.integerRange.upperBound
  }
}
