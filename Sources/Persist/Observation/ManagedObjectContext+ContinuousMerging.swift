extension ManagedObjectContext {
  /// Merges saves by others as they happen, until the task is canceled.
  ///
  /// For a context that isn't in constant use, such as that of a view. The saves of other processes arrive within
  /// milliseconds on Linux, where the file system reports them, and within a twentieth of a second elsewhere.
  ///
  /// ```swift
  /// .task { await viewContext.mergeChangesContinuously() }
  /// ```
  ///
  /// The context merges in the caller's isolation, which is its own, and is kept alive until the call returns.
  ///
  /// - Parameters:
  ///   - interval: The interval between additional checks for writes by other processes, for file systems that don't
  ///     report them. Each check costs one small statement per store.
  ///   - actor: The context's actor; the default is the caller's.
  public func mergeChangesContinuously(
    checkingEvery interval: Duration = .seconds(1), isolation actor: isolated (any Actor)? = #isolation
  ) async {
    guard !Task.isCancelled else { return }
    automaticallyMergesChangesFromParent = true
    let signal = WakeSignal()
    add(signal)
    let clock = Task { [weak signal] in
      while !Task.isCancelled, signal != nil {
        try? await Task.sleep(for: interval)
        signal?.send()
      }
    }
    defer { clock.cancel() }
    while !Task.isCancelled {
      let sent = signal.count
      processPendingChanges()
      await signal.wait(since: sent, isolation: actor)
    }
  }
}
