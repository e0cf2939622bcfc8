public import Foundation

extension ManagedObjectContext {
  /// Fetches without blocking the thread of the context's actor while the store reads.
  ///
  /// Rows are read on a thread of the coordinator's; objects are made of them on the context's actor, which may do
  /// other work meanwhile. The result takes account of the changes that are unsaved at the end. A child context reads
  /// through its parent, which belongs to the same actor, and does block it.
  ///
  /// ```swift
  /// let progress = Progress(totalUnitCount: -1)
  /// let items = try await context.fetch(FetchRequest("Item"), progress: progress)
  /// ```
  ///
  /// - Parameter progress: counts the rows that have been read; nil where nobody is interested. It has no total until
  ///   the end. Cancelling it stops the fetch, as cancelling the task does.
  /// - Throws: as the fetch that blocks; `CancellationError` where it was cancelled.
  public func fetch<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, progress: Progress?, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Result] {
    try Task.checkCancellation()
    try prepareToFetch()
    let results: [Result]
    switch Result.fetchedForm {
    case .objects:
      let (pass, answers) = try await read(request, identifiersOnly: false, progress)
      results = try Result.typed(pass.objects(reading: answers.rows)) { .object($0) }
    case .identifiers:
      let (pass, answers) = try await read(request, identifiersOnly: true, progress)
      results = try Result.typed(pass.objectIDs(reading: answers.rows)) { .identifier($0) }
    case .rows where parent != nil:
      results = try Result.typed(DictionaryPass(request, in: self).rows()) { .row($0) }
    case .rows:
      let (request, coordinator) = (try named(request.returning(FetchedRow.self)), persistentStoreCoordinator)
      let rows = try await BackgroundRead.run(on: coordinator.threads, progress) { monitor in
        let context = ManagedObjectContext(coordinator)
        context.readMonitor = monitor
        return try context.fetch(request)
      }
      results = try Result.typed(rows) { .row($0) }
    case .count:
      let (pass, answers) = try await read(request, identifiersOnly: true, progress)
      results = try Result.typed([pass.objectIDs(reading: answers.rows).count]) { .count($0) }
    }
    progress?.totalUnitCount = Int64(results.count)
    progress?.completedUnitCount = Int64(results.count)
    return results
  }

  /// Reads what a request asks of the stores, and gives the fetch as it is when that was read.
  private func read<Result>(
    _ request: FetchRequest<Result>, identifiersOnly: Bool, _ progress: Progress?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (FetchPass, FetchAnswers) {
    let first = try FetchPass(request, in: self)
    let questions = first.questions(identifiersOnly: identifiersOnly)
    let batches = try await FetchQuestion.answers(to: questions, on: persistentStoreCoordinator.threads, progress)
    try prepareToFetch()
    // Of the same moment, so that the questions are the same unless the context changed.
    return (try FetchPass(request, in: self, now: first.now), FetchAnswers(questions: questions, batches: batches))
  }

  /// The objects that a request asks for, read as they are walked through, in memory for a batch of them.
  ///
  /// ```swift
  /// for try await item in context.stream(FetchRequest("Item")) { total += item["quantity"] as? Int ?? 0 }
  /// ```
  ///
  /// Objects that the program doesn't hold and doesn't change go when the next batch is read.
  /// ``FetchRequest/fetchBatchSize`` says how many that is, 500 where it is 0.
  public func stream<Object: ManagedObject>(_ request: FetchRequest<Object>) -> FetchedStream<Object> {
    FetchedStream(context: self, request: request)
  }
}
