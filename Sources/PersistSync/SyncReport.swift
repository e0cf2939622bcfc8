public import Persist

/// An object that breaks a rule of the model since changes of several replicas were merged.
///
/// The object is stored as it is, so that nothing is lost, and has to be completed by the program or its user.
public struct SyncProblem: Sendable, Hashable {
  /// The object.
  public var objectID: ManagedObjectID
  /// The property that breaks a rule.
  public var property: String
  /// The problem in words.
  public var message: String
}

/// A change set that a replica couldn't read. It is tried again with each synchronization.
public struct RefusedChangeSet: Sendable {
  /// The place of the change set.
  public var entry: SyncEntry
  /// The reason.
  public var error: PersistenceError
}

/// The result of a synchronization.
public struct SyncReport: Sendable {
  /// The number of change sets that were sent.
  public var sent = 0
  /// The number of change sets that were applied.
  public var received = 0
  /// Change sets that couldn't be read.
  public var refused: [RefusedChangeSet] = []
  /// Versions of the model whose changes wait in the store, because it isn't clear what corresponds to what in the
  /// store's own version. Each error names both.
  public var waiting: [PersistenceError] = []
  /// Objects among the changed ones that break a rule of the model.
  public var problems: [SyncProblem] = []
  /// Objects of which the server has refused changes: see ``ScopedHub``.
  public var refusals: [SyncRefusal] = []
}

/// A step of a synchronization, for its display.
public enum SyncEvent: Sendable {
  /// A change set was sent.
  case sent(SyncEntry)
  /// Change sets were applied, and others are left.
  case received([SyncEntry], remaining: Int)
  /// The synchronization has ended.
  case finished(SyncReport)
}

/// The result of applying change sets.
struct AppliedSets: Sendable {
  var problems: [SyncProblem] = []
  var waiting: [PersistenceError] = []
  var refusals: [SyncRefusal] = []

  static func + (left: AppliedSets, right: AppliedSets) -> AppliedSets {
    AppliedSets(
      problems: left.problems + right.problems, waiting: left.waiting + right.waiting,
      refusals: left.refusals + right.refusals)
  }
}

extension SyncReport {
  mutating func add(_ applied: AppliedSets) {
    problems += applied.problems
    refusals += applied.refusals
    let known = Set(waiting.map(\.message))
    waiting += applied.waiting.filter { !known.contains($0.message) }
  }
}
