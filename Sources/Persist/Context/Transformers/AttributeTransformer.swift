public import Foundation

/// Converts the values of transformable attributes to bytes and back.
///
/// ```swift
/// struct ColorTransformer: AttributeTransformer {
///   func data(from value: Any) throws -> Data {
///     guard let color = value as? Color else { throw … }
///     return Data([color.red, color.green, color.blue])
///   }
///   func value(from data: Data) throws -> Any { Color(red: data[0], green: data[1], blue: data[2]) }
/// }
///
/// AttributeTransformers.register(ColorTransformer(), named: "ColorTransformer")
/// ```
///
/// An attribute names its transformer with ``AttributeDescription/valueTransformerName``. The protocol isn't called
/// `ValueTransformer` because Foundation has a class of that name.
public protocol AttributeTransformer: Sendable {
  /// Returns the bytes to store. Called once for each value that is set.
  func data(from value: Any) throws -> Data
  /// Returns the value encoded by stored bytes. The bytes are untrusted and may be malformed.
  func value(from data: Data) throws -> Any
}
