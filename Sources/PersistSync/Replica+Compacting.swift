import Foundation
import Persist

extension Replica {
  /// Replaces old change sets of a hub by a snapshot of this replica.
  ///
  /// New replicas, and those that were away for long, begin with the snapshot, and continue with the change sets after
  /// it. A change set is deleted if the snapshot has its changes and all replicas have applied it, except those that
  /// haven't synchronized for a time, whose positions are deleted. These lose nothing either: their own changes are
  /// still in their stores.
  /// A part of a former snapshot is deleted if this replica has applied it, so that the new one has its content.
  /// Parts of large values are deleted if nothing on the hub names them, and nothing did at a former compaction of this
  /// replica before that time. The hub must show change sets to others within that time.
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
    let snapshot = try await writeSnapshot(to: hub)
    let work = work
    // A synchronization that has sent and received nothing records no position.
    try await hub.setPosition(inBackground { try work.position() })
    let oldest = work.sources.now().addingTimeInterval(-(time / Duration.seconds(1)))
    let positions = try await hub.positions()
    let active = positions.filter { $0.date >= oldest }
    let deleted = former.filter { entry in
      guard snapshot.covered[entry.replica]?.contains(entry.number) == true else { return false }
      if entry.isSnapshot { return true }
      return active.allSatisfy { position in
        position.replica == entry.replica || entry.number <= position.received[entry.replica] ?? 0
      }
    }
    try await hub.remove(deleted)
    try await hub.removePositions(of: positions.filter { $0.date < oldest }.map(\.replica))
    try await removeParts(of: hub, snapshot, unnamedBefore: oldest)
    return deleted.count
  }

  /// A snapshot that has been written.
  private struct Snapshot {
    /// The change sets and parts of former snapshots whose facts it has.
    let covered: [UUID: ReceivedSets]
    /// Its entries.
    var entries: Set<SyncEntry> = []
    /// The parts of large values that it names.
    var parts: Set<SyncEntry> = []
  }

  private func writeSnapshot(to hub: any SyncHub) async throws -> Snapshot {
    let work = work
    let covered = try await inBackground { try work.covered() }
    var snapshot = Snapshot(covered: covered)
    var entry = SyncEntry(replica: SyncEntry.snapshot(work.sources.newIdentity()), number: 0)
    var rest = try await inBackground { try work.beginSnapshot() }
    while true {
      let left = rest
      guard let part = try await inBackground({ try work.facts(in: left) }) else { break }
      entry.number += 1
      let set = ChangeSet(entry, part.facts)
      for digest in set.digests where snapshot.parts.insert(SyncEntry(part: digest)).inserted {
        try await send(digest, to: hub)
      }
      _ = try await hub.put(set.data, as: entry)
      snapshot.entries.insert(entry)
      rest = part.left
    }
    entry.number += 1
    let covers = covered.filter { $0.value.upTo > 0 && SyncEntry(replica: $0.key, number: 1).isOrdinary }.map {
      ChangeSet.Fact(cover: $0.key, upTo: $0.value.upTo)
    }
    _ = try await hub.put(ChangeSet(entry, covers).data, as: entry)
    let end = entry
    try await inBackground { try work.setReceived(end) }
    snapshot.entries.insert(end)
    return snapshot
  }

  // MARK: Parts of large values

  /// The number of parts that are deleted at a time.
  private static let partCount = 8

  /// Deletes the parts that nothing on the hub names, and nothing has for a time.
  ///
  /// A replica that sends a change set asks for its parts before and after, and sends those that are missing. The
  /// change sets that arrive while parts are deleted are read, and what they name is put back.
  private func removeParts(
    of hub: any SyncHub, _ snapshot: Snapshot, unnamedBefore date: Date
  ) async throws {
    let work = work
    let all = Set(try await hub.parts())
    var (unnamed, known) = (all.subtracting(snapshot.parts), snapshot.entries)
    guard !all.isEmpty, try await removeNamed(from: &unnamed, hub, &known) else { return }
    if !unnamed.isEmpty { unnamed.subtract(try await inBackground { try work.partsOfScopes() }) }
    let candidates = unnamed
    let old = try await inBackground { try work.marked(candidates, among: all, before: date) }
    for start in stride(from: 0, to: old.count, by: Self.partCount) {
      let group = old[start..<min(start + Self.partCount, old.count)]
      var contents: [SyncEntry: Data] = [:]
      for part in group { contents[part] = try await hub.content(of: part) }
      try await hub.remove(Array(group))
      var gone = Set(group)
      if try await !removeNamed(from: &gone, hub, &known) { gone = [] }
      for (part, content) in contents where !gone.contains(part) { _ = try await hub.put(content, as: part) }
    }
  }

  /// Removes the parts from a set that change sets name.
  ///
  /// - Parameter known: The entries that have been read before.
  /// - Returns: False if a change set can't be read.
  private func removeNamed(
    from parts: inout Set<SyncEntry>, _ hub: any SyncHub, _ known: inout Set<SyncEntry>
  ) async throws -> Bool {
    if parts.isEmpty { return true }
    for entry in try await hub.entries(after: [:]) where known.insert(entry).inserted {
      do {
        guard let content = try await hub.content(of: entry) else { return false }
        parts.subtract(try ChangeSet(content).digests.map(SyncEntry.init(part:)))
      } catch let error as PersistenceError where !error.isOfHub {
        return false
      }
    }
    return true
  }
}
