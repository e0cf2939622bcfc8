import Persist

/// The times after which a network counts as quiet, instead of waiting for packets that may never come, and after which
/// a statement doesn't wait for locks any longer.
///
/// A server that works for long isn't meant: it still acknowledges packets.
package struct ServerPatience: Hashable, Sendable {
  /// The maximum time without a sign of the other side, although packets are due.
  package let silence: Duration
  /// The maximum time to connect to a host.
  package let connecting: Duration
  /// The maximum time that a statement waits for a lock, if neither its transaction nor the user's settings have
  /// another limit; nil for as long as it takes. A pooler's connection, which others use too, has no such limit.
  package let lockWait: Duration?

  /// - Parameters:
  ///   - busyTimeout: The maximum time that an operation should wait. Noticing that a network is quiet and asking for
  ///     the outcome share it.
  ///   - limitsLocks: Whether statements wait no longer for locks, either.
  package init(busyTimeout: Duration, limitingLocks limitsLocks: Bool = false) {
    lockWait = limitsLocks ? busyTimeout : nil
    silence = min(max(busyTimeout / 2, .seconds(1)), .seconds(5))
    connecting = min(max(busyTimeout, .seconds(2)), .seconds(10))
  }
}
