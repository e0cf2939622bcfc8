public import Persist

extension PersistentContainer {
  /// The results of a request as values that any task may receive, now and after each save that may change them.
  ///
  /// They are read in a context of their own, on a thread of their own, as long as the stream is iterated. An element
  /// that waits is replaced by the next one.
  ///
  /// ```swift
  /// for try await rows in container.live(FetchRequest<FetchedRow>("Order")) { await view.show(rows) }
  /// ```
  public func live<Result: FetchRequestResult & Sendable>(
    _ request: FetchRequest<Result>
  ) -> AsyncThrowingStream<[Result], any Error> {
    stream { $0.live(request) }
  }

  /// The number of results of a request, now and whenever a save changes it, in a context of its own.
  public func liveCount<Result>(of request: FetchRequest<Result>) -> AsyncThrowingStream<Int, any Error> {
    stream { $0.liveCount(of: request) }
  }

  /// The values that a closure reads from objects of some entities in a context of its own, now and after each save of
  /// such objects.
  ///
  /// - Parameters:
  ///   - names: The entities whose objects the closure reads; their subentities are included.
  ///   - read: Called for each element, on the thread of the context.
  public func live<Value: Sendable>(
    entities names: [String], _ read: @escaping @Sendable (ManagedObjectContext) throws -> Value
  ) -> AsyncThrowingStream<Value, any Error> {
    stream { $0.live(entities: names, read) }
  }

  private func stream<Value: Sendable>(
    _ query: @escaping @Sendable (ManagedObjectContext) -> LiveQuery<Value>
  ) -> AsyncThrowingStream<Value, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let reader = LiveReader(self)
      let task = Task { await reader.run(query, into: continuation) }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

/// Reads one stream in a context and on a thread of its own.
private actor LiveReader: ContextActor {
  let contextExecutor: ContextExecutor

  init(_ container: PersistentContainer) { contextExecutor = ContextExecutor(container) }

  func run<Value: Sendable>(
    _ query: (ManagedObjectContext) -> LiveQuery<Value>,
    into continuation: AsyncThrowingStream<Value, any Error>.Continuation
  ) async {
    do {
      for try await value in query(context) { continuation.yield(value) }
      continuation.finish()
    } catch {
      continuation.finish(throwing: error)
    }
  }
}
