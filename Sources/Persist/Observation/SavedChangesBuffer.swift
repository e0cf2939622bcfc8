/// The pending saves of one stream, bounded in number.
///
/// The stream owns the buffer; the context only fills it.
final class SavedChangesBuffer: Sendable {
  private struct State {
    var waiting: [SavedChanges] = []
    var isFinished = false
  }

  private let state = LockProtected(State())
  private let signal = WakeSignal()
  private static let capacity = 100

  func enqueue(_ changes: SavedChanges) {
    state.withLock { state in
      if state.waiting.count == Self.capacity {
        let last = Self.capacity - 1
        // In place, because a second reference would cause the sets to be copied.
        state.waiting[last].append(changes)
        state.waiting[last] = state.waiting[last].bounded
      } else {
        state.waiting.append(changes.bounded)
      }
      let count = state.waiting.reduce(0) { $0 + $1.count }
      guard count > SavedChanges.waitingCapacity else { return }
      var all = state.waiting.removeFirst()
      for later in state.waiting { all.append(later) }
      state.waiting = [all.bounded]
    }
    signal.send()
  }

  /// The pending saves, for tests.
  var pending: [SavedChanges] { state.withLock { $0.waiting } }

  /// Ends the stream after the pending saves.
  func finish() {
    state.withLock { $0.isFinished = true }
    signal.send()
  }

  /// Waits for a save; returns nil at the end and if the task is canceled.
  func next() async -> SavedChanges? {
    while !Task.isCancelled {
      let sent = signal.count
      let (changes, isFinished) = state.withLock { state in
        (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isFinished)
      }
      if changes != nil || isFinished { return changes }
      await signal.wait(since: sent, isolation: nil)
    }
    return nil
  }
}

/// Connects a context to the buffer of one stream. The context owns it, so its deallocation ends the stream.
final class SavedChangesSource {
  private(set) weak var buffer: SavedChangesBuffer?

  init(_ buffer: SavedChangesBuffer) { self.buffer = buffer }

  deinit { buffer?.finish() }
}
