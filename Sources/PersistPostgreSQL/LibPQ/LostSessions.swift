import Persist
import Synchronization

/// The sessions of connections that this program has lost, which the server may still consider connected: it would keep
/// their locks until it finds out. The next connection to the server ends them.
final class LostSessions: Sendable {
  static let all = LostSessions()

  /// By the settings of the connections.
  private let sessions = Mutex<[[String: String]: Set<ServerProcess>]>([:])

  func insert(_ session: ServerProcess, _ settings: [String: String]) {
    sessions.withLock { _ = $0[settings, default: []].insert(session) }
  }

  /// Removes the sessions to end on a server.
  func take(_ settings: [String: String]) -> Set<ServerProcess> {
    sessions.withLock { $0.removeValue(forKey: settings) ?? [] }
  }
}
