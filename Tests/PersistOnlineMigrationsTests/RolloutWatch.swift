import Foundation
import PersistTestSupport
import Synchronization
import Testing

/// Records what the sessions of servers wait for, by which the long waits of a rollout are explained.
final class RolloutWatch: Sendable {
  private struct Observation {
    let time: Double
    let text: String
  }

  private struct State {
    var isEnded = false
    var observations: [Observation] = []
    var stalls = MachineStalls()
  }

  private static let interval = 0.5

  private let servers: [(name: String, url: String)]
  private let state = Mutex(State())
  private let group = DispatchGroup()

  init(of pair: ServerPair) {
    servers = [("primary", pair.primary.url), ("standby", pair.standby.url)]
    for server in servers { Thread.detachNewThread(entering: group) { [self] in watch(server) } }
    Thread.detachNewThread(entering: group) { [self] in watchMachine() }
  }

  func end() {
    state.withLock { $0.isEnded = true }
    group.wait()
  }

  private var isEnded: Bool { state.withLock { $0.isEnded } }

  private func record(_ text: String) {
    let time = Date().timeIntervalSince1970
    state.withLock { $0.observations.append(Observation(time: time, text: text)) }
  }

  /// The observations between two moments, in words.
  func observations(from begin: Double, to end: Double) -> [String] {
    state.withLock { $0.observations }.filter { begin <= $0.time && $0.time <= end + 2 * Self.interval }.map {
      "+\(Int((($0.time - begin) * 1000).rounded())) ms: \($0.text)"
    }
  }

  /// The transactions that are older than a second, with what they wait for, and their strong locks.
  private static let question = """
    SELECT format('%s %s%s, in a transaction for %s s, %s for %s s%s%s: %s', a.pid, a.application_name, \
    nullif(a.backend_type, 'client backend'), round(extract(epoch FROM clock_timestamp() - a.xact_start), 1), a.state, \
    round(extract(epoch FROM clock_timestamp() - a.state_change), 1), \
    ', waits: ' || a.wait_event_type || ' ' || a.wait_event || ' of ' || pg_blocking_pids(a.pid)::text, \
    (SELECT ', has ' || string_agg(DISTINCT l.mode || ' on ' || coalesce(l.relation::regclass::text, l.locktype), ', ')\
     FROM pg_locks AS l WHERE l.pid = a.pid AND l.granted AND l.mode ~ 'Exclusive' AND l.mode <> 'RowExclusiveLock' \
    AND l.locktype IN ('relation', 'advisory')), left(regexp_replace(a.query, '\\s+', ' ', 'g'), 100)) \
    FROM pg_stat_activity AS a WHERE a.pid <> pg_backend_pid() AND a.xact_start < clock_timestamp() - interval '1 s' \
    AND a.backend_type IN ('client backend', 'autovacuum worker') ORDER BY a.xact_start
    """

  private func watch(_ server: (name: String, url: String)) {
    guard let url = URL(string: server.url) else { return }
    var session: ForeignSQL.Session?
    while !isEnded {
      do {
        let present = try session ?? ForeignSQL.Session(url)
        session = present
        for row in try present.run(Self.question) { record("\(server.name): \(row[0])") }
      } catch { session = nil }
      Thread.sleep(forTimeInterval: Self.interval)
    }
  }

  private func watchMachine() {
    while !isEnded {
      let begun = Date().timeIntervalSince1970
      Thread.sleep(forTimeInterval: MachineStalls.interval)
      let end = Date().timeIntervalSince1970
      state.withLock { $0.stalls.note(from: begun, to: end) }
    }
  }

  /// The times in which the machine stood still.
  var stalls: MachineStalls { state.withLock { $0.stalls } }
}

/// The times in which a thread that slept for a moment wasn't woken, since the machine ran nothing, or other programs
/// for seconds: virtual machines stand still for minutes at times, and then every program seems to have waited for so
/// long.
struct MachineStalls {
  static let interval = 0.05

  private var intervals: [(begin: Double, end: Double)] = []

  /// The longest one, in seconds.
  var longest: Double { intervals.map { $0.end - $0.begin }.max() ?? 0 }

  mutating func note(from begin: Double, to end: Double) {
    if end - begin > 1 { intervals.append((begin + Self.interval, end)) }
  }

  /// The seconds of a time in which the machine stood still.
  func seconds(from begin: Double, to end: Double) -> Double {
    intervals.reduce(0) { $0 + max(0, min(end, $1.end) - max(begin, $1.begin)) }
  }
}

@Suite("Times in which the machine stands still")
struct MachineStallTests {
  @Test("Only the part of a wait counts in which the machine ran")
  func parts() {
    var stalls = MachineStalls()
    stalls.note(from: 10, to: 10.06)
    stalls.note(from: 20, to: 166.05)
    #expect(abs(stalls.longest - 146) < 0.001)
    #expect(stalls.seconds(from: 5, to: 20) == 0 && stalls.seconds(from: 167, to: 200) == 0)
    #expect(abs(stalls.seconds(from: 19.9, to: 166.3) - 146) < 0.001)
    #expect(abs(stalls.seconds(from: 100, to: 110) - 10) < 0.001)
  }
}
