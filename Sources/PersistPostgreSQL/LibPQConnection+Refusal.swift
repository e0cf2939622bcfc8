import CPostgreSQL
import Foundation

/// The reasons for which a connection fails.
extension LibPQConnection {
  /// The result of the attempts after the first one has failed.
  enum Retry {
    /// The reason of the failure has passed.
    case connected(OpaquePointer)
    case failed(state: String)
  }

  /// Tries to connect again after a failure.
  ///
  /// libpq reports the server's reason only in the server's language. Further attempts tell the reasons apart: no
  /// server, no free connection, or anything else that the user has to change.
  static func retry(_ settings: [(key: String, value: String)]) -> Retry {
    let answer = withStrings(settings.map(\.key)) { names in
      withStrings(settings.map(\.value)) { values in PQpingParams(names, values, 0) }
    }
    return answer == PQPING_OK ? connectReportingState(settings) : .failed(state: "08001")
  }

  private static func connectReportingState(_ settings: [(key: String, value: String)]) -> Retry {
    let refusal = Retry.failed(state: "28000")
    let started = withStrings(settings.map(\.key)) { names in
      withStrings(settings.map(\.value)) { values in PQconnectStartParams(names, values, 0) }
    }
    guard let handle = started else { return refusal }
    var isConnected = false
    defer { if !isConnected { PQfinish(handle) } }
    guard PQstatus(handle) != CONNECTION_BAD else { return refusal }
    // The message then ends with the state instead of a sentence.
    _ = PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
    let deadline = ContinuousClock.now + .seconds(5)
    var next = PGRES_POLLING_WRITING
    while ContinuousClock.now < deadline {
      switch next {
      case PGRES_POLLING_OK:
        _ = PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        isConnected = true
        return .connected(handle)
      case PGRES_POLLING_FAILED: return message(handle).hasSuffix(" 53300") ? .failed(state: "53300") : refusal
      default: break
      }
      let awaited = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
      var events = pollfd(fd: PQsocket(handle), events: Int16(awaited), revents: 0)
      if poll(&events, 1, 100) > 0 { next = PQconnectPoll(handle) }
    }
    return refusal
  }
}
