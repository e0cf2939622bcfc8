extension ManagedObjectContext {
  /// Merges what others save, as they save it, until the task is cancelled.
  ///
  /// For a context whose owner doesn't use it all the time, as that of a view; and to hear of other processes, which
  /// ring no bell.
  ///
  /// ```swift
  /// .task { await viewContext.mergeChangesContinuously() }
  /// ```
  ///
  /// The context merges within the isolation of the caller, which is its own. It is kept alive meanwhile.
  ///
  /// - Parameter interval: how often to ask the stores whether another process has written. Each time costs one small
  ///   statement per store.
  public func mergeChangesContinuously(
    checkingEvery interval: Duration = .seconds(1), isolation actor: isolated (any Actor)? = #isolation
  ) async {
    guard !Task.isCancelled else { return }
    automaticallyMergesChangesFromParent = true
    let turn = Turn()
    mailbox.add(turn.bell)
    let clock = Task { [weak turn] in
      while !Task.isCancelled, turn != nil {
        try? await Task.sleep(for: interval)
        turn?.give()
      }
    }
    defer { clock.cancel() }
    while !Task.isCancelled {
      processPendingChanges()
      await turn.wait(isolation: actor)
    }
  }
}
