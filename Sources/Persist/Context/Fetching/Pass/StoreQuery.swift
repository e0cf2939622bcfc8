import Foundation

/// A query of a fetch for one store.
struct StoreQuery {
  /// The context's tables for the store.
  let tables: StoreTables
  let query: RowQuery

  /// - Parameter held: Rows whose values the answer may omit; nil for none.
  func rows(monitor: ReadMonitor?, held: KnownRows? = nil) throws -> RowBatch {
    try tables.store.rows(query, monitor: monitor, held: held)
  }

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
    let reads = questions.compactMap { question in
      (question.tables.store as? any SharedRowSource).map { (store: $0, query: question.query) }
    }
    guard reads.count == questions.count else { return try questions.map { try $0.rows(monitor: nil) } }
    return try await BackgroundRead.run(on: threads, progress) { monitor in
      try reads.map { try $0.store.rows($0.query, monitor: monitor) }
    }
  }
}

/// The answers of stores to a list of queries.
struct QueryResults {
  let questions: [StoreQuery]
  let batches: [RowBatch]

  /// Returns the answer to a query, executing it now if it isn't in the list.
  func rows(_ question: StoreQuery) throws -> RowBatch {
    let place = questions.firstIndex { $0.tables === question.tables && $0.query == question.query }
    return try place.map { batches[$0] } ?? question.rows(monitor: nil)
  }
}
