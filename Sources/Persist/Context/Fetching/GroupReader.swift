import Foundation

/// Reads the groups of a walk: the next one on another thread while the program processes the current one.
///
/// Rows that were read ahead are used only if nothing has changed since, as far as the context and the row source know,
/// and within the few milliseconds for which the source vouches for them (``RowSource/isRecent(_:)``), so that the
/// program gets what a statement of its own would have read. Except in stores that nobody changes, a walk doesn't read
/// ahead while its program takes longer, and seldom if it saves between groups (``ReadAheadPace``).
struct GroupReader: ~Copyable {
  /// The longest time that the program may take for a group before which the next one is read ahead.
  private static let shortestWork = Duration.milliseconds(2)
  /// The maximum number of rows to read ahead: more are read too slowly to be recent.
  private static let maximumSize = 5000

  private let context: ManagedObjectContext
  private var ahead: (question: StoreQuery, generation: Int, read: ReadOnThread)?
  /// The time at which the program got the current group, and the time that it took for the one before; nil for none.
  private var handedOut: ContinuousClock.Instant?
  private var lastWork: Duration?
  /// Whether the program took so little time for a group that rows read meanwhile are still recent.
  private var isShortWork: Bool { lastWork.map { $0 < Self.shortestWork } ?? false }
  private var pace = ReadAheadPace()

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Returns the rows of a group.
  mutating func rows(_ question: StoreQuery) throws -> RowBatch {
    lastWork = handedOut?.duration(to: .now)
    if let rows = rowsAhead(question) { return rows }
    return try question.rows(monitor: nil)
  }

  /// Takes the rows that were read ahead, if they are those of a query and may be used.
  private mutating func rowsAhead(_ question: StoreQuery) -> RowBatch? {
    guard let ahead else { return nil }
    self.ahead = nil
    guard let (rows, moment) = ahead.read.result() else { return nil }
    let isCurrent =
      ahead.question.tables === question.tables && ahead.question.query == question.query
      && ahead.generation == context.graph.rowGeneration
      && (context.readsUnchangingStores || moment.map(question.tables.store.isRecent) == true)
    pace.record(wasUsed: isCurrent)
    return isCurrent ? rows : nil
  }

  /// Starts reading the group that follows the one about to be processed.
  ///
  /// - Parameter question: The query for the next group; nil if it isn't known yet.
  mutating func readAhead(_ question: StoreQuery?) {
    handedOut = .now
    guard context.readsUnchangingStores || isShortWork, pace.isDue(), let question,
      question.query.limit ?? .max <= Self.maximumSize, let source = question.tables.store as? any SharedRowSource,
      source.readsConcurrently
    else { return }
    ahead = (question, context.graph.rowGeneration, ReadOnThread(question.query, from: source, in: context))
  }
}

/// The groups of a walk that are read ahead: all as long as they are used, and fewer and fewer while they aren't.
///
/// A group is read in vain if something changed meanwhile, or if a busy machine took too long. That may be over soon,
/// so that a walk of thousands of groups tries again.
struct ReadAheadPace {
  /// The number of groups read in vain since the last one that was used.
  private var missCount = 0
  /// The number of groups before the next one that is read ahead.
  private var pause = 0
  /// The misses in a row after which pauses, which double, get no longer: they are 256 groups then.
  private static let lastDoubling = 8

  /// Records whether a group that was read ahead could be used.
  mutating func record(wasUsed: Bool) {
    missCount = wasUsed ? 0 : missCount + 1
    // The first read of a new connection is always in vain: it can't tell whether something has changed.
    pause = missCount < 2 ? 0 : 1 << min(missCount, Self.lastDoubling)
  }

  /// Whether to read the next group ahead; asked once for each group for which it is possible.
  mutating func isDue() -> Bool {
    if pause == 0 { return true }
    pause -= 1
    return false
  }
}

/// A read on one of a coordinator's threads, whose result the context's own thread waits for.
///
/// `@unchecked Sendable`: the state is only accessed while `condition` is locked.
private final class ReadOnThread: @unchecked Sendable {
  private enum State {
    case waiting
    case running
    /// Nil if the read failed, or isn't needed.
    case finished((rows: RowBatch, moment: ReadMoment?)?)
  }

  private let condition = NSCondition()
  private var state = State.waiting

  init(_ query: RowQuery, from source: any SharedRowSource, in context: ManagedObjectContext) {
    context.persistentStoreCoordinator.threads.reading.add { [weak self] in self?.run(query, from: source) }
  }

  private func run(_ query: RowQuery, from source: any SharedRowSource) {
    condition.lock()
    let isNeeded = if case .waiting = state { true } else { false }
    if isNeeded { state = .running }
    condition.unlock()
    guard isNeeded else { return }
    // An error will occur again, and be thrown, when the caller reads the rows itself.
    let result = try? source.rowsWithMoment(query)
    condition.lock()
    state = .finished(result)
    condition.signal()
    condition.unlock()
  }

  /// Waits for the result; nil if no thread has begun to read, or if the read failed.
  func result() -> (rows: RowBatch, moment: ReadMoment?)? {
    condition.lock()
    defer { condition.unlock() }
    while case .running = state { condition.wait() }
    defer { state = .finished(nil) }
    if case .finished(let result) = state { return result }
    return nil
  }
}
