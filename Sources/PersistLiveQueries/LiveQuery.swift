import Persist

/// The values that a context reads, as a sequence: now, and again after each save that may change it.
///
/// ```swift
/// for try await books in context.live(FetchRequest<Book>("Book", sortedBy: "title")) {
///   list.show(books)
/// }
/// ```
///
/// A save counts if it wrote an object of an entity on which the query depends: the request's own, its subentities, and
/// those that its predicate, order and columns reach through relationships. It doesn't matter who saved: this context,
/// another one, another coordinator or another process. Saves that come in quick succession, or while an element is
/// processed, give one element; the first save of another coordinator after some of this one may give one more.
/// Unsaved changes give none, but an element shows those that the context has at the time.
///
/// The sequence belongs to the isolation of its context. An iteration turns on the context's
/// `automaticallyMergesChangesFromParent`. It ends when the context is deallocated or the task is canceled, and by
/// throwing when reading fails. Each iteration reads for itself; a query that isn't iterated costs nothing.
public struct LiveQuery<Value>: AsyncSequence {
  public typealias Element = Value
  public typealias Failure = any Error

  private weak var context: ManagedObjectContext?
  private let entities: (ManagedObjectContext) throws -> DependentEntities
  private let read: (ManagedObjectContext) throws -> Value
  private var isRepetition: ((Value, Value) -> Bool)?

  init(
    _ context: ManagedObjectContext, _ entities: @escaping (ManagedObjectContext) throws -> DependentEntities,
    _ read: @escaping (ManagedObjectContext) throws -> Value
  ) {
    self.context = context
    self.entities = entities
    self.read = read
  }

  public func makeAsyncIterator() -> Iterator { Iterator(query: self) }

  /// Reads the values of one iteration.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let query: LiveQuery
    private var signal: SaveSignal?
    private var isEnded = false
    private var last: Value?

    fileprivate init(query: LiveQuery) { self.query = query }

    public mutating func next() async throws -> Value? { try await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
      do {
        while !isEnded, !Task.isCancelled, let count = try signalOfIteration()?.count {
          if let value = try newValue() { return value }
          await signal?.wait(since: count, isolation: actor)
        }
      } catch {
        isEnded = true
        throw error
      }
      return nil
    }

    /// Starts to follow the context with the first element. Nil if the context was deallocated.
    private mutating func signalOfIteration() throws -> SaveSignal? {
      guard let context = query.context else { return nil }
      if signal == nil {
        let entities = try query.entities(context)
        context.automaticallyMergesChangesFromParent = true
        signal = SaveSignal(context, entities)
      }
      return signal
    }

    /// Reads if there is something new since the last element; nil if there isn't.
    private mutating func newValue() throws -> Value? {
      guard let context = query.context, let signal, signal.take() else { return nil }
      let value = try query.read(context)
      guard let isRepetition = query.isRepetition else { return value }
      if let last, isRepetition(last, value) { return nil }
      last = value
      return value
    }
  }
}

extension LiveQuery where Value: Equatable {
  /// The same values without those that are equal to the one before.
  ///
  /// For numbers, rows and other values: managed objects are equal to themselves whatever their properties are.
  public func removingDuplicates() -> LiveQuery {
    var query = self
    query.isRepetition = { $0 == $1 }
    return query
  }
}
