import Foundation

/// The parts of a result, which a thread of a pool produces while the calling thread consumes earlier ones.
///
/// The calling thread produces the first part itself, so that short results need no other thread. As long as no thread
/// of the pool has begun when it needs the next part, it produces that one too. Threads of the pool may therefore run
/// pipelines themselves without waiting for each other.
///
/// `@unchecked Sendable`: the state is only accessed while `condition` is locked. `produce` is called by one thread at
/// a time: by one of the pool while the state is `running`, by the caller otherwise.
final class Pipeline<Part: Sendable>: @unchecked Sendable {
  private enum State {
    /// No thread of the pool has begun.
    case waiting
    /// A thread of the pool produces the other parts.
    case running
    /// The calling thread produces a part. A thread of the pool that comes meanwhile is turned away, because others may
    /// need it, and is asked again afterward.
    case taken(turnedAway: Bool)
    /// No part will be added, because of the error if there is one.
    case finished((any Error)?)
  }

  private let produce: () throws -> (part: Part, isLast: Bool)
  /// Nil to produce all parts on the calling thread.
  private let threads: ThreadPool?
  private let condition = NSCondition()
  private var state = State.waiting
  private var parts = WorkQueue<Part>()
  private var isCancelled = false

  private init(on threads: ThreadPool?, _ produce: @escaping () throws -> (part: Part, isLast: Bool)) {
    (self.threads, self.produce) = (threads, produce)
  }

  /// Starts producing parts for a consumer that takes them later, with ``next()``, until the last one.
  ///
  /// - Parameters:
  ///   - threads: The threads to produce parts on.
  ///   - produce: Returns the next part. It is called on any thread, one call at a time.
  static func started(
    on threads: ThreadPool, producing produce: @escaping () throws -> (part: Part, isLast: Bool)
  ) -> Pipeline {
    let pipeline = Pipeline(on: threads, produce)
    pipeline.askThread()
    return pipeline
  }

  /// Produces all parts, and calls a closure with each, in order, on the calling thread.
  ///
  /// - Parameters:
  ///   - threads: The threads to produce parts on; nil to produce all on the calling thread. Evaluated after the first
  ///     part, unless that is the last one.
  ///   - produce: Returns the next part. It is called on any thread, one call at a time, and no more after this
  ///     function has returned.
  ///   - consume: Called at least once. Production ends when it throws.
  static func run(
    on threads: @autoclosure () -> ThreadPool?, producing produce: @escaping () throws -> (part: Part, isLast: Bool),
    consuming consume: (Part) throws -> Void
  ) throws {
    let (first, isLast) = try produce()
    guard !isLast else { return try consume(first) }
    let pipeline = Pipeline(on: threads(), produce)
    pipeline.askThread()
    defer { pipeline.end() }
    try consume(first)
    while let (part, isLast) = try pipeline.next() {
      try consume(part)
      if isLast { return }
    }
  }

  /// Asks a thread of the pool to produce the other parts.
  private func askThread() { threads?.add { self.produceAhead() } }

  /// Produces parts until the last one, an error, or cancellation.
  private func produceAhead() {
    guard begin() else { return }
    while addPart(Result { try produce() }) {}
  }

  /// - Returns: Whether this thread of the pool is to produce the other parts.
  private func begin() -> Bool {
    condition.lock()
    defer { condition.unlock() }
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
  private func addPart(_ result: Result<(part: Part, isLast: Bool), any Error>) -> Bool {
    condition.lock()
    defer {
      condition.signal()
      condition.unlock()
    }
    switch result {
    case .failure(let error): state = .finished(error)
    case .success(let (part, isLast)):
      parts.append(part)
      if isLast || isCancelled { state = .finished(nil) }
    }
    if case .running = state { return true }
    return false
  }

  /// Returns the next part, waiting for it or producing it; nil after the last one that another thread has produced.
  func next() throws -> (part: Part, isLast: Bool)? {
    condition.lock()
    if case .waiting = state {
      state = .taken(turnedAway: false)
      condition.unlock()
      return try produceOne()
    }
    while case .running = state, parts.isEmpty { condition.wait() }
    let (part, state) = (parts.popFirst(), state)
    condition.unlock()
    if let part { return (part, false) }
    if case .finished(let error?) = state { throw error }
    return nil
  }

  /// Produces a part on the calling thread, after which a thread of the pool may take over.
  private func produceOne() throws -> (part: Part, isLast: Bool) {
    let result = Result { try produce() }
    condition.lock()
    var asksAgain = false
    if case .success(let next) = result, !next.isLast, !isCancelled {
      if case .taken(turnedAway: true) = state { asksAgain = true }
      state = .waiting
    } else {
      state = .finished(nil)
    }
    condition.unlock()
    if asksAgain { askThread() }
    return try result.get()
  }

  /// Ends the production, after the part in progress.
  func cancel() {
    condition.lock()
    defer { condition.unlock() }
    isCancelled = true
    if case .waiting = state { state = .finished(nil) }
  }

  /// Does the same as ``cancel()``, and waits for the part in progress.
  private func end() {
    cancel()
    condition.lock()
    defer { condition.unlock() }
    while case .running = state { condition.wait() }
  }
}
