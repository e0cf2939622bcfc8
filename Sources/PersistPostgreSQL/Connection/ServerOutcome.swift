import Foundation
import Persist

/// Determines the outcome of a transaction whose connection was lost while it was committed.
struct ServerOutcome {
  let address: ServerAddress
  /// The maximum time to wait for the server, and for the end of the transaction.
  let wait: Duration

  /// The means by which the outcome of a transaction can be determined.
  enum Evidence {
    case proof(CommitProof)
    /// The server's own number, for transactions of a store without proofs, such as those that create one.
    case number(TransactionNumber)
  }

  /// Commits a transaction, and determines its outcome if the connection is lost meanwhile.
  ///
  /// - Parameter commit: Sends the last statements.
  /// - Returns: The result of `commit`; nil if it was lost, though the transaction was committed.
  /// - Throws: The failure of a transaction that wasn't committed; that of ``unknown(_:)`` if its outcome
  ///   couldn't be determined.
  @discardableResult
  func committing<T>(_ evidence: Evidence, _ commit: () throws -> T) throws -> T? {
    let start = ContinuousClock.now
    do { return try commit() } catch let failure as ServerFailure where failure.isDisconnected {
      // The time spent waiting for the silent network counts, too.
      guard try wasCommitted(evidence, until: max(start + wait, .now + wait / 2)) else { throw failure }
      return nil
    }
  }

  /// Whether a transaction was committed.
  ///
  /// - Throws: ``ServerFailure`` of ``unknown(_:)`` if that couldn't be determined in time.
  private func wasCommitted(_ evidence: Evidence, until deadline: ContinuousClock.Instant) throws -> Bool {
    var pause = 0.005
    var reason = ""
    repeat {
      do {
        if let answer = try ask(evidence, until: deadline) { return answer }
        reason = "The transaction is still in progress, or the server has restarted."
      } catch let failure as ServerFailure {
        // The server may be restarting.
        reason = failure.message
      }
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.2)
    } while ContinuousClock.now < deadline
    throw Self.unknown(reason)
  }

  /// Nil if the outcome isn't known yet.
  private func ask(_ evidence: Evidence, until deadline: ContinuousClock.Instant) throws -> Bool? {
    let connection = try ServerDrivers.current.connect(
      to: address, waitingAtMost: max(.zero, ContinuousClock.now.duration(to: deadline)))
    defer { connection.close() }
    let session = ServerSession(connection: connection, schema: address.schema, url: nil)
    switch evidence {
    case .proof(let proof):
      let milliseconds = ServerText.lockTimeout(ContinuousClock.now.duration(to: deadline))
      let results = try session.run([
        ServerTransaction.begin, "SET LOCAL lock_timeout = \(number: milliseconds)", proof.claim, "COMMIT",
        proof.isCommitted,
      ])
      guard let result = results.last, result.rowCount > 0 else { return nil }
      return result.integer(0, 0) != 0
    case .number(let number): return try number.outcome(session)
    }
  }

  /// The error of a commit with an unknown outcome: SQL's code for that.
  static func unknown(_ reason: String) -> ServerFailure {
    ServerFailure(state: "08007", message: reason, isDisconnected: true)
  }
}

extension ServerFailure {
  /// Whether the transaction may have been committed.
  var isUnknownOutcome: Bool { state == "08007" }
}

/// The server's number of a transaction.
struct TransactionNumber: Sendable {
  private let number: String
  /// The position up to which the server's log was on the disk when the transaction began.
  private let position: String

  /// Reads the number of the running transaction, and assigns one if it has none yet.
  static let reading: ServerText = "SELECT pg_current_xact_id()::text, pg_current_wal_flush_lsn()::text"

  /// - Parameter result: The result of ``reading``.
  init(_ result: (any ServerResult)?) {
    guard let result, result.rowCount > 0 else {
      (number, position) = ("0", "0/0")
      return
    }
    (number, position) = (result.text(0, 0), result.text(0, 1))
  }

  /// Whether the transaction was committed; nil if the outcome isn't known.
  ///
  /// A server that recovers from a crash makes a checkpoint, beyond everything that was on the disk. After a
  /// checkpoint, the number may therefore be that of another transaction, if this one was lost.
  func outcome(_ session: ServerSession) throws -> Bool? {
    let question: ServerText = """
      SELECT pg_xact_status(\(text: number)::xid8), \
      ((SELECT redo_lsn FROM pg_control_checkpoint()) < \(text: position)::pg_lsn)::int::bigint
      """
    do {
      let answer = try session.first(question) { (status: $0.text($1, 0), isCertain: $0.integer($1, 1) == 1) }
      return switch answer?.status {
      case "committed" where answer?.isCertain == true: true
      case "aborted": false
      default: nil
      }
    } catch let failure as ServerFailure where failure.state == "22023" {
      // The server hasn't assigned the number: it has lost the transaction.
      return false
    }
  }
}
