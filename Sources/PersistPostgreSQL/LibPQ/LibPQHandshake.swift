import CPostgreSQL
import Foundation
import Persist
import Synchronization

/// Connects to a server within a time, whatever the network does.
///
/// Resolving a host's name can't be interrupted. Therefore a thread of its own connects; if it takes too long, it is
/// left to itself, and closes its connection when it has one.
struct LibPQHandshake: Sendable {
  /// The settings by libpq's names.
  let settings: [String: String]
  let patience: ServerPatience

  /// The connection of a thread, if somebody still waits for it.
  private final class Outcome: @unchecked Sendable {
    // @unchecked: the condition protects both, and the connection has one user at a time.
    private let condition = NSCondition()
    private var result: Result<OpaquePointer, ServerFailure>?
    private var isAbandoned = false

    func complete(_ result: Result<OpaquePointer, ServerFailure>) {
      condition.lock()
      defer { condition.unlock() }
      guard !isAbandoned else {
        if case .success(let handle) = result { PQfinish(handle) }
        return
      }
      self.result = result
      condition.signal()
    }

    func wait(until deadline: Date) -> Result<OpaquePointer, ServerFailure>? {
      condition.lock()
      defer { condition.unlock() }
      while result == nil {
        guard condition.wait(until: deadline) else { break }
      }
      isAbandoned = result == nil
      return result
    }
  }

  /// - Returns: A connection that doesn't block.
  /// - Throws: ``ServerFailure``.
  func connect() throws -> OpaquePointer {
    let outcome = Outcome()
    let seconds = hostLimit * Double(max(1, hosts.count))
    let thread = Thread { outcome.complete(Result { () throws(ServerFailure) in try connectToAny(within: seconds) }) }
    thread.name = "Persist: connecting"
    thread.start()
    guard let result = outcome.wait(until: Date(timeIntervalSinceNow: seconds + 0.5)) else {
      throw ServerFailure(
        state: ServerFailure.noServer, message: "No answer within \(Int(seconds.rounded(.up))) s.",
        isDisconnected: true)
    }
    return try result.get()
  }

  /// The time for one host, in seconds: `connect_timeout` if there is one.
  private var hostLimit: Double {
    if let own = settings["connect_timeout"].flatMap(Double.init), own > 0 { return own }
    return patience.connecting / .seconds(1)
  }

  // MARK: Hosts

  /// The hosts to try, in order; empty if the settings name none.
  private var hosts: [String] { list("host").isEmpty ? list("hostaddr") : list("host") }

  private func list(_ key: String) -> [String] {
    settings[key].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
  }

  /// Removes a host that doesn't answer; nil if no other one remains.
  private func without(host: String, port: String) -> LibPQHandshake? {
    let ports = list("port")
    let isThere = { (index: Int) in
      hosts[index] == host && (ports.count != hosts.count || ports[index] == port)
    }
    guard hosts.count > 1, let index = hosts.indices.first(where: isThere) else { return nil }
    var rest = settings
    for key in ["host", "hostaddr", "port"] {
      var values = list(key)
      guard values.count == hosts.count else { continue }
      values.remove(at: index)
      rest[key] = values.joined(separator: ",")
    }
    return LibPQHandshake(settings: rest, patience: patience)
  }

  // MARK: Attempts

  /// A failed attempt.
  private enum Attempt {
    case connected(OpaquePointer)
    /// The host and the port that didn't answer.
    case silent(host: String, port: String, ServerFailure)
    case failed(ServerFailure)
  }

  private func connectToAny(within seconds: Double) throws(ServerFailure) -> OpaquePointer {
    let deadline = ContinuousClock.now + .seconds(seconds)
    switch attempt() {
    case .connected(let handle): return handle
    case .silent(let host, let port, let failure):
      guard let rest = without(host: host, port: port), ContinuousClock.now < deadline else { throw failure }
      return try rest.connectToAny(within: (deadline - .now) / .seconds(1))
    case .failed(let failure):
      // libpq reports the server's reason only in the server's language. Another attempt tells the reasons apart: no
      // server, no free connection, or anything else that the user has to change.
      let answer = Self.withPairs(settings) { PQpingParams($0, $1, 0) }
      guard answer == PQPING_OK else {
        throw ServerFailure(state: ServerFailure.noServer, message: failure.message, isDisconnected: true)
      }
      switch attempt(reportingState: true) {
      // The first failure was temporary; this attempt succeeded.
      case .connected(let handle): return handle
      case .silent(_, _, let silence): throw silence
      case .failed(let second): throw ServerFailure(state: second.state, message: failure.message, isDisconnected: true)
      }
    }
  }

  /// - Parameter reportsState: Whether a failure has a state, and its message ends with that instead of a sentence.
  private func attempt(reportingState reportsState: Bool = false) -> Attempt {
    guard let handle = Self.withPairs(settings, { PQconnectStartParams($0, $1, 0) }) else {
      return .failed(ServerFailure(state: "", message: "libpq has no memory for a connection.", isDisconnected: true))
    }
    ServerNotices.log(of: handle)
    if reportsState { _ = PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE) }
    var isConnected = false
    defer { if !isConnected { PQfinish(handle) } }
    var next = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
    var watch = HostWatch(patience, limit: .seconds(hostLimit))
    while true {
      switch next {
      case PGRES_POLLING_OK:
        _ = PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        _ = PQsetnonblocking(handle, 1)
        PersistLimitRetransmission(PQsocket(handle), Int32(max(1, patience.silence / .seconds(1))))
        isConnected = true
        return .connected(handle)
      case PGRES_POLLING_FAILED:
        if let silent = watch.silentHost { return .silent(host: silent.host, port: silent.port, watch.failure) }
        let message = LibPQChannel.message(of: handle)
        return .failed(ServerFailure(state: state(ending: message), message: message))
      default: break
      }
      let awaited: SocketEvents = next == PGRES_POLLING_READING ? .readable : .writable
      let events = SocketEvents.wait(for: awaited, of: PQsocket(handle), atMost: SilenceDetector.interval)
      if !events.isEmpty || watch.endsIfSilent(handle, wasWaiting: true) { next = PQconnectPoll(handle) }
    }
  }

  /// The state at the end of a message: no free connection, no host of the wanted kind, or anything else.
  private func state(ending message: String) -> String {
    let state = message.firstMatch(of: /\ ([0-9A-Z]{5})$/)?.1
    switch state {
    case "53300"?: return "53300"
    // libpq itself rejects a host that only accepts reads; a host that is starting up reports 57P03.
    case nil where hosts.count > 1, "57P03"?: return ServerFailure.noServer
    default: return "28000"
    }
  }

  /// Ends the attempts to reach a host that doesn't answer. libpq continues with the host's next address, if any.
  private struct HostWatch {
    private let patience: ServerPatience
    private let limit: Duration
    private var detector: SilenceDetector
    private var place = ""
    private var start = ContinuousClock.now
    private(set) var silentHost: (host: String, port: String)?

    init(_ patience: ServerPatience, limit: Duration) {
      self.patience = patience
      self.limit = limit
      detector = SilenceDetector(limit: patience.silence)
    }

    var failure: ServerFailure {
      let name = silentHost.map { "\($0.host):\($0.port)" } ?? "The server"
      return ServerFailure(state: ServerFailure.noServer, message: "\(name) doesn't answer.", isDisconnected: true)
    }

    /// - Returns: Whether the present attempt was ended.
    mutating func endsIfSilent(_ handle: OpaquePointer, wasWaiting: Bool) -> Bool {
      func text(_ value: UnsafeMutablePointer<CChar>?) -> String { value.map { String(cString: $0) } ?? "" }
      let (host, port) = (text(PQhost(handle)), text(PQport(handle)))
      let present = "\(host) \(port) \(text(PQhostaddr(handle)))"
      if present != place {
        (place, start, detector) = (present, .now, SilenceDetector(limit: patience.silence))
      }
      guard detector.observe(PQsocket(handle)) || start.duration(to: .now) > limit else { return false }
      silentHost = (host, port)
      (start, detector) = (.now, SilenceDetector(limit: patience.silence))
      PersistShutDownSocket(PQsocket(handle))
      return true
    }
  }

  private static func withPairs<T>(
    _ settings: [String: String], _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> T
  ) -> T {
    let pairs = settings.sorted { $0.key < $1.key }
    return LibPQConnection.withStrings(pairs.map(\.key)) { names in
      LibPQConnection.withStrings(pairs.map(\.value)) { values in body(names, values) }
    }
  }
}
