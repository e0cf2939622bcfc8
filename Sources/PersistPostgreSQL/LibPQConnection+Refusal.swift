import CPostgreSQL
import Foundation

/// The reasons for which a connection fails.
extension LibPQConnection {
  /// The state of a failed connection.
  ///
  /// libpq reports the server's reason only in the server's language. Further attempts tell the reasons apart: no
  /// server, no free connection, or anything else that the user has to change.
  static func stateAfterRefusal(_ settings: [(key: String, value: String)]) -> String {
    let answer = withStrings(settings.map(\.key)) { names in
      withStrings(settings.map(\.value)) { values in PQpingParams(names, values, 0) }
    }
    guard answer == PQPING_OK else { return "08001" }
    return hasNoFreeConnection(settings) ? "53300" : "28000"
  }

  /// Whether the server has, or had a moment ago, no connection left for the user or the database.
  private static func hasNoFreeConnection(_ settings: [(key: String, value: String)]) -> Bool {
    let started = withStrings(settings.map(\.key)) { names in
      withStrings(settings.map(\.value)) { values in PQconnectStartParams(names, values, 0) }
    }
    guard let handle = started else { return false }
    defer { PQfinish(handle) }
    guard PQstatus(handle) != CONNECTION_BAD else { return false }
    // The message then ends with the state instead of a sentence.
    _ = PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
    let deadline = ContinuousClock.now + .seconds(5)
    var next = PGRES_POLLING_WRITING
    while ContinuousClock.now < deadline {
      switch next {
      // A connection was released meanwhile.
      case PGRES_POLLING_OK: return true
      case PGRES_POLLING_FAILED: return message(handle).hasSuffix(" 53300")
      default: break
      }
      let awaited = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
      var events = pollfd(fd: PQsocket(handle), events: Int16(awaited), revents: 0)
      if poll(&events, 1, 100) > 0 { next = PQconnectPoll(handle) }
    }
    return false
  }
}
