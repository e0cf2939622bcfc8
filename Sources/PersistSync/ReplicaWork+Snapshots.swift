import Foundation
import Persist

/// Snapshots: all facts of a replica, as change sets.
extension ReplicaWork {
  /// The change sets and parts of snapshots whose facts the store has.
  func covered() throws -> [UUID: ReceivedSets] {
    let record = try capture().record
    let (step, _, _) = try open()
    var covered = try step.tables.allReceived()
    let unsent = try step.tables.unsent(limit: 1).first?.number
    covered[record.id, default: ReceivedSets()].insertAll(upTo: (unsent ?? record.lastNumber + 1) - 1)
    return covered
  }

  /// Counts all parts of a snapshot as applied.
  ///
  /// - Parameter last: Its last part.
  func setReceived(_ last: SyncEntry) throws {
    try repeating { _ in
      let (step, record, isNew) = try open()
      guard !isNew else { return }
      var received = ReceivedSets()
      received.insertAll(upTo: last.number)
      step.tables.setReceived(received, from: last.replica)
      step.tables.setRecord(record)
      try write(step)
    }
  }

  /// The keys of a snapshot's facts in the order of its parts: first the models, in whose terms the others are, then
  /// the objects with rows in the order of these, tables first to which others refer, and then all other facts.
  ///
  /// Facts are only ever added or replaced by later ones, so that parts that are read one after another contain
  /// everything that the first one's moment had. Those that somebody else may have moved meanwhile are read again.
  func beginSnapshot() throws -> SnapshotRest {
    let (step, record, _) = try open()
    var (ranks, roots): ([String: Int], [String]) = ([:], [])
    for (rank, entity) in step.schema.ordered.enumerated() {
      let part = step.schema[entity]
      for name in [part.identifier?.entity, part.oldestRoot] {
        if let name, ranks[name] == nil { ranks[name] = rank }
      }
      if !roots.contains(entity.root.name) { roots.append(entity.root.name) }
    }
    let rows = roots.map(SyncTables.keys(ofRowsIn:))
    var groups: [(rank: Int, range: AttachedRange)] = []
    var rest = AttachedRange(prefix: Data([FactKey.objectMark]))
    while let key = try step.history.attachedEntries([rest], limit: 1)[0].first?.key {
      let group = Self.group(of: key)
      let range = AttachedRange(prefix: group?.prefix ?? key)
      groups.append((group.flatMap { ranks[$0.entity] } ?? ranks.count, range))
      rest.first = range.end
    }
    groups.sort { ($0.rank, $0.range.first.count) < ($1.rank, $1.range.first.count) }
    let models = AttachedRange(prefix: Data([FactKey.modelMark]))
    let ranges = [models] + rows.map { AttachedRange(prefix: $0) } + groups.map(\.range)
    return SnapshotRest(ranges: ranges, rows: rows, revision: record.revision)
  }

  /// The beginning that the keys of objects of one entity have in common, as far as their lengths are the same.
  private static func group(of key: Data) -> (prefix: Data, entity: String)? {
    func read() throws -> (prefix: Data, entity: String) {
      let bytes = [UInt8](key)
      var reader = ByteReader(bytes)
      _ = try reader.byte()
      _ = try reader.number()
      let entity = try Identity.entity(&reader)
      return (Data(bytes[..<reader.position]), entity)
    }
    return try? read()
  }

  /// The part of a snapshot that hasn't been written yet.
  struct SnapshotRest: Sendable {
    /// The keys that are left.
    var ranges: [AttachedRange]
    /// The beginnings of the keys of rows that come before the objects.
    let rows: [Data]
    /// The state of the tables at the beginning: see ``ReplicaRecord/revision``.
    let revision: UInt64

    /// The key of the last object whose facts came with its row.
    private var last: Data?

    init(ranges: [AttachedRange], rows: [Data], revision: UInt64) {
      (self.ranges, self.rows, self.revision) = (ranges, rows, revision)
    }

    /// Removes the entries of objects whose facts came with their rows.
    mutating func removeKnown(from entries: inout [AttachedEntry]) {
      entries.removeAll { entry in
        if FactKey.isPrefix(entry.key) {
          let row = PackedFacts.rowKey(in: entry.value)
          last = row.flatMap { row in rows.contains { row.starts(with: $0) } ? entry.key : nil }
        }
        return last.map { entry.key.starts(with: $0) } ?? false
      }
    }
  }

  /// A part of the facts.
  ///
  /// - Parameter rest: What is left.
  /// - Returns: The facts, and what is left then; nil after the last part.
  func facts(in rest: SnapshotRest) throws -> (facts: [ChangeSet.Fact], left: SnapshotRest)? {
    let step = try open().step
    var (left, facts, count) = (rest, [ChangeSet.Fact](), 0)
    while count < Self.partCount || facts.isEmpty, var range = left.ranges.first {
      let limit = count < Self.partCount ? Self.partCount - count : Self.partCount
      var entries = try step.history.attachedEntries([range], limit: limit)[0]
      if entries.count == limit, let last = entries.last {
        range.first = last.key + [0]
        left.ranges[0] = range
      } else {
        left.ranges.removeFirst()
      }
      // Nothing has moved between the entries of rows and those of objects since the beginning.
      if try open().record.revision == rest.revision { left.removeKnown(from: &entries) }
      count += entries.count
      facts += try step.tables.facts(in: entries)
    }
    return facts.isEmpty ? nil : (facts, left)
  }

  /// The maximum number of entries in a part of a snapshot.
  private static let partCount = 1000
}
