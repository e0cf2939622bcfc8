/// What a request can give: managed objects of a class, ``ManagedObjectID``, ``FetchedRow``, or `Int`, which is one
/// number, how many there are.
///
/// These are all; other types don't conform.
public protocol FetchRequestResult {
  static var fetchedForm: FetchedForm { get }
  /// One result, as what was asked for.
  ///
  /// - Throws: ``PersistenceError/Code/typeMismatch`` where an object is of another class.
  static func result(from fetched: Fetched) throws -> Self
}

/// What a fetch looks for, by what its results are.
public enum FetchedForm: Sendable {
  case objects, identifiers, rows, count
}

/// One result of a fetch, before it is given the type that was asked for.
public struct Fetched {
  enum Content {
    case object(ManagedObject)
    case identifier(ManagedObjectID)
    case row(FetchedRow)
    case count(Int)
  }

  let content: Content

  func mismatch(_ type: Any.Type) -> PersistenceError {
    guard case .object(let object) = content else {
      return PersistenceError(.typeMismatch, "A result isn't of type \(type).")
    }
    return PersistenceError(
      .typeMismatch, at: .entity(object.entity.name), "An object is of class \(Swift.type(of: object)), not \(type).",
      fix: "Register \(type) with ManagedObjectClasses before the context is made.")
  }
}

extension ManagedObject: FetchRequestResult {
  public static var fetchedForm: FetchedForm { .objects }
}

extension FetchRequestResult where Self: ManagedObject {
  public static func result(from fetched: Fetched) throws -> Self {
    guard case .object(let object) = fetched.content, let result = object.asObject(of: Self.self) else {
      throw fetched.mismatch(Self.self)
    }
    return result
  }
}

extension ManagedObject {
  /// The object as one of a class; nil where it isn't one.
  ///
  /// Nearly always it is of exactly that class, which is one comparison where a cast calls the runtime.
  @inline(__always)
  final func asObject<Object: ManagedObject>(of type: Object.Type) -> Object? {
    Swift.type(of: self) == type ? unsafeDowncast(self, to: type) : self as? Object
  }
}

extension ManagedObjectID: FetchRequestResult {
  public static var fetchedForm: FetchedForm { .identifiers }
}

extension FetchRequestResult where Self == ManagedObjectID {
  public static func result(from fetched: Fetched) throws -> Self {
    guard case .identifier(let id) = fetched.content else { throw fetched.mismatch(Self.self) }
    return id
  }
}

extension Int: FetchRequestResult {
  public static var fetchedForm: FetchedForm { .count }

  public static func result(from fetched: Fetched) throws -> Int {
    guard case .count(let count) = fetched.content else { throw fetched.mismatch(Int.self) }
    return count
  }
}

extension FetchedRow: FetchRequestResult {
  public static var fetchedForm: FetchedForm { .rows }

  public static func result(from fetched: Fetched) throws -> FetchedRow {
    guard case .row(let row) = fetched.content else { throw fetched.mismatch(FetchedRow.self) }
    return row
  }
}

extension FetchRequestResult {
  /// Results as what was asked for.
  static func typed<Some>(_ found: [Some], _ content: (Some) -> Fetched.Content) throws -> [Self] {
    // Of the type that is asked for already, as for most requests: no look at each.
    if Self.self == Some.self, let same = found as Any as? [Self] { return same }
    if let type = Self.self as? ManagedObject.Type, let objects = found as Any as? [ManagedObject] {
      for object in objects where Swift.type(of: object) != type && !(object is Self) {
        throw Fetched(content: .object(object)).mismatch(type)
      }
      // Every object was seen to be of the class, and arrays of objects are alike whichever class is theirs. This
      // function isn't specialised for other modules: making a list of the same objects took as long as reading them.
      return unsafeBitCast(objects, to: [Self].self)
    }
    return try found.map { try result(from: Fetched(content: content($0))) }
  }
}
