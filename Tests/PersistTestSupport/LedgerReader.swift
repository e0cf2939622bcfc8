public import Foundation
import Persist

/// Reads a ``SharedLedger`` while others write it, and expects its laws in every state that it sees.
public struct LedgerReader {
  struct Broken: Error, CustomStringConvertible {
    let problems: [String]
    var description: String { problems.prefix(10).joined(separator: "; ") }
  }

  private let coordinator: PersistentStoreCoordinator
  /// Merges what others save, and holds its objects for the reader's whole life.
  private let following: ManagedObjectContext
  private var held: [ManagedObject] = []

  public init(_ store: URL) throws {
    coordinator = try SharedLedger.open(store)
    following = ManagedObjectContext(coordinator)
    following.automaticallyMergesChangesFromParent = true
    try following.setQueryGeneration(from: .current)
  }

  /// Reads one state with a new context, and one with a context that follows others' changes.
  public mutating func read() throws {
    let fresh = ManagedObjectContext(coordinator)
    try fresh.setQueryGeneration(from: .current)
    try expect("a new context", try SharedLedger.problems(in: fresh) + SharedLedger.receiptProblems(in: fresh))

    try expect("the following context", try SharedLedger.problems(in: following))
    held = Array(following.registeredObjects)
    // The same state, read by a context that has nothing else.
    let state = following.queryGenerationToken
    let shown = try SharedLedger.contents(following)
    guard following.queryGenerationToken == state else { return }
    let beside = ManagedObjectContext(coordinator)
    try beside.setQueryGeneration(from: state)
    let wanted = try SharedLedger.contents(beside)
    let differing = Set(shown.keys).union(wanted.keys).filter { shown[$0] != wanted[$0] }.sorted()
    try expect(
      "the following context",
      differing.map { "\($0) shows \(shown[$0] ?? "nothing"), and is \(wanted[$0] ?? "not there")" })
  }

  private func expect(_ who: String, _ problems: [String]) throws {
    if !problems.isEmpty { throw Broken(problems: problems.map { "\(who): \($0)" }) }
  }
}
