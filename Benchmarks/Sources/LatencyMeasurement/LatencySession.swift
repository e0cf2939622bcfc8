import Persist

/// The operations of one thread of a program, each as a request of a service would perform it: over connections and
/// contexts of its own, or shared ones, as the contestant's users write it.
///
/// A session is made by the thread that uses it.
public struct LatencySession {
  public typealias Maker = @Sendable (_ thread: Int) throws -> LatencySession

  /// The number of objects on a page.
  public static let pageSize = 20

  /// Changes a number of the thread's own object and saves, so that no two threads change the same one.
  public let save: () throws -> Void
  /// Reads one object by its key.
  public let fetch: (_ key: Int) throws -> Void
  /// Reads twenty objects in the order of an indexed number, beginning with the number.
  public let page: (_ start: Int) throws -> Void

  public init(
    save: @escaping () throws -> Void, fetch: @escaping (_ key: Int) throws -> Void,
    page: @escaping (_ start: Int) throws -> Void
  ) {
    (self.save, self.fetch, self.page) = (save, fetch, page)
  }

  /// Stops a measurement in which an operation read another number of objects than it should.
  public static func check(_ count: Int, of expected: Int = pageSize) throws {
    if count != expected { throw UnexpectedCount(count: count, expected: expected) }
  }

  private struct UnexpectedCount: Error, CustomStringConvertible {
    let count: Int
    let expected: Int
    var description: String { "\(count) objects were read instead of \(expected)." }
  }
}

extension LatencySession {
  /// Persist's session over a store of any engine: a context that saves, and one for each reading request.
  ///
  /// - Parameters:
  ///   - newContext: Makes a context.
  ///   - own: The thread's own object.
  ///   - identifiers: The objects by their keys.
  ///   - name: A text that each object has.
  ///   - change: Changes the thread's own object.
  ///   - request: Returns the request for a page.
  public init<Object: ManagedObject>(
    _ newContext: @escaping () -> ManagedObjectContext, own: ManagedObjectID, identifiers: [ManagedObjectID],
    name: @escaping (Object) -> String?, change: @escaping (Object) -> Void,
    page request: @escaping (_ start: Int) -> FetchRequest<Object>
  ) throws {
    let writing = newContext()
    guard let own = try writing.existingObject(with: own) as? Object else {
      throw UnexpectedCount(count: 0, expected: 1)
    }
    self.init(
      save: {
        change(own)
        try writing.save()
      },
      fetch: { key in
        let object = try newContext().existingObject(with: identifiers[key]) as? Object
        try Self.check(object.flatMap(name) == nil ? 0 : 1, of: 1)
      },
      page: { start in
        let context = newContext()
        try Self.check(try context.fetch(request(start)).compactMap(name).count)
      })
  }
}
