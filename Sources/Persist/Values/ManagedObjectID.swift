public import Foundation
import Synchronization

/// The unique identifier of a managed object: its store, its entity and its key.
///
/// An object that was never saved has a temporary identifier; saving assigns a permanent one, which is valid as long as
/// the row exists, across restarts and processes. Identifiers are values: equal identifiers denote the same row,
/// whatever context they came from.
///
/// A temporary identifier isn't equal to the permanent one that replaces it, but still resolves to the object: contexts
/// look the object up by either, and predicates that contain one match the other.
///
/// It is a class only for its size: a reference takes eight bytes in every object and relationship.
public final class ManagedObjectID: Sendable {
  /// The key that identifies the object within its entity.
  public enum Key: Sendable, Hashable {
    /// The row's primary key, `Z_PK`.
    case permanent(Int64)
    /// A number that is unique among the unsaved objects of this process.
    case temporary(UInt64)
  }

  /// The name of the object's most specific entity; that of a subentity, not its parent.
  public let entityName: String
  /// The store's UUID, as in its metadata; empty for a temporary identifier that isn't assigned to a store.
  public let storeIdentifier: String
  /// The key in the store, or a temporary number before the first save.
  public let key: Key
  /// The identifier that replaced this one, once a context assigned another to the object.
  private let successor = AtomicLazyReference<ManagedObjectID>()

  /// Creates an identifier from its parts, without checking that such a row exists.
  public init(entityName: String, storeIdentifier: String, key: Key) {
    self.entityName = entityName
    self.storeIdentifier = storeIdentifier
    self.key = key
  }

  /// A new temporary identifier.
  public convenience init(temporaryFor entityName: String) {
    self.init(entityName: entityName, storeIdentifier: "", key: .temporary(Self.nextTemporaryNumber()))
  }

  /// Returns a number that is unique among the unsaved objects of this process.
  package static func nextTemporaryNumber() -> UInt64 { lastTemporary.wrappingAdd(1, ordering: .relaxed).newValue }

  private static let lastTemporary = Atomic<UInt64>(0)

  /// Whether the object has never been saved.
  public var isTemporaryID: Bool {
    if case .temporary = key { true } else { false }
  }

  /// The object's current identifier: the permanent one if the object was saved since this temporary one was created.
  ///
  /// It resolves a temporary identifier that is still in use, for example in a predicate, to the saved object. Only the
  /// object's original identifier instance has a successor; one created from a URI doesn't.
  package var current: ManagedObjectID {
    var id = self
    while case .temporary = id.key, let next = id.successor.load() { id = next }
    return id
  }

  /// Makes this temporary identifier resolve to another one of the same object.
  package func lead(to next: ManagedObjectID) {
    if next.current !== self { _ = successor.storeIfNil(next) }
  }

  /// Returns the part that the identifiers of an entity's rows in a store have in common.
  package static func keyless(entityName: String, storeIdentifier: String) -> ManagedObjectID {
    ManagedObjectID(entityName: entityName, storeIdentifier: storeIdentifier, key: .permanent(0))
  }

  /// Returns the identifier of the row with a key that belongs to the same entity and store.
  package func withKey(_ key: Int64) -> ManagedObjectID {
    ManagedObjectID(entityName: entityName, storeIdentifier: storeIdentifier, key: .permanent(key))
  }

  /// The row's primary key; nil while the identifier is temporary.
  public var primaryKey: Int64? {
    if case .permanent(let key) = key { key } else { nil }
  }
}

extension ManagedObjectID: Hashable {
  public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
    left === right
      || (left.key == right.key && left.entityName == right.entityName && left.storeIdentifier == right.storeIdentifier)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
  }
}

extension ManagedObjectID: CustomStringConvertible {
  /// Returns the identifier as a URI: `x-coredata://<store UUID>/<Entity>/p<key>`, with `t` for a temporary key.
  ///
  /// The form is Core Data's. ``PersistentStoreCoordinator`` converts it back into an identifier.
  public func uriRepresentation() -> URL {
    var components = URLComponents()
    components.scheme = "x-coredata"
    components.host = storeIdentifier
    switch key {
    case .permanent(let key): components.path = "/\(entityName)/p\(key)"
    case .temporary(let number): components.path = "/\(entityName)/t\(number)"
    }
    return components.url ?? URL(fileURLWithPath: components.path)
  }

  public var description: String { uriRepresentation().absoluteString }

  /// Creates an identifier from its URI. Nil if the URI isn't valid.
  ///
  /// - Parameter uri: a URI returned by ``uriRepresentation()``.
  public convenience init?(uriRepresentation uri: URL) {
    guard let components = URLComponents(url: uri, resolvingAgainstBaseURL: false),
      components.scheme == "x-coredata"
    else { return nil }
    let parts = components.path.split(separator: "/", omittingEmptySubsequences: true)
    guard parts.count == 2, let mark = parts[1].first else { return nil }
    let digits = parts[1].dropFirst()
    switch mark {
    case "p":
      guard let key = Int64(digits), key > 0, let host = components.host, !host.isEmpty else { return nil }
      self.init(entityName: String(parts[0]), storeIdentifier: host, key: .permanent(key))
    case "t":
      guard let number = UInt64(digits), number <= Int64.max else { return nil }
      self.init(entityName: String(parts[0]), storeIdentifier: components.host ?? "", key: .temporary(number))
    default: return nil
    }
  }
}
