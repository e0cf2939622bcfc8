public import Foundation

extension ManagedObjectContext {
  /// Fetches without blocking the context's actor while the store reads.
  ///
  /// Rows are read on one of the coordinator's threads; objects are created from them on the context's actor, which can
  /// do other work meanwhile. The result includes changes that are unsaved when reading ends. A child context reads
  /// through its parent, which belongs to the same actor, and does block it.
  ///
  /// ```swift
  /// let progress = Progress(totalUnitCount: -1)
  /// let items = try await context.fetch(FetchRequest("Item"), progress: progress)
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request to execute.
  ///   - progress: Counts the rows read; nil for none. It has no total until the end. Canceling it stops the fetch,
  ///     like canceling the task.
  ///   - isolation: The context's actor; the default is the caller's.
  /// - Throws: The errors of the blocking fetch; `CancellationError` if the fetch was canceled.
  public func fetch<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, progress: Progress?, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Result] {
    try Task.checkCancellation()
    try prepareToFetch()
    let results: [Result]
    switch Result.fetchedForm {
    case .objects:
      let (pass, answers) = try await read(request, identifiersOnly: false, progress)
      let objects = try pass.objects(reading: answers.rows)
      results = try Result.typed(objects, of: pass.classes)
    case .identifiers:
      let (pass, answers) = try await read(request, identifiersOnly: true, progress)
      results = try Result.typed(pass.objectIDs(reading: answers.rows)) { .identifier($0) }
    case .rows where parent != nil:
      results = try Result.typed(DictionaryPass(request, in: self).rows()) { .row($0) }
    case .rows:
      let (request, reading) = (try named(request.returning(FetchedRow.self)), ContextReading(of: self))
      let rows = try await BackgroundRead.run(on: persistentStoreCoordinator.threads, progress) { monitor in
        try reading.makeContext(monitor: monitor).fetch(request)
      }
      results = try Result.typed(rows) { .row($0) }
    case .count:
      let count = try await countResults(of: request, progress)
      results = try Result.typed([count]) { .count($0) }
    }
    progress?.totalUnitCount = Int64(results.count)
    progress?.completedUnitCount = Int64(results.count)
    return results
  }

  /// Reads the rows of a request from the stores, and returns the fetch in its state after reading.
  private func read<Result>(
    _ request: FetchRequest<Result>, identifiersOnly: Bool, _ progress: Progress?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (FetchPass, QueryResults<RowBatch>) {
    let first = try FetchPass(request, in: self)
    let questions = first.questions(identifiersOnly: identifiersOnly)
    let batches = try await StoreQuery.answers(to: questions, on: persistentStoreCoordinator.threads, progress)
    try prepareToFetch()
    // Uses the same time, so that the questions are the same unless the context changed.
    return (try FetchPass(request, in: self, now: first.now), QueryResults(questions: questions, answers: batches))
  }

  /// Counts the results of a request in the stores, unless objects must be evaluated.
  private func countResults<Result>(
    of request: FetchRequest<Result>, _ progress: Progress?, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Int {
    let first = try FetchPass(request, in: self)
    guard !first.hasRest else {
      let (pass, answers) = try await read(request, identifiersOnly: true, progress)
      return try pass.objectIDs(reading: answers.rows).count
    }
    let questions = first.counts().map(\.question)
    let counts = try await StoreQuery.counts(of: questions, on: persistentStoreCoordinator.threads, progress)
    try prepareToFetch()
    let results = QueryResults(questions: questions, answers: counts)
    return try FetchPass(request, in: self, now: first.now).count(reading: results.count)
  }

  /// Returns the objects of a request as a stream that reads them during iteration, with one batch in memory.
  ///
  /// ```swift
  /// for try await item in context.stream(FetchRequest("Item")) { total += item["quantity"] as? Int ?? 0 }
  /// ```
  ///
  /// Objects that the program neither holds nor changes are released before the next batch is read.
  /// ``FetchRequest/fetchBatchSize`` sets the batch size; 0 means 500.
  public func stream<Object: ManagedObject>(_ request: FetchRequest<Object>) -> FetchedStream<Object> {
    FetchedStream(context: self, request: request)
  }
}
