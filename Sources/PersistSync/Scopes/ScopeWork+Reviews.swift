import Foundation
import Persist

/// Devices and their change sets.
extension ScopeWork {
  /// The user whose device a replica is; nil if nobody has used it.
  func owner(of replica: UUID) throws -> String? {
    let (step, _, _) = try server.open()
    let data = try ScopeTables(history: step.history, user: user).value(ScopeTables.key(owner: replica))
    return data.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Makes a replica a device of the user.
  ///
  /// - Throws: `PersistenceError.Code.invalidRequest` if it is another user's.
  func claim(_ replica: UUID) throws {
    try server.repeating { _ in
      let (step, record, _) = try server.open()
      let key = ScopeTables.key(owner: replica)
      if let owner = try ScopeTables(history: step.history, user: user).value(key) {
        if owner == Data(user.utf8) { return }
      } else if replica != record.id, SyncEntry(replica: replica, number: 1).isOrdinary {
        var entries = AttachedEntries()
        entries.values = [key: Data(user.utf8)]
        entries.unchanged = [key: Data?.none]
        return try step.history.write(entries)
      }
      throw PersistenceError(
        .invalidRequest, "The replica \(replica) isn't a device of this user.",
        fix: "Make a copy of the store: it is another replica.")
    }
  }

  /// The digest of a change set that was reviewed, and what remained of it unless that is everything; nil for others.
  func reviewed(_ entry: SyncEntry) throws -> Data? {
    let (step, _, _) = try server.open()
    return try ScopeTables(history: step.history, user: user).value(ScopeTables.key(reviewed: entry))
  }

  /// Records the outcome of a review, the objects that the device has, and those that it gets again. Of several reviews
  /// of a change set, the first one counts.
  ///
  /// - Parameter reviewed: The digest of the set, and what remained of it unless that is everything.
  func record(_ outcome: ChangeReview.Outcome, as entry: SyncEntry, _ reviewed: Data) throws {
    let (step, _, _) = try server.open()
    let tables = ScopeTables(history: step.history, user: user)
    var entries = AttachedEntries()
    // Objects that have left the user's devices come back to all of them, also to those that still have them.
    let known = try tables.held(outcome.objects).union(tables.found(outcome.objects, in: .left))
    for identity in outcome.objects.subtracting(known) { entries.values[tables.key(.held, identity)] = Data() }
    for (identity, reason) in outcome.refused {
      entries.values[tables.key(.refused, identity)] = Data(reason.utf8.prefix(Passage.maximumReasonSize))
    }
    let key = ScopeTables.key(reviewed: entry)
    entries.values[key] = reviewed
    entries.unchanged = [key: Data?.none]
    do { try step.history.write(entries) } catch let error as PersistenceError where error.code == .mergeConflict {}
  }
}
