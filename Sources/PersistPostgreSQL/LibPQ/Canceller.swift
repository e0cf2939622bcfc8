import CPostgreSQL
import Foundation
import Persist
import Synchronization

/// A key for canceling, which libpq allows any thread to use.
///
/// A cancellation takes a connection of its own, which libpq waits for as long as the system does. Therefore a thread
/// of its own sends it, and the canceling one waits for a limited time.
final class Canceller: @unchecked Sendable {
  // @unchecked: the key is never changed, and PQcancel may be called by any thread.
  private let key: OpaquePointer
  private let limit: Duration
  private let pendingCount = Atomic(0)

  init(_ key: OpaquePointer, limit: Duration) { (self.key, self.limit) = (key, limit) }
  deinit { PQfreeCancel(key) }

  /// Whether a cancellation may still arrive, so that it could end a later statement.
  var isPending: Bool { pendingCount.load(ordering: .acquiring) > 0 }

  func cancel() {
    pendingCount.add(1, ordering: .acquiringAndReleasing)
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread { [self] in
      var message = [CChar](repeating: 0, count: 256)
      _ = PQcancel(key, &message, Int32(message.count))
      pendingCount.subtract(1, ordering: .acquiringAndReleasing)
      ended.signal()
    }
    thread.name = "Persist: canceling"
    thread.start()
    _ = ended.wait(timeout: .now() + limit / .seconds(1))
  }
}
