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

  /// A part of the facts: first the models, in whose terms the others are.
  ///
  /// Facts are only ever added or replaced by later ones, so that parts that are read one after another contain
  /// everything that the first one's moment had.
  ///
  /// - Parameter key: The last key of the part before; nil for the first part.
  /// - Returns: The facts, and the last key; nil after the last part.
  func facts(after key: Data?) throws -> (facts: [ChangeSet.Fact], last: Data)? {
    let (step, _, _) = try open()
    let marks = [FactKey.modelMark, FactKey.objectMark]
    for mark in marks.drop(while: { mark in key.map { $0.first != mark } ?? false }) {
      var range = AttachedRange(prefix: Data([mark]))
      if let key, key.first == mark { range.first = key + [0] }
      let entries = try step.history.attachedEntries([range], limit: 1000)[0]
      guard let last = entries.last else { continue }
      return (try step.tables.facts(in: entries), last.key)
    }
    return nil
  }
}
