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

  /// The parts that have a value. Traps if the value can't be encoded as one value for each key.
  public var stored: StoredValue {
    let encoder = CompositeEncoder()
    do {
      try encode(to: encoder)
    } catch {
      preconditionFailure("A value of type \(Self.self) can't be encoded: \(error)")
    }
    return .composite(encoder.parts)
  }

  /// Returns the parts of a value that serves as an example of its type.
  ///
  /// - Throws: an error if a part can't be stored, also a part of a nested composite; ``stored`` would trap.
  func exampleParts() throws -> [String: StoredValue] {
    let encoder = CompositeEncoder(isExample: true)
    try encode(to: encoder)
    return encoder.parts
  }

  /// Whether no part has a value, so that the value has the same columns as none.
  var isWithoutParts: Bool { (try? exampleParts())?.values.allSatisfy(\.isWithoutParts) == true }

  /// The parts as attributes of a composite type, in the order in which the type decodes them.
  ///
  /// - Throws: an error if a part can't be stored, or if the type isn't decoded key by key.
  static func elements() throws -> [CompositeElement] {
    let parts = try Self().exampleParts()
    let shape = CompositeShape(example: parts)
    _ = try Self(from: CompositeDecoder(parts, noting: shape))
    return shape.elements
  }

  /// The parts that aren't composites themselves, each with the names that lead to it.
  ///
  /// - Parameter depth: the number of composites around this one.
  /// - Throws: the errors of ``elements()``, also those of nested composites, and an error if the type contains itself.
  static func leaves(depth: Int = 0) throws -> [(path: [String], type: any StorableValue.Type)] {
    guard depth < 16 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "Composite types are nested more than 16 levels deep."))
    }
    return try elements().flatMap { element -> [(path: [String], type: any StorableValue.Type)] in
      guard let inner = element.type.wrappedType as? any CompositeValue.Type else {
        return [([element.name], element.type)]
      }
      return try inner.leaves(depth: depth + 1).map { ([element.name] + $0.path, $0.type) }
    }
  }
}

extension StoredValue {
  /// Whether the value of a part occupies no column: null, or a nested composite of such parts.
  fileprivate var isWithoutParts: Bool {
    if case .composite(let parts) = self { parts.values.allSatisfy(\.isWithoutParts) } else { isNull }
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
