import Persist

/// The times after which a network counts as quiet, instead of waiting for packets that may never come.
///
/// A server that works for long isn't meant: it still acknowledges packets.
package struct ServerPatience: Hashable, Sendable {
  /// The maximum time without a sign of the other side, although packets are due.
  package let silence: Duration
  /// The maximum time to connect to a host.
  package let connecting: Duration

  /// - Parameter busyTimeout: The maximum time that an operation should wait. Noticing that a network is quiet and
  ///   asking for the outcome share it.
  package init(busyTimeout: Duration) {
    silence = min(max(busyTimeout / 2, .seconds(1)), .seconds(5))
    connecting = min(max(busyTimeout, .seconds(2)), .seconds(10))
  }
}
