public import Foundation

/// Turns the values of transformable attributes into bytes and back.
///
/// ```swift
/// struct ColourTransformer: AttributeTransformer {
///   func data(from value: Any) throws -> Data {
///     guard let colour = value as? Colour else { throw … }
///     return Data([colour.red, colour.green, colour.blue])
///   }
///   func value(from data: Data) throws -> Any { Colour(red: data[0], green: data[1], blue: data[2]) }
/// }
///
/// AttributeTransformers.register(ColourTransformer(), named: "ColourTransformer")
/// ```
///
/// An attribute names its transformer with ``AttributeDescription/valueTransformerName``. The name isn't
/// `ValueTransformer` because Foundation has that one.
public protocol AttributeTransformer: Sendable {
  /// The bytes that the store gets, as they are. Asked once for each value that is set.
  func data(from value: Any) throws -> Data
  /// The value that bytes of a store stand for. They may come from anywhere and be anything.
  func value(from data: Data) throws -> Any
}
