public import Persist

/// A `Codable` type whose parts are stored in separate columns, under the name of the property.
///
/// ```swift
/// struct Address: CompositeValue {
///   var street = ""
///   var city = ""
///   var floor: Int?
/// }
///
/// final class Shop: ManagedObject {
///   @Composite var address = Address()
/// }
/// ```
///
/// Predicates can refer to the parts: `"address.city == 'Rome'"`. Parts are ``StorableValue``s or nested composites.
/// Their names and types are determined by decoding the type once.
public protocol CompositeValue: CompositeProperty, Codable {
  /// Creates a value whose parts have the initial values.
  init()
}

extension CompositeValue {
  /// Core Data's Composite: the attribute has no column, but each of its parts has one.
  public static var attributeType: AttributeType { .composite }
  /// The initial value, created by ``init()``.
  public static var absent: Self { Self() }

  /// Creates a value from its parts, and parts without a stored value from their type's value for "none". Nil if a part
  /// that is neither optional nor has such a value is missing, or if the stored value isn't a composite.
  public init?(stored: StoredValue) {
    guard case .composite(let parts) = stored, let value = try? Self(from: CompositeDecoder(parts)) else { return nil }
    self = value
  }

  /// The parts that have a value. Null for a type that isn't encoded as one value per key.
  public var stored: StoredValue {
    let encoder = CompositeEncoder()
    guard (try? encode(to: encoder)) != nil else { return .null }
    return .composite(encoder.parts)
  }

  /// The parts as attributes of a composite type, in the order in which the type decodes them.
  ///
  /// - Throws: an error if a part can't be stored, or if the type isn't decoded key by key.
  static func elements() throws -> [CompositeElement] {
    let encoder = CompositeEncoder()
    try Self().encode(to: encoder)
    let shape = CompositeShape(example: encoder.parts)
    _ = try Self(from: CompositeDecoder(encoder.parts, noting: shape))
    return shape.elements
  }
}

/// A type for properties with ``Composite``: a ``CompositeValue``, or an optional of one.
public protocol CompositeProperty: AttributeValue {}

extension Optional: CompositeProperty where Wrapped: CompositeValue {}

/// A part of a composite type.
struct CompositeElement {
  let name: String
  let type: any StorableValue.Type
  let isOptional: Bool
}
