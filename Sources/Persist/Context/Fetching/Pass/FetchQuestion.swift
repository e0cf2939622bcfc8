import Foundation

/// Rows to read for a fetch.
struct FetchQuestion {
  /// The tables of the store whose rows are meant.
  let tables: StoreTables
  let query: RowQuery

  /// - Parameter held: rows whose values the answer may leave out; nil for none.
  func rows(monitor: ReadMonitor?, held: HeldRows? = nil) throws -> RowBatch {
    try tables.store.rows(query, monitor: monitor, held: held)
  }

  /// Has questions answered on a thread that may block. Rows that are a parent context's are read here: it belongs to
  /// the caller's isolation.
  static func answers(
    to questions: [FetchQuestion], on threads: StoreThreads, _ progress: Progress?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [RowBatch] {
    let reads = questions.compactMap { question in
      (question.tables.store as? any PersistentStore).map { (store: $0, query: question.query) }
    }
    guard reads.count == questions.count else { return try questions.map { try $0.rows(monitor: nil) } }
    return try await BackgroundRead.run(on: threads, progress) { monitor in
      try reads.map { try $0.store.rows($0.query, monitor: monitor) }
    }
  }
}

/// What stores answered, by what they were asked.
struct FetchAnswers {
  let questions: [FetchQuestion]
  let batches: [RowBatch]

  /// The answer to a question; it is asked now where it wasn't before.
  func rows(_ question: FetchQuestion) throws -> RowBatch {
    let place = questions.firstIndex { $0.tables === question.tables && $0.query == question.query }
    return try place.map { batches[$0] } ?? question.rows(monitor: nil)
  }
}
