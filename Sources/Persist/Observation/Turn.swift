/// A signal that wakes one waiting task. A signal sent while no task waits is kept for the next wait.
final class Turn: Sendable {
  private enum State {
    case idle, given
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Guarded(State.idle)

  deinit { give() }

  func give() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if case .waiting(let continuation) = state {
        state = .idle
        return continuation
      }
      state = .given
      return nil
    }
    waiting?.resume()
  }

  /// Waits for the signal, or until the task is canceled.
  func wait(isolation actor: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isGiven = state.withLock { state -> Bool in
          if case .given = state {
            state = .idle
            return true
          }
          state = .waiting(continuation)
          return false
        }
        if isGiven { continuation.resume() }
      }
    } onCancel: {
      give()
    }
  }
}

extension Turn {
  /// A bell that sends this signal, for as long as the signal exists.
  var bell: SavedChangesMailbox.Bell {
    SavedChangesMailbox.Bell(ring: { [weak self] in self?.give() }, isHeard: { [weak self] in self != nil })
  }
}
