import CPostgreSQL
import Foundation
import Persist

/// Detects that a network has gone quiet: the other side of a connection acknowledges nothing for a time, although
/// packets are due. A server that works for long, or that reads nothing for long, still acknowledges.
///
/// The system's own limit, `tcp_user_timeout`, can't be used for that: it also ends connections to servers that are too
/// busy to read.
///
/// - SeeAlso: <https://man7.org/linux/man-pages/man7/tcp.7.html>
struct SilenceDetector {
  /// The time between two observations.
  static let interval = Duration.milliseconds(250)

  private let limit: Int
  private var unansweredCount = 0
  private var lastAnswer: ContinuousClock.Instant?

  /// - Parameter limit: The time without an answer after which the network counts as quiet. It is counted in
  ///   observations, so that a program that was stopped in between doesn't conclude anything from that.
  init(limit: Duration) { self.limit = max(2, Int((limit / Self.interval).rounded(.up))) }

  /// Observes a connection that has been waiting for one more interval.
  ///
  /// - Returns: Whether the network is quiet.
  mutating func observe(_ socket: Int32) -> Bool {
    var state = PersistTCPState()
    guard PersistReadTCPState(socket, &state) != 0, state.unanswered > 0 else {
      self = SilenceDetector(count: limit)
      return false
    }
    if state.isConnecting == 0 {
      let answer = ContinuousClock.now - .milliseconds(Int(state.sinceAnswer))
      // The system's clock has steps of up to 10 milliseconds.
      if let lastAnswer, answer > lastAnswer + .milliseconds(50) { unansweredCount = 0 }
      lastAnswer = answer
    }
    unansweredCount += 1
    return unansweredCount > limit
  }

  private init(count: Int) { limit = count }
}

/// The operations that a socket is ready for.
struct SocketEvents: OptionSet {
  let rawValue: Int32

  static let readable = SocketEvents(rawValue: Int32(PersistReadable))
  static let writable = SocketEvents(rawValue: Int32(PersistWritable))

  /// Waits until a socket is ready.
  ///
  /// - Returns: Empty if it wasn't within the time. The next call on the connection reports what is wrong with it.
  static func wait(for events: SocketEvents, of socket: Int32, atMost time: Duration) -> SocketEvents {
    let milliseconds = Int32(min(max((time / .milliseconds(1)).rounded(.up), 0), 1e9))
    return SocketEvents(rawValue: PersistWaitForSocket(socket, events.rawValue, milliseconds))
  }
}
