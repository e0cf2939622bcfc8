/// The saves of one stream that weren't taken yet, a bounded number of them.
///
/// The stream holds the buffer; the context only fills it.
final class SavedChangesBuffer: Sendable {
  private struct State {
    var waiting: [SavedChanges] = []
    var isFinished = false
  }

  private let state = Guarded(State())
  private let turn = Turn()
  private static let capacity = 100

  func put(_ changes: SavedChanges) {
    state.withLock { state in
      if state.waiting.count == Self.capacity, let last = state.waiting.popLast() {
        state.waiting.append(last.followed(by: changes).bounded)
      } else {
        state.waiting.append(changes.bounded)
      }
      let count = state.waiting.reduce(0) { $0 + $1.count }
      guard count > SavedChanges.waitingCapacity else { return }
      state.waiting = [state.waiting.reduce(SavedChanges()) { $0.followed(by: $1) }.bounded]
    }
    turn.give()
  }

  /// Ends the stream behind what waits.
  func finish() {
    state.withLock { $0.isFinished = true }
    turn.give()
  }

  /// Waits for a save; nil at the end, and where the task is cancelled.
  func next() async -> SavedChanges? {
    while !Task.isCancelled {
      let (changes, isFinished) = state.withLock { state in
        (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isFinished)
      }
      if changes != nil || isFinished { return changes }
      await turn.wait(isolation: nil)
    }
    return nil
  }
}

/// Leads from a context to the buffer of one stream. The context holds it, and ends the stream when it goes itself.
final class SavedChangesSource {
  private(set) weak var buffer: SavedChangesBuffer?

  init(_ buffer: SavedChangesBuffer) { self.buffer = buffer }

  deinit { buffer?.finish() }
}
