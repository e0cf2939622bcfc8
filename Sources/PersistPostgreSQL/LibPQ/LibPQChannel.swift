import CPostgreSQL
import Foundation
import Persist

/// A connection of libpq that waits for the network itself, so that it notices when the network is quiet.
final class LibPQChannel {
  let handle: OpaquePointer
  /// Not its settings themselves, which a dump of a store would show.
  let address: ServerAddress
  let patience: ServerPatience
  private(set) var isClosed = false
  /// Whether the connection was given up because the network is quiet.
  private var isSilent = false
  /// Called while statements are waited for, each ``observedInterval``; nil if nobody asks.
  var whileWaiting: (() -> Void)?
  /// The time between two such calls.
  private static let observedInterval = Duration.milliseconds(25)
  /// The server's process; nil before the first flight, and behind a pooler.
  var session: ServerProcess?

  /// - Throws: ``ServerFailure``.
  init(_ address: ServerAddress, _ patience: ServerPatience) throws {
    self.address = address
    self.patience = patience
    let settings = LibPQSettings.completing(address.settings, patience)
    handle = try LibPQHandshake(settings: settings, patience: patience).connect()
  }

  deinit { close() }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    PQfinish(handle)
  }

  var isOpen: Bool { !isClosed && !isSilent && PQstatus(handle) == CONNECTION_OK }

  // MARK: Waiting

  /// Sends what libpq holds back. Receives meanwhile, so that a server that waits for that doesn't block.
  func flush() throws {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        if try wait(for: [.readable, .writable]).contains(.readable), PQconsumeInput(handle) != 1 { throw lost() }
      default: throw lost()
      }
    }
  }

  /// The next result; nil at the end of those of a message.
  func nextResult() throws -> OpaquePointer? {
    while PQisBusy(handle) == 1 {
      _ = try wait(for: .readable)
      // The result then is the server's last word, or libpq's.
      guard PQconsumeInput(handle) == 1 else { break }
    }
    return PQgetResult(handle)
  }

  /// - Throws: ``ServerFailure`` if the network is quiet.
  private func wait(for events: SocketEvents) throws -> SocketEvents {
    var detector = SilenceDetector(limit: patience.silence)
    var waited = Duration.zero
    while true {
      let interval = whileWaiting == nil ? SilenceDetector.interval : Self.observedInterval
      let found = ThreadPool.whileWaiting {
        SocketEvents.wait(for: events, of: PQsocket(handle), atMost: interval)
      }
      guard found.isEmpty else { return found }
      whileWaiting?()
      waited += interval
      guard waited >= SilenceDetector.interval else { continue }
      waited = .zero
      guard detector.observe(PQsocket(handle)) else { continue }
      isSilent = true
      // So that closing doesn't wait either.
      PersistShutDownSocket(PQsocket(handle))
      throw lost()
    }
  }

  // MARK: Failures

  var message: String { Self.message(of: handle) }

  static func message(of handle: OpaquePointer) -> String {
    String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The error of a lost connection.
  func lost() -> ServerFailure {
    registerLoss()
    let message =
      isSilent
      ? "The server has acknowledged nothing for \(patience.silence)."
      : isClosed ? "The connection is closed." : message
    return ServerFailure(state: "08006", message: message, isDisconnected: true)
  }

  /// The server may not notice that the connection is lost.
  func registerLoss() {
    if let session, !isClosed { LostSessions.all.insert(session, address.settings) }
    session = nil
  }
}
