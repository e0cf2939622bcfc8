import Persist
import Synchronization

/// The position in the server's log that a program has seen of a store: that of its own saves, and of what it read from
/// the primary server in place of a replica. Until a replica has reached it, the replica shows an older state.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-BACKUP>
final class SeenPosition: Sendable {
  private let furthest = Atomic<Int64>(0)

  /// Reads the position of a primary server.
  static let written: ServerText = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
  /// Reads the position that a replica has reached; null on a server that isn't one.
  static let reached: ServerText = "SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint"

  /// Records a position that was seen.
  ///
  /// - Parameter result: The result of ``written``.
  func record(_ result: (any ServerResult)?) {
    guard let result, result.rowCount > 0 else { return }
    furthest.max(result.integer(0, 0), ordering: .acquiringAndReleasing)
  }

  /// - Parameter result: The result of ``reached``.
  /// - Throws: ``ReplicaBehind``, or ``NoReplica`` if the server isn't a replica.
  func requireReached(_ result: (any ServerResult)?) throws {
    guard let result, result.rowCount > 0, !result.isNull(0, 0) else { throw NoReplica() }
    guard result.integer(0, 0) >= furthest.load(ordering: .acquiring) else { throw ReplicaBehind() }
  }

  /// A replica hasn't reached the position that the program has seen.
  struct ReplicaBehind: Error {}
  /// A server in the list of replicas isn't one.
  struct NoReplica: Error {}
}

/// The use of a flight for the position that a program has seen.
enum PositionCheck {
  /// The flight reads from a replica, which must have reached the position.
  case reaching(SeenPosition)
  /// The flight reads from the primary server, and the program has seen its position afterward.
  case recording(SeenPosition)
}
