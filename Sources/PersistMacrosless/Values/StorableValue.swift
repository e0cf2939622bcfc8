public import Persist

/// A Swift type whose values an attribute can store.
///
/// All integers except `UInt` and `UInt64`, `Double`, `Float`, `Bool`, `String`, `Date`, `Data`, `UUID`, `URL` and
/// `Decimal` conform, and optionals of all of them. An enumeration with raw values only has to declare its conformance:
/// ```swift
/// enum Size: String, StorableValue { case small, large }
/// ```
///
/// A `Codable` type chooses how it is stored: in separate columns as a ``CompositeValue``, or as text as a
/// ``JSONValue``. Every other type converts its values to and from stored values:
///
/// ```swift
/// struct Money: StorableValue {
///   var cents: Int
///
///   static var attributeType: AttributeType { .int64 }
///   init?(stored: StoredValue) {
///     guard case .integer(let cents) = stored else { return nil }
///     self.cents = Int(cents)
///   }
///   var stored: StoredValue { .integer(Int64(cents)) }
/// }
/// ```
public protocol StorableValue {
  /// The default type of an attribute with such values.
  static var attributeType: AttributeType { get }
  /// Creates a value from a stored value; nil if it isn't of this type or doesn't fit into it.
  init?(stored: StoredValue)
  var stored: StoredValue { get }

  /// Whether the type has a value for "none", as optionals have.
  static var isOptional: Bool { get }
  /// The wrapped type of an optional; other types are their own.
  static var wrappedType: any StorableValue.Type { get }
  /// Reads an attribute; nil if it has no value of this type. Types implement this if they have a shorter way than
  /// through a ``StoredValue``.
  static func value(of object: ManagedObject, at slot: Int) -> Self?
}

extension StorableValue {
  @inlinable public static var isOptional: Bool { false }
  @inlinable public static var wrappedType: any StorableValue.Type { Self.self }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    Self(stored: object.attributeValue(at: slot))
  }
}

/// A type for a property without a default: it has a value for "none", so that reading the property never traps.
///
/// Numbers are 0, text and data empty, and optionals nil. No UUID and no URL could represent "none": properties of type
/// `UUID` and `URL` need a default or have to be optional.
public protocol AttributeValue: StorableValue {
  static var absent: Self { get }
}

extension StorableValue where Self: RawRepresentable, RawValue: StorableValue {
  @inlinable public static var attributeType: AttributeType { RawValue.attributeType }
  @inlinable public init?(stored: StoredValue) {
    guard let raw = RawValue(stored: stored) else { return nil }
    self.init(rawValue: raw)
  }
  @inlinable public var stored: StoredValue { rawValue.stored }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    RawValue.value(of: object, at: slot).flatMap(Self.init)
  }
}

extension Optional: StorableValue where Wrapped: StorableValue {
  @inlinable public static var attributeType: AttributeType { Wrapped.attributeType }
  @inlinable public init?(stored: StoredValue) { self = Wrapped(stored: stored) }
  @inlinable public var stored: StoredValue { self?.stored ?? .null }
  @inlinable public static var isOptional: Bool { true }
  @inlinable public static var wrappedType: any StorableValue.Type { Wrapped.wrappedType }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Wrapped?? {
    .some(Wrapped.value(of: object, at: slot))
  }
}

extension Optional: AttributeValue where Wrapped: StorableValue {
  @inlinable public static var absent: Wrapped? { nil }
}
