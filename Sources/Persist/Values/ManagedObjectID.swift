public import Foundation
import Synchronization

/// What tells one managed object from every other: its store, its entity and its key.
///
/// An object that was never saved has a temporary identifier; saving gives it a permanent one, which is valid for
/// as long as the row exists, across restarts and processes. Identifiers are values: equal ones stand for the
/// same row, whichever context they came from.
///
/// A temporary identifier differs from the permanent one that the object gets, but leads to the object all the same:
/// contexts look it up by either, and predicates that hold the one match the other.
///
/// A class only for its size: a reference is eight bytes in every object and relationship.
public final class ManagedObjectID: Sendable {
  /// What the identifier is counted by.
  public enum Key: Sendable, Hashable {
    /// The row's primary key, `Z_PK`.
    case permanent(Int64)
    /// A number that no other unsaved object of this process has.
    case temporary(UInt64)
  }

  /// The name of the object's own entity; of a subentity, not of its parent.
  public let entityName: String
  /// The UUID of the store, as in its metadata; empty while the identifier is temporary and unassigned.
  public let storeIdentifier: String
  public let key: Key
  /// The identifier that took the place of this one, once a context gave the object another.
  private let successor = AtomicLazyReference<ManagedObjectID>()

  public init(entityName: String, storeIdentifier: String, key: Key) {
    self.entityName = entityName
    self.storeIdentifier = storeIdentifier
    self.key = key
  }

  /// A new temporary identifier.
  public convenience init(temporaryFor entityName: String) {
    self.init(entityName: entityName, storeIdentifier: "", key: .temporary(Self.nextTemporaryNumber()))
  }

  /// A number that no other unsaved object of this process has.
  static func nextTemporaryNumber() -> UInt64 { lastTemporary.wrappingAdd(1, ordering: .relaxed).newValue }

  private static let lastTemporary = Atomic<UInt64>(0)

  /// Whether the object has never been saved.
  public var isTemporaryID: Bool {
    if case .temporary = key { true } else { false }
  }

  /// The identifier that the object has now: the permanent one, where it has got one since it had this temporary
  /// identifier.
  ///
  /// Whoever keeps the temporary identifier of an unsaved object, such as a predicate, is led to the saved object by
  /// it. Only the identifier that the object itself gave knows its successor; one that was made from a URI doesn't.
  var current: ManagedObjectID {
    var id = self
    while case .temporary = id.key, let next = id.successor.load() { id = next }
    return id
  }

  /// Makes this temporary identifier lead to another one of the same object.
  func lead(to next: ManagedObjectID) {
    if next.current !== self { _ = successor.storeIfNil(next) }
  }

  /// The row's primary key, nil while the identifier is temporary.
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
  /// The identifier as a URI: `x-coredata://<store UUID>/<Entity>/p<key>`, with `t` for a temporary key.
  ///
  /// The form is Core Data's. ``PersistentStoreCoordinator`` turns it back into an identifier.
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

  /// The identifier that a URI stands for, or nil where the text isn't one.
  ///
  /// - Parameter uri: a text that ``uriRepresentation()`` gave.
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
      guard let number = UInt64(digits) else { return nil }
      self.init(entityName: String(parts[0]), storeIdentifier: components.host ?? "", key: .temporary(number))
    default: return nil
    }
  }
}
