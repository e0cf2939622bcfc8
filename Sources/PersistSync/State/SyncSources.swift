import Foundation
import Persist

/// The sources of times and new identities, and what is known of versions. Tests replace them, so that a run depends on
/// nothing but its seed, and its replicas compare each pair of versions once.
struct SyncSources: Sendable {
  /// The present time.
  var now: @Sendable () -> Date = { Date() }
  /// The time of a transaction, by the replica's clock.
  var time: (@Sendable (HistoryTransaction) -> Date)?
  /// A new identity of a replica or of a snapshot.
  var newIdentity: @Sendable () -> UUID = { UUID() }
  /// The name of a store in the identities of objects that were created in it.
  var storeName: @Sendable (String) -> String = { $0 }
  var known = KnownVersions()

  /// Returns the function from transactions to times of one capture.
  func times() -> (HistoryTransaction) -> Date {
    if let time { return time }
    let offset = now().timeIntervalSince(Date())
    // The history has the system's time.
    return abs(offset) < 1 ? { $0.timestamp } : { $0.timestamp.addingTimeInterval(offset) }
  }
}
