/// What one thread of a program does with a store, each as a request of a service would: over connections and contexts
/// of its own, or shared ones, as the contestant's users write it.
///
/// A session is made by the thread that uses it.
public struct LatencySession {
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
}
