import Foundation

/// A signal that wakes all tasks that wait for it.
///
/// A task reads ``count`` before it looks for what it waits for, so that a signal sent in between isn't missed.
final class WakeSignal: Sendable {
  private struct State {
    var count = 0
    var lastWaiter = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = Dictionary()
  }

  private let state = LockProtected(State())
  private let end = LockProtected<(@Sendable () -> Void)?>(nil)

  deinit {
    send()
    // Called later on another thread: the last reference may be released by a thread that holds a lock.
    if let end = end.withLock({ $0 }) { DispatchQueue.global().async(execute: end) }
  }

  /// Sets a function to call after the signal was released.
  func whenReleased(_ body: @escaping @Sendable () -> Void) { end.withLock { $0 = body } }

  /// The number of times that the signal was sent.
  var count: Int { state.withLock { $0.count } }

  func send() {
    let waiters = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
      state.count += 1
      let waiters = state.waiters
      state.waiters = Dictionary()
      return waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Waits until the signal was sent more than `count` times, or until the task is canceled.
  func wait(since count: Int, isolation actor: isolated (any Actor)?) async {
    let waiter = state.withLock { state -> Int in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        let isWaiting = state.withLock { state -> Bool in
          // A task that was canceled earlier has called the handler already.
          guard state.count == count, !Task.isCancelled else { return false }
          state.waiters[waiter] = continuation
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiters.removeValue(forKey: waiter) }
      continuation?.resume()
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
