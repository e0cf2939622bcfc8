import Foundation
import Persist

/// Attempts at the steps of a synchronization while programs save.
///
/// A step begins again if somebody has saved between its reading and its writing. So that it ends whatever programs do,
/// they wait to save after a few attempts until the step is over. Therefore such a step is small.
extension ReplicaWork {
  enum Attempt {
    /// Others may save meanwhile, and the step fails then.
    case besideOthers
    /// Others wait to save until the step has written once, or is over.
    case alone
  }

  private static let maximumAttempts = (besideOthers: 3, alone: 10)

  /// Runs a step, again if others have saved meanwhile, and finally while they wait.
  func repeating<Result>(_ body: (Attempt) throws -> Result) throws -> Result {
    try besideOthers { try body(.besideOthers) } ?? alone { try body(.alone) }
  }

  /// Runs a step, again if others have saved meanwhile.
  ///
  /// - Returns: Nil if they have done so during every attempt.
  func besideOthers<Result>(
    attempts: Int = maximumAttempts.besideOthers, _ body: () throws -> Result
  ) throws -> Result? {
    for _ in 0..<attempts {
      do { return try body() } catch where Self.isOvertaken(error) {}
    }
    return nil
  }

  /// Runs a step while others wait to save.
  ///
  /// - Parameter body: Writes once at most.
  func alone<Result>(_ body: () throws -> Result) throws -> Result {
    var attempt = 1
    while true {
      do {
        return try storeWithHistory().store.excludingWriters(body)
      } catch where Self.isOvertaken(error) && attempt < Self.maximumAttempts.alone {
        // Nothing keeps another program from writing to a server without Persist.
        attempt += 1
      }
    }
  }

  private static func isOvertaken(_ error: any Error) -> Bool {
    error is RowConflicts || [.mergeConflict, .queryGenerationExpired].contains((error as? PersistenceError)?.code)
  }

  // MARK: Own changes

  /// A state of the store that is read while others save.
  struct State {
    let rows: any StoreGeneration
    /// The number of the last transaction of the history.
    let number: Int64
  }

  /// The present state of the store; nil if the store can't keep it for reading.
  func presentState() throws -> State? {
    try repeating { _ in
      let (store, history) = try storeWithHistory()
      let number = try history.lastNumber()
      guard let rows = try store.generation() else { return nil }
      guard try history.lastNumber() == number else { throw RowConflicts(conflicts: []) }
      return State(rows: rows, number: number)
    }
  }

  /// The store with facts of all changes.
  struct Captured {
    let step: SyncStep
    var record: ReplicaRecord
    /// The facts that are written together with what follows.
    var joining: FactJoining
    /// The entries that are written as well.
    var entries = AttachedList()
    /// The result of a write before.
    var applied = AppliedSets()
  }

  /// Makes facts of the changes since the last synchronization: in a transaction of their own beside others, and
  /// otherwise in that of the step.
  ///
  /// - Throws: ``RowConflicts`` before the first synchronization, which a step beside others begins.
  func captured(_ attempt: Attempt) throws -> Captured {
    if attempt == .besideOthers {
      let applied = try capture().applied
      let (step, record, _) = try open()
      return Captured(step: step, record: record, joining: FactJoining(step, upTo: limit), applied: applied)
    }
    let (step, record, _) = try open()
    guard record.isBorn else { throw RowConflicts(conflicts: []) }
    var pass = CapturePass(step, record, times: sources.times())
    // Other facts about the same objects may follow.
    pass.makesEntries = false
    _ = try pass.run()
    var new = pass.record
    let joining = try joining(pass, &new)
    return Captured(step: step, record: new, joining: joining, entries: pass.entries)
  }

  /// Writes what was captured, with the facts that have been added.
  func write(_ captured: Captured) throws -> (record: ReplicaRecord, applied: AppliedSets) {
    try write(captured.joining, captured.entries, in: captured.step, captured.record)
  }

  /// Adds change sets with the facts of a capture, and returns those on which rows depend.
  func joining(_ pass: CapturePass, _ record: inout ReplicaRecord) throws -> FactJoining {
    let step = pass.step
    try addSets(pass.facts, &record, step)
    try addSets(pass.values, &record, step)
    var joining = FactJoining(step, upTo: limit)
    try step.tables.loadReferrers(to: pass.facts.compactMap(\.key.createdOrDeleted))
    for (key, value) in pass.related { try joining.add(key, value) }
    for identity in pass.dangling { joining.add(identity) }
    return joining
  }
}
