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
  /// The value in its stored form: the case for ``attributeType``, or null for none.
  var stored: StoredValue { get }

  /// Whether the type has a value for "none", as optionals have.
  static var isOptional: Bool { get }
  /// The wrapped type of an optional; other types are their own.
  static var wrappedType: any StorableValue.Type { get }
  /// Reads an attribute; nil if it has no value of this type. Types implement this if they have a shorter way than
  /// through a `StoredValue`.
  static func value(of object: ManagedObject, at slot: Int) -> Self?
  /// Sets an attribute. Types implement this if their stored values can contain more than a value of the type.
  static func setValue(_ value: Self, of object: ManagedObject, at slot: Int)
}

extension StorableValue {
  /// False unless a type implements it: only optionals have a value for "none".
  @inlinable public static var isOptional: Bool { false }
  /// The type itself unless it implements this: only optionals wrap another type.
  @inlinable public static var wrappedType: any StorableValue.Type { Self.self }
  /// Reads an attribute through its `StoredValue`; nil if it has no value of this type.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    Self(stored: object.attributeValue(at: slot))
  }
  /// Sets an attribute to the stored form of a value.
  @inlinable @inline(__always)
  public static func setValue(_ value: Self, of object: ManagedObject, at slot: Int) {
    object.setAttributeValue(value.stored, at: slot)
  }
}

/// A type for a property without a default: it has a value for "none", so that reading the property never traps.
///
/// Numbers are 0, text and data empty, and optionals nil. No UUID and no URL could represent "none": properties of type
/// `UUID` and `URL` need a default or have to be optional.
public protocol AttributeValue: StorableValue {
  /// The value of a property whose attribute has neither a stored value nor a default.
  static var absent: Self { get }
}

extension StorableValue where Self: RawRepresentable, RawValue: StorableValue {
  /// The attribute type of the raw values.
  @inlinable public static var attributeType: AttributeType { RawValue.attributeType }
  /// Creates the case of a stored raw value, which may be a former one if the type has ``RenamedCases``; nil if no case
  /// has it, such as one of a newer version of the program.
  @inlinable public init?(stored: StoredValue) {
    guard let raw = RawValue(stored: stored), let value = Self(rawValue: raw) ?? Self.renamedCase(raw) else {
      return nil
    }
    self = value
  }
  /// The raw value in its stored form.
  @inlinable public var stored: StoredValue { rawValue.stored }
  /// Reads the raw value of an attribute; nil if it has none, or one that no case has.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    guard let raw = RawValue.value(of: object, at: slot) else { return nil }
    return Self(rawValue: raw) ?? renamedCase(raw)
  }

  @usableFromInline @inline(never)
  static func renamedCase(_ raw: RawValue) -> Self? {
    func find<Cases: RenamedCases>(_ type: Cases.Type) -> Cases? {
      (raw as? Cases.RawValue).flatMap { Cases.renamedCases[$0] }
    }
    return (Self.self as? any RenamedCases.Type).flatMap { find($0) as? Self }
  }
}

/// An enumeration some of whose cases had other raw values in older versions of the program.
///
/// ```swift
/// enum Kind: String, StorableValue, RenamedCases {
///   case home, office
///   static var renamedCases: [String: Kind] { ["work": .office] }
/// }
/// ```
///
/// Stored values stay as they are until they are set: predicates compare the stored raw values.
public protocol RenamedCases: RawRepresentable where RawValue: Hashable {
  /// The cases by their former raw values.
  static var renamedCases: [RawValue: Self] { get }
}

extension Optional: StorableValue where Wrapped: StorableValue {
  /// The attribute type of the wrapped type; the attribute is optional in the model.
  @inlinable public static var attributeType: AttributeType { Wrapped.attributeType }
  /// Creates an optional; a stored value that isn't of the wrapped type becomes nil inside it. Never fails.
  @inlinable public init?(stored: StoredValue) { self = Wrapped(stored: stored) }
  /// The wrapped value in its stored form; null, `NULL` in SQL, for nil.
  @inlinable public var stored: StoredValue { self?.stored ?? .null }
  /// Always true: an attribute of this type is optional by default.
  @inlinable public static var isOptional: Bool { true }
  /// The wrapped type; for nested optionals the innermost.
  @inlinable public static var wrappedType: any StorableValue.Type { Wrapped.wrappedType }
  /// Reads an attribute; the inner optional is nil if it has no value of the wrapped type, the outer one never.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Wrapped?? {
    if let value = Wrapped.value(of: object, at: slot) { return .some(value) }
    object.reportUnlessNull(at: slot, as: Wrapped.self)
    return .some(nil)
  }
  /// Sets an attribute to the wrapped value, or to null.
  @inlinable public static func setValue(_ value: Wrapped?, of object: ManagedObject, at slot: Int) {
    if let value {
      Wrapped.setValue(value, of: object, at: slot)
    } else {
      object.setAttributeValue(.null, at: slot)
    }
  }
}

extension Optional: AttributeValue where Wrapped: StorableValue {
  /// Always nil.
  @inlinable public static var absent: Wrapped? { nil }
}
