/// Counts the work of a migration in place, and reports it.
///
/// A part that reports nothing while it runs counts half when it begins, so that the fraction is never wrong by more
/// than half of it.
struct InPlaceProgress {
  /// The work of one change.
  struct Part {
    /// The number of rows that the change reads.
    var rows: Int64 = 1
    var costOfRow: Int64 = WorkCost.changedRow
    /// The cost of removing a former row, once all rows are written.
    var costOfRemoval: Int64 = 0
    /// The costs of a row's entries in the indexes that the change creates anew afterward.
    var entriesOfRow: [Int64] = []

    /// The number of indexes that the change creates anew afterward.
    var indexes: Int { entriesOfRow.count }
    var cost: Int64 { costOfRows + WorkCost.of(rows, each: entriesOfRow.reduce(0, +)) }
    fileprivate var costOfRows: Int64 { WorkCost.of(rows, each: costOfRow + costOfRemoval) }

    /// The cost of the work done so far: of rows, and then of the entries of one index after the other.
    fileprivate func cost(ofDone done: Int64) -> Int64 {
      // The removal reports nothing, so half of it counts with the rows before.
      guard done > rows else { return WorkCost.of(done, each: costOfRow + costOfRemoval / 2) }
      var (cost, left) = (costOfRows, done - rows)
      for entry in entriesOfRow where left > 0 {
        cost += WorkCost.of(min(left, rows), each: entry)
        left -= rows
      }
      return min(cost, self.cost)
    }
  }

  private let parts: [Part]
  /// The work before the changes, and after them.
  private let preparation: Int64
  private let end: (completion: Int64, commit: Int64)
  private let total: Int64
  private let hop: MigrationProgress.Hop
  private let handler: AutomaticMigrator.ProgressHandler?
  private var position = 0
  private var completed: Int64

  /// - Parameters:
  ///   - preparation: The cost of the checks before the changes, which begin.
  ///   - parts: The changes.
  ///   - completion: The cost of the work between the changes and the commit.
  ///   - commit: The cost of the commit.
  init(
    preparation: Int64, _ parts: [Part], completion: Int64, commit: Int64, hop: MigrationProgress.Hop,
    report: AutomaticMigrator.ProgressHandler?
  ) {
    self.parts = parts
    self.hop = hop
    self.preparation = preparation
    end = (completion, commit)
    completed = preparation / 2
    total = max(1, parts.reduce(preparation + completion + commit) { $0 + $1.cost })
    handler = report
  }

  /// The next change.
  var part: Part { position < parts.count ? parts[position] : Part(rows: 0) }

  /// A closure that reports the progress of the next change, in rows and then in entries of its indexes, and returns
  /// whether to continue; nil without a handler.
  func question(_ current: String, entity: String?) -> ((Int64) -> Bool)? {
    guard let handler else { return nil }
    let (completed, part) = (completed, part)
    let state = MigrationProgress(completed: completed, total: total, current: current, hop: hop, entity: entity)
    return { done in
      var state = state
      state.completed = completed + part.cost(ofDone: done)
      return handler(state)
    }
  }

  /// The changes begin.
  mutating func begin() { completed = preparation }

  /// The change is done.
  mutating func advance() {
    completed += part.cost
    position += 1
  }

  /// The changes are done, and the work between them and the commit begins.
  mutating func beginCompletion() { completed += end.completion / 2 }

  /// Everything but the commit is done, which begins.
  mutating func beginCommit() { completed = total - end.commit + end.commit / 2 }
}
