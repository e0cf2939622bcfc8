import Foundation

/// The parts of a result, which a thread of a pool produces while the calling thread consumes earlier ones.
///
/// The calling thread produces the first part itself, so that short results need no other thread. As long as no thread
/// of the pool has begun when it needs the next part, it produces that one too. Threads of the pool may therefore run
/// pipelines themselves without waiting for each other. A thread that is too far ahead of the consumer leaves, and is
/// asked again when half of its parts are consumed.
///
/// `@unchecked Sendable`: the state is only accessed while `condition` is locked. `produce` is called by one thread at
/// a time: by one of the pool while the state is `running`, by the caller otherwise.
package final class Pipeline<Part: Sendable>: @unchecked Sendable {
  private enum State {
    /// No thread of the pool has begun, or one was too far ahead and left.
    case waiting
    /// A thread of the pool produces the other parts.
    case running
    /// The calling thread produces a part. A thread of the pool that comes meanwhile is turned away, because others may
    /// need it, and is asked again afterward.
    case taken(turnedAway: Bool)
    /// No part will be added, because of the error if there is one.
    case finished((any Error)?)
  }

  /// The outcome of a call of `produce`. Not a `Result`, for which Swift's runtime searches all libraries when a
  /// process uses it first: a third of a million instructions.
  private enum Production {
    case part(Part, isLast: Bool)
    case failure(any Error)

    init(_ produce: () throws -> (part: Part, isLast: Bool)) {
      do {
        let (part, isLast) = try produce()
        self = .part(part, isLast: isLast)
      } catch {
        self = .failure(error)
      }
    }
  }

  private let produce: () throws -> (part: Part, isLast: Bool)
  /// Nil to produce all parts on the calling thread.
  private let threads: ThreadPool?
  /// The number of parts that wait for the consumer at most.
  private let limit: Int
  private let condition = NSCondition()
  private var state = State.waiting
  private var parts = WorkQueue<Part>()
  private var isCancelled = false
  /// Whether a thread of the pool was asked and hasn't come.
  private var isAsked = false

  private init(
    on threads: ThreadPool?, ahead limit: Int, _ produce: @escaping () throws -> (part: Part, isLast: Bool)
  ) {
    (self.threads, self.limit, self.produce) = (threads, limit, produce)
  }

  /// Starts producing parts for a consumer that takes them later, with ``next()``, until the last one.
  ///
  /// - Parameters:
  ///   - threads: The threads to produce parts on.
  ///   - limit: The number of parts that wait for the consumer at most.
  ///   - produce: Returns the next part. It is called on any thread, one call at a time.
  package static func started(
    on threads: ThreadPool, ahead limit: Int = .max,
    producing produce: @escaping () throws -> (part: Part, isLast: Bool)
  ) -> Pipeline {
    let pipeline = Pipeline(on: threads, ahead: limit, produce)
    pipeline.askThread()
    return pipeline
  }

  /// Produces all parts, and calls a closure with each, in order, on the calling thread.
  ///
  /// - Parameters:
  ///   - threads: The threads to produce parts on; nil to produce all on the calling thread. Evaluated after the first
  ///     part, unless that is the last one.
  ///   - limit: The number of parts that wait for the consumer at most.
  ///   - produce: Returns the next part. It is called on any thread, one call at a time, and no more after this
  ///     function has returned.
  ///   - consume: Called at least once. Production ends when it throws.
  package static func run(
    on threads: @autoclosure () -> ThreadPool?, ahead limit: Int = .max,
    producing produce: @escaping () throws -> (part: Part, isLast: Bool), consuming consume: (Part) throws -> Void
  ) throws {
    let (first, isLast) = try produce()
    guard !isLast else { return try consume(first) }
    let pipeline = Pipeline(on: threads(), ahead: limit, produce)
    pipeline.askThread()
    defer { pipeline.end() }
    try consume(first)
    while let (part, isLast) = try pipeline.next() {
      try consume(part)
      if isLast { return }
    }
  }

  /// Asks a thread of the pool to produce the other parts.
  private func askThread() {
    guard let threads else { return }
    condition.lock()
    let isFirst = !isAsked
    isAsked = true
    condition.unlock()
    if isFirst { threads.add { self.produceAhead() } }
  }

  /// Produces parts until the last one, an error, cancellation, or until enough wait for the consumer.
  private func produceAhead() {
    guard begin() else { return }
    while addPart(Production(produce)) {}
  }

  /// - Returns: Whether this thread of the pool is to produce the other parts.
  private func begin() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    isAsked = false
    switch state {
    case .waiting:
      state = .running
      return true
    case .taken: state = .taken(turnedAway: true)
    case .running, .finished: break
    }
    return false
  }

  /// - Returns: Whether more parts are to be produced.
  private func addPart(_ production: Production) -> Bool {
    condition.lock()
    defer {
      condition.signal()
      condition.unlock()
    }
    switch production {
    case .failure(let error): state = .finished(error)
    case .part(let part, let isLast):
      parts.append(part)
      if isLast || isCancelled { state = .finished(nil) } else if parts.count >= limit { state = .waiting }
    }
    if case .running = state { return true }
    return false
  }

  /// Returns the next part, waiting for it or producing it; nil after the last one that another thread has produced.
  package func next() throws -> (part: Part, isLast: Bool)? {
    condition.lock()
    if case .waiting = state, parts.isEmpty {
      state = .taken(turnedAway: false)
      condition.unlock()
      return try produceOne()
    }
    while case .running = state, parts.isEmpty { condition.wait() }
    let (part, state, count) = (parts.popFirst(), state, parts.count)
    condition.unlock()
    if let part {
      if case .waiting = state, count <= limit / 2 { askThread() }
      return (part, false)
    }
    if case .finished(let error?) = state { throw error }
    return nil
  }

  /// Produces a part on the calling thread, after which a thread of the pool may take over.
  private func produceOne() throws -> (part: Part, isLast: Bool) {
    let production = Production(produce)
    condition.lock()
    var asksAgain = false
    if case .part(_, false) = production, !isCancelled {
      if case .taken(turnedAway: true) = state { asksAgain = true }
      state = .waiting
    } else {
      state = .finished(nil)
    }
    condition.unlock()
    if asksAgain { askThread() }
    switch production {
    case .part(let part, let isLast): return (part, isLast)
    case .failure(let error): throw error
    }
  }

  /// Ends the production, after the part in progress.
  package func cancel() {
    condition.lock()
    defer { condition.unlock() }
    isCancelled = true
    if case .waiting = state { state = .finished(nil) }
  }

  /// Does the same as ``cancel()``, and waits for the part in progress.
  package func end() {
    cancel()
    condition.lock()
    defer { condition.unlock() }
    while case .running = state { condition.wait() }
  }
}
