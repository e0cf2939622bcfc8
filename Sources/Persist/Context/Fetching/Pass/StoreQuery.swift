import Foundation

/// A query of a fetch for one store.
package struct StoreQuery {
  /// The context's tables for the store.
  let tables: StoreTables
  let query: RowQuery

  /// - Parameter held: Rows whose values the answer may omit; nil for none.
  func rows(monitor: ReadMonitor?, held: KnownRows? = nil) throws -> RowBatch {
    try tables.store.rows(query, monitor: monitor, held: held)
  }

  func count(monitor: ReadMonitor?) throws -> Int { try tables.store.count(query, monitor: monitor) }

  /// Calls a closure with consecutive parts of the answer, on the calling thread, while further rows may be read.
  ///
  /// - Parameter held: Rows whose values the answer may omit; nil for none.
  func forEachPart(
    held: KnownRows?, in context: ManagedObjectContext, _ body: (RowBatch) throws -> Void
  ) throws {
    try tables.store.forEachPart(
      of: query, monitor: context.readMonitor, held: held, on: context.persistentStoreCoordinator.threads.reading,
      body)
  }

  /// Executes queries on a thread that may block. Rows of a parent context are read here, because it belongs to the
  /// caller's isolation.
  static func answers(
    to questions: [StoreQuery], on threads: StoreThreads, _ progress: Progress?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [RowBatch] {
    try await run(questions, on: threads, progress: progress) { try $0.rows($1, monitor: $2) }
  }

  /// Counts the rows of queries in the same way.
  static func counts(
    of questions: [StoreQuery], on threads: StoreThreads, _ progress: Progress?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Int] {
    try await run(questions, on: threads, progress: progress) { try $0.count($1, monitor: $2) }
  }

  private static func run<Answer: Sendable>(
    _ questions: [StoreQuery], on threads: StoreThreads, progress: Progress?,
    isolation: isolated (any Actor)? = #isolation,
    reading read: @escaping @Sendable (any RowSource, RowQuery, ReadMonitor?) throws -> Answer
  ) async throws -> [Answer] {
    let reads = questions.compactMap { question in
      (question.tables.store as? any SharedRowSource).map { (store: $0, query: question.query) }
    }
    guard reads.count == questions.count else { return try questions.map { try read($0.tables.store, $0.query, nil) } }
    return try await BackgroundRead.run(on: threads, progress) { monitor in
      try reads.map { try read($0.store, $0.query, monitor) }
    }
  }
}

/// The answers of stores to a list of queries.
struct QueryResults<Answer> {
  let questions: [StoreQuery]
  let answers: [Answer]

  /// Returns the answer to a query; nil if it isn't in the list.
  private func answer(to question: StoreQuery) -> Answer? {
    let index = questions.firstIndex { $0.tables === question.tables && $0.query == question.query }
    return index.map { answers[$0] }
  }
}

extension QueryResults where Answer == RowBatch {
  /// Returns the rows of a query, reading them now if the query isn't in the list.
  func rows(_ question: StoreQuery) throws -> RowBatch { try answer(to: question) ?? question.rows(monitor: nil) }
}

extension QueryResults where Answer == Int {
  /// Returns the number of a query's rows, counting them now if the query isn't in the list.
  func count(_ question: StoreQuery) throws -> Int { try answer(to: question) ?? question.count(monitor: nil) }
}
