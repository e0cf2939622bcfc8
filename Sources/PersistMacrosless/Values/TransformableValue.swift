import Foundation
public import Persist

/// A type whose values a registered transformer converts to bytes, for transformable attributes.
///
/// ```swift
/// struct Color: TransformableValue {
///   static let transformerName = "ColorTransformer"
///   var red, green, blue: UInt8
/// }
///
/// final class Shelf: ManagedObject {
///   @Attribute var color = Color(red: 255, green: 255, blue: 255)
/// }
///
/// AttributeTransformers.register(ColorTransformer(), named: Color.transformerName)      // before the first use
/// ```
///
/// The name is part of the model. For a new type that no other program knows, a ``JSONValue``, or a ``StorableValue``
/// that creates its own bytes, is simpler; this one reads what a transformer of an older program wrote.
public protocol TransformableValue: StorableValue {
  /// The name under which the transformer is registered; empty for keyed archives.
  static var transformerName: String { get }
}

extension TransformableValue {
  /// Core Data's Transformable: a `BLOB` column with the bytes that the transformer creates.
  public static var attributeType: AttributeType { .transformable }

  /// Nil for bytes that the transformer can't read, or that it converts to a value of another type.
  public init?(stored: StoredValue) {
    guard case .data(let data) = stored, let value = try? Self.transformer.value(from: data) as? Self else {
      return nil
    }
    self = value
  }

  /// The bytes that the transformer creates. Traps if it rejects the value, or if none is registered under
  /// ``transformerName``.
  public var stored: StoredValue {
    do {
      return .data(try Self.transformer.data(from: self))
    } catch {
      preconditionFailure("The transformer '\(Self.transformerName)' can't transform the value \(self): \(error)")
    }
  }

  private static var transformer: any AttributeTransformer {
    guard let transformer = AttributeTransformers.transformer(named: transformerName) else {
      preconditionFailure(
        "No transformer '\(transformerName)' is registered for \(Self.self): register it with "
          + "AttributeTransformers.register(_:named:) before the first use.")
    }
    return transformer
  }
}
