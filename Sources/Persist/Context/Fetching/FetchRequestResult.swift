/// The result type of a request: a managed object class, ``ManagedObjectID``, ``FetchedRow``, or `Int` for a single
/// number, the count of objects.
///
/// No other types conform.
public protocol FetchRequestResult {
  /// The kind of data that a request with this result type reads.
  static var fetchedForm: FetchedForm { get }
  /// Returns a fetched result as this type.
  ///
  /// - Throws: ``PersistenceError/Code/typeMismatch`` if an object has another class.
  static func result(from fetched: Fetched) throws -> Self
}

/// The kind of data that a fetch reads, determined by its result type.
@_documentation(visibility: internal)
public enum FetchedForm: Sendable {
  /// Registered objects, their identifiers only, rows of requested columns, or the number of matching objects.
  case objects, identifiers, rows, count
}

/// A fetched result before its conversion to the requested type.
@_documentation(visibility: internal)
public struct Fetched {
  package enum Content {
    case object(ManagedObject)
    case identifier(ManagedObjectID)
    case row(FetchedRow)
    case count(Int)
  }

  package let content: Content

  package init(content: Content) {
    self.content = content
  }

  package func mismatch(_ type: Any.Type) -> PersistenceError {
    guard case .object(let object) = content else {
      return PersistenceError(.typeMismatch, "A result isn't of type \(type).")
    }
    return PersistenceError(
      .typeMismatch, at: .entity(object.entity.name), "An object is of class \(Swift.type(of: object)), not \(type).",
      fix: "Register \(type) with ManagedObjectClasses before creating the context.")
  }
}

extension ManagedObject: FetchRequestResult {
  /// Objects: such a request registers its results in the context.
  public static var fetchedForm: FetchedForm { .objects }
}

extension FetchRequestResult where Self: ManagedObject {
  /// Returns the object if it is of this class.
  ///
  /// - Throws: ``PersistenceError/Code/typeMismatch`` if it is of another class.
  public static func result(from fetched: Fetched) throws -> Self {
    guard case .object(let object) = fetched.content, let result = object.asObject(of: Self.self) else {
      throw fetched.mismatch(Self.self)
    }
    return result
  }
}

extension ManagedObjectID: FetchRequestResult {
  /// Identifiers instead of objects.
  public static var fetchedForm: FetchedForm { .identifiers }
}

extension FetchRequestResult where Self == ManagedObjectID {
  /// Returns the identifier.
  public static func result(from fetched: Fetched) throws -> Self {
    guard case .identifier(let id) = fetched.content else { throw fetched.mismatch(Self.self) }
    return id
  }
}

extension Int: FetchRequestResult {
  /// The number of matching objects.
  public static var fetchedForm: FetchedForm { .count }

  /// Returns the count.
  public static func result(from fetched: Fetched) throws -> Int {
    guard case .count(let count) = fetched.content else { throw fetched.mismatch(Int.self) }
    return count
  }
}

extension FetchedRow: FetchRequestResult {
  /// Rows of the requested columns, in the saved state, without objects.
  public static var fetchedForm: FetchedForm { .rows }

  /// Returns the row.
  public static func result(from fetched: Fetched) throws -> FetchedRow {
    guard case .row(let row) = fetched.content else { throw fetched.mismatch(FetchedRow.self) }
    return row
  }
}

extension FetchRequestResult {
  /// Returns fetched results as this type.
  static func typed<Some>(_ found: [Some], _ content: (Some) -> Fetched.Content) throws -> [Self] {
    // Most results already have the requested type: no check of each one.
    if Self.self == Some.self, let same = found as Any as? [Self] { return same }
    if let type = Self.self as? ManagedObject.Type, let objects = found as Any as? [ManagedObject] {
      func fits(_ object: ManagedObject) -> Bool { Swift.type(of: object) == type || object is Self }
      if !objects.allSatisfyUnretained(fits), let other = objects.first(where: { !fits($0) }) {
        throw Fetched(content: .object(other)).mismatch(type)
      }
      return asChecked(objects)
    }
    return try found.map { try result(from: Fetched(content: content($0))) }
  }

  /// Returns fetched objects as this type.
  ///
  /// - Parameter classes: At least the classes of the objects: going through many objects again, which are no longer in
  ///   the processor's cache, takes a fiftieth of a fetch.
  static func typed(_ objects: [ManagedObject], of classes: ObjectClasses) throws -> [Self] {
    guard Self.self is ManagedObject.Type, classes.areAll(Self.self) else {
      return try typed(objects) { .object($0) }
    }
    assert(objects.allSatisfy { classes.contains(type(of: $0)) }, "The classes of the results are incomplete.")
    return asChecked(objects)
  }

  /// Returns objects, each of which was checked to be of this class. Arrays of objects have the same layout for every
  /// class. This function isn't specialized for other modules: building an array of the same objects took as long as
  /// reading them.
  private static func asChecked(_ objects: [ManagedObject]) -> [Self] { unsafeBitCast(objects, to: [Self].self) }
}
