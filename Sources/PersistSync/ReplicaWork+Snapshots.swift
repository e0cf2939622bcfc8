import Foundation
import Persist

/// Snapshots: all facts of a replica, as change sets.
extension ReplicaWork {
  /// The change sets whose facts the store has.
  func covered() throws -> [UUID: Int64] {
    try repeating {
      let record = try capture()
      let (step, _, _) = try open()
      var covered = try step.tables.allReceived().mapValues(\.upTo)
      let unsent = try step.tables.unsent(limit: 1).first?.number
      covered[record.id] = (unsent ?? record.lastNumber + 1) - 1
      return covered.filter { $0.value > 0 && !SyncEntry(replica: $0.key, number: 1).isSnapshot }
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
      let entries = try step.history.attachedEntries([range], limit: 2000)[0]
      guard let last = entries.last else { continue }
      return (try entries.map { ChangeSet.Fact(key: try FactKey($0.key), value: $0.value) }, last.key)
    }
    return nil
  }
}
