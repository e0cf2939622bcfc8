/// What an expression gives: a value, an object, or several of either.
public enum FetchValue {
  case value(StoredValue)
  case object(any KeyedObject)
  /// Members in order; what has no order is in any.
  case collection([FetchValue])

  public static var null: FetchValue { .value(.null) }

  public var isNull: Bool {
    if case .value(.null) = self { true } else { false }
  }

  /// The value; of an object its identity, of a collection nil.
  var stored: StoredValue? {
    switch self {
    case .value(let value): value
    case .object(let object): object.fetchIdentity
    case .collection: nil
    }
  }

  /// The members; one for a single value, none for no value.
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
/// Not Sendable: it is read where it lives.
public protocol KeyedObject {
  /// The value of a property: a to-one relationship's object or null, a to-many relationship's collection.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` where there is no such property.
  func fetchValue(forKey key: String) throws -> FetchValue

  /// Whether the object has a property of a name, which then hides what all objects have under it: `self`, `objectID`
  /// and `entity`.
  func hasProperty(named name: String) -> Bool

  /// What tells the object from others: ``StoredValue/objectID(_:)`` for a managed object.
  var fetchIdentity: StoredValue { get }

  /// The name of the object's entity, for predicates over `entity`.
  var fetchEntityName: String? { get }

  /// The names that a key path from the object stands for; only managed objects know them.
  func keys(of reference: KeyPathReference) throws -> [String]

  /// What searches the texts of the attribute that keys lead to; only managed objects know it.
  func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher
}

/// A type of the members of an object's relationship, for predicates that ask for their number.
package protocol KeyedMembers {
  static var countKeyPath: AnyKeyPath { get }
  static var isEmptyKeyPath: AnyKeyPath { get }
}

extension KeyedObject {
  public func hasProperty(named name: String) -> Bool { false }

  public func keys(of reference: KeyPathReference) throws -> [String] { throw reference.withoutNames }
}
