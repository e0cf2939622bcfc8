import Foundation
import Persist

extension Replica {
  /// Returns whether a hub has the change sets that the replica has sent.
  ///
  /// A replica sends each change set once. If another hub has got them, or if the hub was put back to an earlier state,
  /// other replicas don't get them from this hub. Let a replica that has everything send a snapshot:
  ///
  /// ```swift
  /// if try await !replica.isKnown(to: hub) {
  ///   try await replica.compact(hub, forgetting: .seconds(90 * 86_400))
  /// }
  /// ```
  ///
  /// - Returns: True if the hub has the last change set, or has deleted it after a compaction, or if there is none.
  /// - Throws: The errors of the store and of the hub.
  public func isKnown(to hub: any SyncHub) async throws -> Bool {
    let work = work
    let last = try await inBackground { try work.lastSent() }
    guard last.number > 0 else { return true }
    if try await hub.contains(last) { return true }
    return try await hub.positions().contains { $0.replica == last.replica && $0.sent >= last.number }
  }
}

extension ReplicaWork {
  /// The last change set that was sent; its number is zero if there is none.
  fileprivate func lastSent() throws -> SyncEntry {
    let (step, record, _) = try open()
    let unsent = try step.tables.unsent(limit: 1).first?.number
    return SyncEntry(replica: record.id, number: (unsent ?? record.lastNumber + 1) - 1)
  }
}
