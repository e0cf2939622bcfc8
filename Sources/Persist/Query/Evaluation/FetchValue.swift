/// The result of an expression: a value, an object, or several of either.
public enum FetchValue {
  /// A single value; null for the absence of one.
  case value(StoredValue)
  /// An object, of which further keys can be read.
  case object(any KeyedObject)
  /// The members in order; in an arbitrary order if the collection is unordered.
  case collection([FetchValue])

  /// The absence of a value.
  public static var null: FetchValue { .value(.null) }

  /// Whether the result is null; false for an empty collection.
  public var isNull: Bool {
    if case .value(.null) = self { true } else { false }
  }

  /// The value; the identity of an object, and nil for a collection.
  package var stored: StoredValue? {
    switch self {
    case .value(let value): value
    case .object(let object): object.fetchIdentity
    case .collection: nil
    }
  }

  /// The members; a single value is one member, null is none.
  var members: [FetchValue] {
    switch self {
    case .collection(let members): members
    case .value(.null): []
    case .value, .object: [self]
    }
  }
}

/// An object that predicates and expressions read by key.
///
/// Not Sendable: it is read in its isolation.
@_documentation(visibility: internal)
public protocol KeyedObject {
  /// The value of a property: for a to-one relationship its object or null, for a to-many relationship a collection.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if there is no such property.
  func fetchValue(forKey key: String) throws -> FetchValue

  /// Whether the object has a property with this name, which then hides the key that all objects have: `self`,
  /// `objectID` or `entity`.
  func hasProperty(named name: String) -> Bool

  /// The value that identifies the object: ``StoredValue/objectID(_:)`` for a managed object.
  var fetchIdentity: StoredValue { get }

  /// The name of the object's entity, for predicates over `entity`.
  var fetchEntityName: String? { get }

  /// The property names of a key path from the object; only managed objects know them.
  func keys(of reference: KeyPathReference) throws -> [String]

  /// The matcher for the texts of the attribute at the end of a path of keys; only managed objects have one.
  func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher
}

/// A type of members of an object's relationship, for predicates on their count.
package protocol KeyedMembers {
  static var countKeyPath: AnyKeyPath { get }
  static var isEmptyKeyPath: AnyKeyPath { get }
}

extension KeyedObject {
  /// False: no property hides the keys that all objects have.
  public func hasProperty(named name: String) -> Bool { false }

  /// Throws, because only managed objects know the names.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``.
  public func keys(of reference: KeyPathReference) throws -> [String] { throw reference.withoutNames }
}
