import Foundation
import Persist
import PersistTestSupport
import Testing

/// A server and a standby to which it commits synchronously.
struct ServerPair {
  let primary: RunningServer
  let standby: RunningServer
  /// The address of both.
  let text: String
  let url: URL

  /// Nobody waits as long as this; a busy machine may take its time.
  static var options: StoreOptions {
    var options = StoreOptions()
    options.busyTimeout = .seconds(60)
    return options
  }

  init() throws {
    primary = try RunningServer.startOwn("-c synchronous_commit=on")
    do { standby = try primary.startReplica() } catch {
      primary.stop()
      throw error
    }
    func port(_ server: RunningServer) throws -> String {
      try String(#require(server.url.firstMatch(of: /:(\d+)\//)).1)
    }
    let ports = try "\(port(primary)),\(port(standby))"
    text = "postgresql://persist@/postgres?host=127.0.0.1,127.0.0.1&port=\(ports)"
    url = try #require(URL(string: text))
    try Self.ask(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    try Self.ask(primary, "SELECT pg_reload_conf()")
    let question = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
    while try Self.ask(primary, question).isEmpty { usleep(10_000) }
  }

  @discardableResult
  static func ask(_ server: RunningServer, _ sql: String) throws -> [[String]] {
    try ForeignSQL.run([sql], at: #require(URL(string: server.url)))
  }

  /// Ends the primary server as a crash does, and promotes the standby.
  func failOver() throws {
    primary.stop()
    try Self.ask(standby, "SELECT pg_promote(true, 600)")
  }

  func stop() {
    primary.stop()
    standby.stop()
  }
}
