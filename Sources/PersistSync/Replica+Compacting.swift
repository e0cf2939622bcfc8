import Foundation
import Persist

extension Replica {
  /// Replaces old change sets of a hub by a snapshot of this replica.
  ///
  /// New replicas, and those that were away for long, begin with the snapshot, and continue with the change sets after
  /// it. A change set is deleted if the snapshot has its changes and all replicas have applied it, except those that
  /// haven't synchronized for a time. These lose nothing either: their own changes are still in their stores.
  /// A part of a former snapshot is deleted if this replica has applied it, so that the new one has its content.
  ///
  /// ```swift
  /// try await replica.compact(hub, forgetting: .seconds(90 * 86_400))
  /// ```
  ///
  /// - Parameters:
  ///   - hub: The hub, with which the replica is synchronized first.
  ///   - time: The time after which a replica that hasn't synchronized isn't waited for.
  /// - Returns: The number of deleted change sets.
  /// - Throws: The errors of ``synchronize(with:)``. If it is interrupted, the hub has parts of a snapshot without a
  ///   last one, which a later call deletes.
  /// - Complexity: O(*objects*).
  @discardableResult
  public func compact(_ hub: any SyncHub, forgetting time: Duration) async throws -> Int {
    try await synchronize(with: hub)
    let former = try await hub.entries(after: [:])
    let covered = try await writeSnapshot(to: hub)
    let oldest = work.sources.now().addingTimeInterval(-(time / Duration.seconds(1)))
    let active = try await hub.positions().filter { $0.date >= oldest }
    let deleted = former.filter { entry in
      guard covered[entry.replica]?.contains(entry.number) == true else { return false }
      if entry.isSnapshot { return true }
      return active.allSatisfy { position in
        position.replica == entry.replica || entry.number <= position.received[entry.replica] ?? 0
      }
    }
    try await hub.remove(deleted)
    return deleted.count
  }

  /// - Returns: The change sets and parts of former snapshots whose facts the snapshot has.
  private func writeSnapshot(to hub: any SyncHub) async throws -> [UUID: ReceivedSets] {
    let work = work
    let covered = try await inBackground { try work.covered() }
    var entry = SyncEntry(replica: SyncEntry.snapshot(work.sources.newIdentity()), number: 0)
    var ranges = try await inBackground { try work.snapshotRanges() }
    while true {
      let left = ranges
      guard let part = try await inBackground({ try work.facts(in: left) }) else { break }
      entry.number += 1
      _ = try await hub.put(ChangeSet(entry, part.facts).data, as: entry)
      ranges = part.left
    }
    entry.number += 1
    let covers = covered.filter { $0.value.upTo > 0 && SyncEntry(replica: $0.key, number: 1).isOrdinary }.map {
      ChangeSet.Fact(cover: $0.key, upTo: $0.value.upTo)
    }
    _ = try await hub.put(ChangeSet(entry, covers).data, as: entry)
    let end = entry
    try await inBackground { try work.setReceived(end) }
    return covered
  }
}
