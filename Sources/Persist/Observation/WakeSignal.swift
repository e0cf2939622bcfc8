import Foundation

/// A signal that wakes one waiting task. A signal sent while no task waits is kept for the next wait.
final class WakeSignal: Sendable {
  private enum State {
    case idle, sent
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = LockProtected(State.idle)
  private let end = LockProtected<(@Sendable () -> Void)?>(nil)

  deinit {
    send()
    // Later, because a thread that only asks whether the signal exists may release it, while it holds a lock.
    if let end = end.withLock({ $0 }) { DispatchQueue.global().async(execute: end) }
  }

  /// Sets a function to call after the signal was released.
  func whenReleased(_ body: @escaping @Sendable () -> Void) { end.withLock { $0 = body } }

  func send() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if case .waiting(let continuation) = state {
        state = .idle
        return continuation
      }
      state = .sent
      return nil
    }
    waiting?.resume()
  }

  /// Waits for the signal, or until the task is canceled.
  func wait(isolation actor: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isSent = state.withLock { state -> Bool in
          if case .sent = state {
            state = .idle
            return true
          }
          state = .waiting(continuation)
          return false
        }
        if isSent { continuation.resume() }
      }
    } onCancel: {
      send()
    }
  }
}

extension ManagedObjectContext {
  /// Registers a signal, which is sent when there are changes to merge. Stores are watched as long as one exists.
  func add(_ signal: WakeSignal) {
    add(signal.bell)
    signal.whenReleased { [weak coordinator = persistentStoreCoordinator] in coordinator?.stopWatchingStores() }
  }
}

extension WakeSignal {
  /// A bell that sends this signal, for as long as the signal exists.
  var bell: SavedChangesMailbox.Bell {
    SavedChangesMailbox.Bell(ring: { [weak self] in self?.send() }, isHeard: { [weak self] in self != nil })
  }
}
