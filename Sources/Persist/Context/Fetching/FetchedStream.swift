/// The results of a request as a sequence that awaits its rows: it needs constant memory, and doesn't block the
/// context's actor while a store reads.
///
/// Not Sendable: it yields objects of its context, and so stays in the context's isolation.
public struct FetchedStream<Object: ManagedObject>: AsyncSequence {
  public typealias Element = Object
  public typealias Failure = any Error

  let context: ManagedObjectContext
  let request: FetchRequest<Object>

  public func makeAsyncIterator() -> Iterator { Iterator(context: context, request: request) }

  /// Iterates over the results, holding the objects of one batch at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let context: ManagedObjectContext
    let request: FetchRequest<Object>
    private var walk: FetchWalk?
    private var batch: [Object] = []
    private var place = 0

    init(context: ManagedObjectContext, request: FetchRequest<Object>) {
      self.context = context
      self.request = request
    }

    /// - Throws: The errors of a fetch; `CancellationError` if the task was canceled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Object? {
      while place == batch.count {
        guard let objects = try await nextGroup(actor) else { return nil }
        batch = try Object.typed(objects) { .object($0) }
        place = 0
      }
      defer { place += 1 }
      return batch[place]
    }

    private mutating func nextGroup(_ actor: isolated (any Actor)?) async throws -> [ManagedObject]? {
      try Task.checkCancellation()
      // Releases unreferenced objects of the last group before the next is read.
      (batch, place) = ([], 0)
      var walk = try await begun(actor)
      defer { self.walk = walk }
      if let question = walk.question() {
        let rows = try await StoreQuery.answers(
          to: [question], on: context.persistentStoreCoordinator.threads, nil, isolation: actor)
        return try walk.objects(of: rows[0], from: question)
      }
      return walk.nextUnplaced()
    }

    private func begun(_ actor: isolated (any Actor)?) async throws -> FetchWalk {
      if let walk { return walk }
      try context.prepareToFetch()
      let size = request.fetchBatchSize > 0 ? request.fetchBatchSize : 500
      let pass = try FetchPass(request, in: context)
      if FetchWalk.isByKey(pass) { return FetchWalk(pass, size: size, ids: nil) }
      let ids = try await context.fetch(
        request.returning(ManagedObjectID.self), progress: nil, isolation: actor)
      return FetchWalk(try FetchPass(request, in: context), size: size, ids: ResultIdentifiers(ids))
    }
  }
}
