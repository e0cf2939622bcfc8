import Foundation

/// Determines the outcome of a transaction whose connection was lost while it was committed.
struct ServerOutcome {
  let address: ServerAddress
  /// The maximum time to wait for the server, and for the end of the transaction.
  let wait: Duration

  /// Commits a transaction, and determines its outcome if the connection is lost meanwhile.
  ///
  /// - Parameters:
  ///   - transaction: Its number; see ``numberOfTransaction``.
  ///   - commit: Sends the last statements.
  /// - Returns: The result of `commit`; nil if it was lost, though the transaction was committed.
  /// - Throws: The failure of a transaction that wasn't committed; that of ``unknown(_:)`` if its outcome
  ///   couldn't be determined.
  @discardableResult
  func committing<T>(_ transaction: String, _ commit: () throws -> T) throws -> T? {
    do { return try commit() } catch let failure as ServerFailure where failure.isDisconnected {
      guard try wasCommitted(transaction) else { throw failure }
      return nil
    }
  }

  /// Whether a transaction was committed.
  ///
  /// - Throws: ``ServerFailure`` of ``unknown(_:)`` if that couldn't be determined in time.
  private func wasCommitted(_ transaction: String) throws -> Bool {
    let deadline = ContinuousClock.now + wait
    var pause = 0.005
    var reason = ""
    repeat {
      do {
        if let answer = try ask(transaction) { return answer }
        reason = "The transaction \(transaction) is still in progress."
      } catch let failure as ServerFailure {
        // The server may be restarting.
        reason = failure.message
      }
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.2)
    } while ContinuousClock.now < deadline
    throw Self.unknown(reason)
  }

  /// Nil while the transaction is in progress.
  private func ask(_ transaction: String) throws -> Bool? {
    let connection = try ServerDrivers.current.connect(to: address)
    defer { connection.close() }
    let session = ServerSession(connection: connection, schema: address.schema, url: nil)
    return switch try session.first("SELECT pg_xact_status(\(text: transaction)::xid8)", { $0.text($1, 0) }) {
    case "committed": true
    case "aborted": false
    default: nil
    }
  }

  /// The error of a commit with an unknown outcome: SQL's code for that.
  static func unknown(_ reason: String) -> ServerFailure {
    ServerFailure(state: "08007", message: reason, isDisconnected: true)
  }

  /// Reads the number of the running transaction, and assigns one if it has none yet.
  static let numberOfTransaction: ServerText = "SELECT pg_current_xact_id()::text"
}
