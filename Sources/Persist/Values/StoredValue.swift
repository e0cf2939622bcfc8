public import Foundation

/// A value in its stored form: the common currency of objects, predicates, stores and migrations.
///
/// Every attribute type has exactly one case for its values. The ``AttributeDescription`` converts between it and the
/// property's Swift type.
///
/// | attribute type | case |
/// |---|---|
/// | `int16 int32 int64` | ``integer(_:)`` |
/// | `double float` | ``double(_:)`` |
/// | `boolean` | ``boolean(_:)`` |
/// | `decimal` | ``decimal(_:)`` |
/// | `string` | ``string(_:)`` |
/// | `date` | ``date(_:)`` |
/// | `binary transformable` | ``data(_:)`` |
/// | `uuid` | ``uuid(_:)`` |
/// | `uri` | ``uri(_:)`` |
/// | `composite` | ``composite(_:)`` |
/// | a to-one relationship | ``objectID(_:)`` |
///
/// Values are compared literally; see ``==(_:_:)``.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum StoredValue: Sendable, Hashable {
  /// The absence of a value.
  case null
  /// A Boolean. Predicates compare it as the number 1 or 0.
  case boolean(Bool)
  /// The value of an integer attribute of any width.
  case integer(Int64)
  /// The value of a `double` or `float` attribute.
  case double(Double)
  /// A decimal number, exact to 38 digits.
  case decimal(Decimal)
  /// A text; texts are equal if their UTF-8 bytes are.
  case string(String)
  /// A point in time.
  case date(Date)
  /// Bytes; for a transformable attribute, its archived form.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// The text of a URI exactly as stored, which may be text that `URL` rejects.
  case uri(String)
  /// The other end of a to-one relationship.
  case objectID(ManagedObjectID)
  /// The elements of a composite attribute by name.
  indirect case composite([String: StoredValue])

  /// Whether there is no value; false for empty texts and data.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Returns the element of a composite at a path of names; null if there is none.
  package func element(at path: some Sequence<String>) -> StoredValue {
    path.reduce(self) { value, name in
      if case .composite(let elements) = value { elements[name] ?? .null } else { .null }
    }
  }
}

/// The kinds of stored values, by their names in JSON.
package enum ValueKind: String, Sendable {
  case null, boolean, integer, double, decimal, string, date, data, uuid, uri, objectID, composite
}

extension StoredValue {
  package var valueKind: ValueKind {
    switch self {
    case .null: .null
    case .boolean: .boolean
    case .integer: .integer
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .uri: .uri
    case .objectID: .objectID
    case .composite: .composite
    }
  }

  /// Returns a composite with an element at a path of names replaced; the new value itself for an empty path.
  package func replacing(_ path: ArraySlice<String>, with value: StoredValue) -> StoredValue {
    guard !path.isEmpty else { return value }
    var elements: [String: StoredValue] = if case .composite(let elements) = self { elements } else { Dictionary() }
    elements.insert(value, at: path)
    return .composite(elements)
  }
}

extension [String: StoredValue] {
  /// Inserts an element into a composite at a path of names, creating nested composites that are missing.
  package mutating func insert(_ value: StoredValue, at path: ArraySlice<String>) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      self[name] = value
      return
    }
    var inner: [String: StoredValue] = if case .composite(let elements)? = self[name] { elements } else { Dictionary() }
    inner.insert(value, at: path.dropFirst())
    self[name] = .composite(inner)
  }
}

/// Literals, so that defaults and constants read well: `default: "New Item"`.
///
/// A literal has the case that matches its syntax. A model converts the default `1` of a `double` attribute to `1.0`.
extension StoredValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
}

extension StoredValue {
  /// Whether a text is a URI that is read as written.
  package static func isURI(_ text: String) -> Bool { URL(string: text)?.absoluteString == text }
}
