import CPostgreSQL
import Foundation
import Logging
import Persist

/// Passes the notices of a server to the log instead of the program's standard error output.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/libpq-notice-processing.html>
enum ServerNotices {
  private static let logger = Logger(label: "persist.postgresql")

  /// Logs the notices of a connection from now on.
  static func log(of connection: OpaquePointer) {
    PQsetNoticeReceiver(connection, { _, result in if let result { ServerNotices.log(result) } }, nil)
  }

  private static func log(_ notice: OpaquePointer) {
    func field(_ code: Character) -> String? {
      code.asciiValue.flatMap { PQresultErrorField(notice, Int32($0)) }.map { String(cString: $0) }
    }
    // A notice of libpq itself has no fields.
    let text = field("M") ?? String(cString: PQresultErrorMessage(notice))
    let level: Logger.Level =
      switch field("V") {
      case "WARNING", nil: .warning
      // The server sends a notice for everything that already exists or no longer exists.
      case "NOTICE", "LOG": .debug
      case "INFO": .info
      default: .trace
      }
    let words = [text.trimmingCharacters(in: .whitespacesAndNewlines), field("D"), field("H")]
    logger.log(
      level: level, "\(words.compactMap { $0 }.joined(separator: " "))",
      metadata: field("C").map { ["state": "\($0)"] })
  }
}
