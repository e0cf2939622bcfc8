public import Persist

/// A Swift type whose values an attribute can hold.
///
/// The integers but `UInt` and `UInt64`, `Double`, `Float`, `Bool`, `String`, `Date`, `Data`, `UUID`, `URL` and
/// `Decimal` are, and optionals of all of them. An enumeration with raw values becomes one by saying so:
///
/// ```swift
/// enum Size: String, StorableValue { case small, large }
/// ```
///
/// A `Codable` type says in which form it is stored: in columns of its own as a ``CompositeValue``, or as a text as a
/// ``JSONValue``. Every other type says which stored values its own stand for:
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
  /// The type of an attribute that nothing else is said of.
  static var attributeType: AttributeType { get }
  /// The value that a stored one stands for; nil where it isn't of this type, or doesn't fit into it.
  init?(stored: StoredValue)
  var stored: StoredValue { get }

  /// Whether the type has a value that stands for none, as optionals have.
  static var isOptional: Bool { get }
  /// The type of which an optional is one; other types themselves.
  static var wrappedType: any StorableValue.Type { get }
  /// Reads an attribute; nil where it holds nothing that this type can be. For types that know a shorter way than by a
  /// ``StoredValue``.
  static func value(of object: ManagedObject, at slot: Int) -> Self?
}

extension StorableValue {
  @inlinable public static var isOptional: Bool { false }
  @inlinable public static var wrappedType: any StorableValue.Type { Self.self }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    Self(stored: object.attributeValue(at: slot))
  }
}

/// A type for a property without a default: one that says what it is where there is no value, so that reading it never
/// stops a program.
///
/// Numbers are 0, texts and data empty, and optionals nil. There is no identifier and no address that could stand for
/// none: properties of type `UUID` and `URL` have a default, or are optional.
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
