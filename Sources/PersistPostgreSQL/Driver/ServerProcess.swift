import Persist

/// A process of a server, with which no later process with the same number is confused.
package struct ServerProcess: Hashable, Sendable {
  package let number: Int64
  /// The time when it began, in microseconds.
  private let start: Int64

  /// - Parameter result: The result of ``introduction``.
  package init(_ result: any ServerResult) {
    (number, start) = (result.integer(0, 0), result.integer(0, 1))
  }

  /// Reads the process and its begin, and makes the server's definitions independent of the user's settings.
  ///
  /// If this program ends without a word, the server should notice that within a minute, instead of keeping locks for
  /// hours: that is the system's default.
  ///
  /// Its parameters are the number of the process that the client knows, which isn't the server's behind a pooler, and
  /// the maximum wait for locks in milliseconds, or 0.
  ///
  /// - SeeAlso: <https://www.postgresql.org/docs/current/runtime-config-connection.html#RUNTIME-CONFIG-TCP-SETTINGS>
  package static let introduction = """
    SELECT pid::bigint, \(beginning), \
    CASE WHEN current_setting('tcp_keepalives_idle')::int > 30 \
    THEN set_config('tcp_keepalives_idle', '30', false) || set_config('tcp_keepalives_interval', '10', false) \
    || set_config('tcp_keepalives_count', '3', false) END, \
    CASE WHEN current_setting('tcp_user_timeout') = '0' AND version() LIKE '%linux%' \
    THEN set_config('tcp_user_timeout', '60000', false) END, set_config('quote_all_identifiers', 'off', false), \
    CASE WHEN pid = $1::bigint AND $2::bigint > 0 AND current_setting('lock_timeout') = '0' \
    THEN set_config('lock_timeout', $2::text, false) END \
    FROM pg_stat_get_activity(pg_backend_pid())
    """

  private static let beginning = "round(extract(epoch FROM backend_start)::numeric * 1000000)::bigint"

  /// Ends the process, if it still exists.
  package var ending: ServerStatement {
    ServerStatement(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity(\(number)) WHERE \(Self.beginning) = \(start)
      """)
  }
}
