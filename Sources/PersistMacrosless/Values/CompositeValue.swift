import Foundation
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
///
/// ## A type that grows
///
/// A part that is added later has, in objects of older versions, the value that it has in ``init()``: a migration
/// stores it. A renamed part keeps its values if ``renamedParts`` names it. A stored part that its type can't read,
/// such as a case that an enumeration no longer has, reads as the part's value in ``init()``. The context's next fetch
/// or save throws a `PersistenceError.Code.typeMismatch` that names it. It stays in the store, also if the program
/// changes other parts, until this part gets another value.
public protocol CompositeValue: CompositeProperty, Codable {
  /// Creates a value whose parts have the initial values.
  init()

  /// The former names of parts that were renamed, each with the name that the part has today.
  ///
  /// ```swift
  /// struct Address: CompositeValue {
  ///   static var renamedParts: [String: String] { ["zip": "postcode"] }
  ///   var postcode = ""                       // "zip" in version 1
  /// }
  /// ```
  static var renamedParts: [String: String] { get }
}

extension CompositeValue {
  /// No part was renamed, unless a type implements this.
  public static var renamedParts: [String: String] { [:] }
}

extension CompositeValue {
  /// Core Data's Composite: the attribute has no column, but each of its parts has one.
  public static var attributeType: AttributeType { .composite }
  /// The initial value, created by ``init()``.
  public static var absent: Self { Self() }

  /// Creates a value from its parts; parts without a stored value have those of ``init()``. Nil if a part can't be
  /// read as its type, or if the stored value isn't a composite.
  public init?(stored: StoredValue) {
    guard case .composite(let parts) = stored,
      let value = try? Self(from: CompositeDecoder(parts) { Self.standardParts })
    else { return nil }
    self = value
  }

  /// Reads an attribute; nil if it has no value of this type. Parts that their types can't read are reported to the
  /// object's context.
  public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    let stored = object.attributeValue(at: slot)
    if stored.isNull { return nil }
    let unreadable = UnreadableParts()
    let value = read(stored, at: [], standard: { nil }, recordingIn: unreadable)
    if value == nil { unreadable.record([], stored, as: Self.self) }
    object.reportUnreadable(unreadable.parts, at: slot)
    return value
  }

  /// Sets an attribute. Stored parts that today's types can't read remain, unless the program has changed them.
  public static func setValue(_ value: Self, of object: ManagedObject, at slot: Int) {
    guard let current = object.valueBeneathChanges(at: slot) else {
      return object.setAttributeValue(value.stored, at: slot)
    }
    let unreadable = UnreadableParts()
    let read = read(current, at: [], standard: { nil }, recordingIn: unreadable)
    if read != nil, unreadable.parts.isEmpty { return object.setAttributeValue(value.stored, at: slot) }
    let base = read?.stored ?? object.declaredDefault(at: slot) ?? Self().stored
    object.setAttributeValue(PartReader.stored(value, over: current, readAs: base), at: slot)
  }

  /// The parts of ``init()``.
  static var standardParts: [String: StoredValue] { (try? Self().exampleParts()) ?? [:] }

  /// Creates a value from its parts, in which unreadable parts have their defaults.
  ///
  /// - Parameters:
  ///   - path: the names that lead to the value.
  ///   - standard: returns the default of the value, whose parts replace unreadable ones.
  ///   - unreadable: gets the unreadable parts.
  /// - Returns: nil if the type refuses the value as a whole.
  static func read(
    _ stored: StoredValue, at path: [String], standard: @escaping () -> StoredValue?,
    recordingIn unreadable: UnreadableParts
  ) -> Self? {
    guard case .composite(let parts) = stored else { return nil }
    return try? Self(
      from: CompositeDecoder(parts, .tolerant(unreadable), at: path) {
        if case .composite(let parts)? = standard() { parts } else { standardParts }
      })
  }

  /// Creates a value without stored parts: optional ones are nil, others have their defaults.
  static func withoutParts(standard: [String: StoredValue]?) -> Self? {
    try? Self(from: CompositeDecoder([:]) { standard ?? standardParts })
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

  /// The defaults of the parts that are the same in every new value, unlike `UUID()` and `Date()`.
  static func constantParts() throws -> [String: StoredValue] {
    let other = try Self().exampleParts()
    return try Self().exampleParts().filter { name, part in part == other[name] && !part.isRecent }
  }

  /// Whether no part has a value, so that the value has the same columns as none.
  var isWithoutParts: Bool { (try? exampleParts())?.values.allSatisfy(\.isWithoutParts) == true }

  /// The parts as attributes of a composite type, in the order in which the type decodes them.
  ///
  /// - Throws: an error if a part can't be stored, or if the type isn't decoded key by key.
  static func elements() throws -> [CompositeElement] {
    let parts = try Self().exampleParts()
    let shape = CompositeShape(example: parts)
    _ = try Self(from: CompositeDecoder(parts, .recording(shape)) { parts })
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
  /// Whether the value is a date of the present, as a reading of the clock is: two of these may be equal.
  var isRecent: Bool { if case .date(let date) = self { abs(date.timeIntervalSinceNow) < 60 } else { false } }

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
