import Foundation
import Persist

/// Snapshots: all facts of a replica, as change sets.
extension ReplicaWork {
  /// The change sets and parts of snapshots whose facts the store has.
  func covered() throws -> [UUID: ReceivedSets] {
    try repeating {
      let record = try capture().record
      let (step, _, _) = try open()
      var covered = try step.tables.allReceived()
      let unsent = try step.tables.unsent(limit: 1).first?.number
      covered[record.id, default: ReceivedSets()].insertAll(upTo: (unsent ?? record.lastNumber + 1) - 1)
      return covered
    }
  }

  /// Counts all parts of a snapshot as applied.
  ///
  /// - Parameter last: Its last part.
  func setReceived(_ last: SyncEntry) throws {
    try repeating {
      let (step, record, isNew) = try open()
      guard !isNew else { return }
      var received = ReceivedSets()
      received.insertAll(upTo: last.number)
      step.tables.setReceived(received, from: last.replica)
      step.tables.setRecord(record)
      try step.history.write(try step.tables.finish(after: nil))
    }
  }

  /// The keys of a snapshot's facts in the order of its parts: first the models, in whose terms the others are, then
  /// the objects, those first to which others refer.
  ///
  /// Facts are only ever added or replaced by later ones, so that parts that are read one after another contain
  /// everything that the first one's moment had.
  func snapshotRanges() throws -> [AttachedRange] {
    let (step, _, _) = try open()
    var ranks: [String: Int] = [:]
    for (rank, entity) in step.schema.ordered.enumerated() {
      let part = step.schema[entity]
      for name in [part.identifier?.entity, part.oldestRoot] {
        if let name, ranks[name] == nil { ranks[name] = rank }
      }
    }
    var groups: [(rank: Int, range: AttachedRange)] = []
    var rest = AttachedRange(prefix: Data([FactKey.objectMark]))
    while let key = try step.history.attachedEntries([rest], limit: 1)[0].first?.key {
      let group = Self.group(of: key)
      let range = AttachedRange(prefix: group?.prefix ?? key)
      groups.append((group.flatMap { ranks[$0.entity] } ?? ranks.count, range))
      rest.first = range.end
    }
    groups.sort { ($0.rank, $0.range.first.count) < ($1.rank, $1.range.first.count) }
    return [AttachedRange(prefix: Data([FactKey.modelMark]))] + groups.map(\.range)
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

  /// A part of the facts.
  ///
  /// - Parameter ranges: The keys that are left.
  /// - Returns: The facts, and the keys that are left then; nil after the last part.
  func facts(in ranges: [AttachedRange]) throws -> (facts: [ChangeSet.Fact], left: [AttachedRange])? {
    let (step, _, _) = try open()
    var left = ranges[...]
    var entries: [AttachedEntry] = []
    while entries.count < Self.partCount, var range = left.first {
      let limit = Self.partCount - entries.count
      let next = try step.history.attachedEntries([range], limit: limit)[0]
      entries += next
      if next.count == limit, let last = next.last {
        range.first = last.key + [0]
        left[left.startIndex] = range
      } else {
        left.removeFirst()
      }
    }
    return entries.isEmpty ? nil : (try step.tables.facts(in: entries), Array(left))
  }

  /// The maximum number of entries in a part of a snapshot.
  private static let partCount = 1000
}
