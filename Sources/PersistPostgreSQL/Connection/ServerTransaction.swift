import Persist

/// A transaction that writes.
///
/// It begins with the first statements and ends with the last ones. A save whose statements check everything themselves
/// takes one flight, most others two.
final class ServerTransaction {
  let session: ServerSession
  /// The means of asking for the outcome; nil before the first flight of a transaction without a proof.
  private var evidence: ServerOutcome.Evidence?
  /// Whether the server may have run a statement.
  private(set) var hasBegun = false
  private let texts: ServerTexts
  /// Whether statements name tables without their schema.
  private let findsTables: Bool
  /// The program's model, for a store that serves two; nil for others.
  private let model: String?
  /// The maximum time to wait for a lock, in milliseconds.
  private let wait: Int64
  /// Whether the transaction is one of ``excludeOthers(within:)``.
  private let excludesOthers: Bool
  /// Each statement has to see what others have committed while it waited for a lock, whatever the server's default is.
  static let begin: ServerText = "BEGIN ISOLATION LEVEL READ COMMITTED"
  /// Statements to send together with the end of the transaction.
  private var last: [ServerText] = []
  /// A change to make before these.
  private var change: CheckedChange?
  /// Checks that the store is still the one opened, and the proof of the commit; nil for transactions of other stores.
  private let opened: (watch: ServerWatch, proof: CommitProof)?
  private var isCommitted = false
  /// Whether the old values of changed rows are kept in the history.
  private var keepsOldValues = false
  /// The place among the last statements of the one that returns the number of the transaction in the history.
  private var historyStatement: Int?
  /// The number of the committed transaction in the history; nil if it wasn't recorded, or if the connection was lost
  /// after the commit.
  private(set) var historyNumber: Int64?

  /// - Parameters:
  ///   - usesFullNames: Whether all statements name the schema of each table, so that the server needn't search for
  ///     tables: it plans prepared statements again when the schemas to search change.
  ///   - model: The program's model, for a store that serves two.
  ///   - wait: The maximum time to wait for a lock.
  ///   - excludesOthers: Whether ``excludeOthers(within:)`` follows.
  ///   - opened: Checks at the beginning that the store is still the one opened, which no migration can change before
  ///     the end, and the proof to write; nil for neither.
  init(
    _ session: ServerSession, _ texts: ServerTexts, usingFullNames usesFullNames: Bool, ofModel model: String? = nil,
    waitingAtMost wait: Duration, excludingOthers excludesOthers: Bool = false,
    opened: (watch: ServerWatch, proof: CommitProof)?
  ) {
    (self.session, self.texts, findsTables, self.model) = (session, texts, !usesFullNames, model)
    (self.excludesOthers, self.opened) = (excludesOthers, opened)
    self.wait = ServerText.lockTimeout(wait)
  }

  /// The values of settings until the end of the transaction, for a `SELECT`.
  private var settings: ServerText {
    let path: [ServerText] = findsTables ? [Self.findingTables(session)] : []
    let old: [ServerText] = keepsOldValues ? [OldValueTriggers.begin(in: session.schema)] : []
    let wait: ServerText = "set_config('lock_timeout', \(text: "\(self.wait)"), true)"
    let model: [ServerText] = self.model.map { [OnlineTriggers.announcement(of: $0)] } ?? []
    return (path + [wait] + old + model).joined(separator: ", ")
  }

  private static func findingTables(_ session: ServerSession) -> ServerText {
    "set_config('search_path', quote_ident(\(text: session.schema)) || ', pg_temp', true)"
  }

  /// Lets the statements that follow name tables without their schema.
  func findTables() throws { try run(["SELECT \(Self.findingTables(session))"]) }

  /// Keeps the old values of rows that are changed from now on, if the transaction becomes part of the history.
  func keepOldValues() throws {
    guard !keepsOldValues else { return }
    keepsOldValues = true
    if hasBegun { try run(["SELECT \(OldValueTriggers.begin(in: session.schema))"]) }
  }

  /// Begins, and keeps migrations from changing the store. The next statements see what others had committed before.
  private var opening: [ServerText] {
    // Two transactions that hold the shared lock couldn't both exclude others.
    if excludesOthers { return [Self.begin, "SELECT \(settings)"] }
    let schema = ServerParameter.text(session.schema)
    let path = findsTables ? [schema] : []
    let old = keepsOldValues ? [schema] : []
    let lock = ServerParameter.text(ServerText.lockName(session.schema))
    return [
      Self.begin,
      texts.statement(
        .opening(findsTables: findsTables, keepsOldValues: keepsOldValues, namesModel: model != nil),
        binding: path + [.text("\(wait)")] + old + [lock]
      ) {
        "SELECT \(settings), \(ServerText.sharedLock(session.schema))"
      },
    ]
  }

  /// Runs statements in one flight.
  @discardableResult
  func run(_ texts: [ServerText], areReused: Bool = false) throws -> [any ServerResult] {
    guard !hasBegun else { return texts.isEmpty ? [] : try session.run(texts, areReused: areReused) }
    guard let opened else {
      let opening = [Self.begin, "SELECT \(settings)", TransactionNumber.reading]
      let results = try session.run(opening + texts, areReused: areReused)
      hasBegun = true
      evidence = .number(TransactionNumber(results[opening.count - 1]))
      return Array(results.dropFirst(opening.count))
    }
    let mark = opening.count
    let all = opening + [ServerMark.stored] + opened.proof.statements()
    let results = try session.run(all + texts, areReused: areReused)
    hasBegun = true
    evidence = .proof(opened.proof)
    try opened.watch.check(results[mark])
    return Array(results.dropFirst(all.count))
  }

  /// Waits until nobody else writes, and keeps all programs from writing until the end of the transaction: each of them
  /// takes a lock before it writes.
  ///
  /// - Parameter wait: The maximum wait, in which the others that come go first.
  func excludeOthers(within wait: Duration) throws {
    try run([ServerSession.limitingIdleTime(ofProgramThatBeginsAgain: false)])
    try session.waitingBriefly(within: wait) { _ = try session.run([ServerText.lock(session.schema)]) }
    // A migration may have ended while this waited.
    if let opened { try opened.watch.check(session.run([ServerMark.stored])[0]) }
  }

  /// Copies rows into a table, after the statements that were run.
  ///
  /// - Parameter rows: The rows in the form that the statement names.
  func copy(_ text: ServerText, _ rows: [UInt8]) throws {
    if !hasBegun { try run([]) }
    try session.connection.copy(text.statement(in: session.schema).text, rows)
  }

  @discardableResult
  func execute(_ text: ServerText) throws -> Int { try run([text]).first?.changedRowCount ?? 0 }

  /// All rows of one statement.
  func all<T>(_ text: ServerText, _ read: (any ServerResult, _ row: Int) throws -> T) throws -> [T] {
    guard let result = try run([text]).first else { return [] }
    return try (0..<result.rowCount).map { try read(result, $0) }
  }

  /// Sends statements with the end of the transaction. If one fails, so does the transaction.
  func runLast(_ texts: [ServerText]) { last += texts }

  /// Makes a change before the statements that are sent with the end of the transaction. In a transaction of one
  /// flight, the statement that writes the proof makes it too: each statement takes the server some microseconds.
  func runLast(_ change: CheckedChange) { self.change = change }

  /// Uses the result of the last statement as the number of the transaction in the history.
  func expectHistoryNumber() { historyStatement = last.count - 1 }

  /// - Parameters:
  ///   - seen: Records the position of the commit in the server's log; nil if nobody compares it.
  ///   - outcome: Asks whether the transaction was committed if the connection is lost.
  func commit(recording seen: SeenPosition?, _ outcome: ServerOutcome) throws {
    guard !isCommitted, hasBegun || !last.isEmpty || change != nil else { return }
    defer { isCommitted = true }
    var ending = last + ["COMMIT"] + (seen == nil ? [] : [SeenPosition.written])
    let results: [any ServerResult]?
    var former = 0
    if !hasBegun, let opened {
      results = try commitInOneFlight(ending, opened: opened, outcome: outcome)
    } else {
      if let change {
        ending.insert(change.statement(texts), at: 0)
        former = 1
      }
      // A transaction without a proof is looked up by its number, which it gets only once it has begun.
      if !hasBegun { try run([]) }
      guard let evidence else { return }
      results = try outcome.committing(evidence) { try session.run(ending, areReused: true) }
    }
    guard let results else { return }
    seen?.record(results.last)
    historyNumber = historyStatement.map { results[former + $0].integer(0, 0) }
  }

  /// Rolls back, so that ``commit(recording:_:)`` does nothing.
  func abandon() {
    session.rollBack()
    last = []
    change = nil
    isCommitted = true
  }

  /// Sends the whole transaction at once. The server itself checks that the store is the one opened. If the connection
  /// is lost, the claim of the proof keeps statements that arrive later from being committed.
  private func commitInOneFlight(
    _ ending: [ServerText], opened: (watch: ServerWatch, proof: CommitProof), outcome: ServerOutcome
  ) throws -> [any ServerResult]? {
    let mark = opened.watch.mark
    let all = opening + opened.proof.statements(requiring: (mark, texts), making: change)
    do {
      return try outcome.committing(.proof(opened.proof)) {
        Array(try session.run(all + ending, areReused: true).dropFirst(all.count))
      }
    } catch let failure as ServerFailure where failure.isOfMark {
      throw ServerWatch.Changed(conclusion: (failure, mark))
    }
  }
}
