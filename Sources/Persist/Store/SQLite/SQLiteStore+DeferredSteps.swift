import Foundation
import Synchronization

extension SQLiteStore {
  // Read from the file: pending metadata don't reflect steps performed in the meantime.
  func deferredSteps() throws -> [DeferredStep] { try pool.readOnce { try StoreMetadata($0).deferredSteps } }

  func finishDeferredSteps(until deadline: ContinuousClock.Instant?, givingWay: Bool) throws -> [DeferredStep] {
    try finishDeferredSteps(until: deadline, givingWay: givingWay) { _ in } whenDone: {}
  }

  /// Performs deferred steps: converts rows in short transactions, and then drops each column and creates each index in
  /// a separate transaction, which gives way to other writers.
  ///
  /// If the process is killed in between, completed steps remain completed, and the others remain deferred.
  ///
  /// - Parameters:
  ///   - whenAsked: Called whenever a statement that gives way asks whether somebody waits, with the number of
  ///     questions that it has asked.
  ///   - whenDone: Called after the commit of each step in one piece, when others can write again.
  func finishDeferredSteps(
    until deadline: ContinuousClock.Instant?, givingWay: Bool, _ whenAsked: (Int) -> Void,
    whenDone: () -> Void = {}
  ) throws -> [DeferredStep] {
    var waiting = try deferredSteps()
    guard !waiting.isEmpty, let url else { return [] }
    guard !isReadOnly else { throw PersistenceError.readOnly(url, withDeferredSteps: waiting.count) }
    repeat {
      // Another process may have begun conversions with another migration meanwhile.
      waiting = try waiting.hasConversions
        ? convertRows(of: url, until: deadline) { $0.hasConversions }
        : finishStepsInOnePiece(of: url, until: deadline, givingWay: givingWay, whenAsked, whenDone)
    } while !waiting.isEmpty && deadline.map { ContinuousClock.now < $0 } != false
    return waiting
  }

  /// Converts rows, if there are any to convert, at least once.
  ///
  /// - Parameter continues: Returns whether to convert more, from the store's metadata.
  /// - Returns: The remaining steps.
  @discardableResult
  private dynamic func convertRows(
    of url: URL, until deadline: ContinuousClock.Instant?, while continues: (StoreMetadata) -> Bool
  ) throws -> [DeferredStep] {
    var pace = ConversionPace()
    var log = try ConversionLog(url, pool.options)
    defer { log.close() }
    while true {
      var start = ContinuousClock.now
      let metadata = try pool.write { connection in
        // Measured from here, without the wait for the turn to write.
        start = .now
        return try connection.convertNextRows(pace.count)
      }
      pace.adapt(to: .now - start)
      try log.addPart()
      guard continues(metadata), deadline.map({ ContinuousClock.now < $0 }) != false else {
        return metadata.deferredSteps
      }
      Thread.sleep(forTimeInterval: pace.pause / .seconds(1))
    }
  }

  /// Performs steps that SQLite can't divide, until conversions are to be made or none is left; attempts one at least.
  ///
  /// - Returns: The remaining steps.
  private func finishStepsInOnePiece(
    of url: URL, until deadline: ContinuousClock.Instant?, givingWay: Bool, _ whenAsked: (Int) -> Void,
    _ whenDone: () -> Void
  ) throws -> [DeferredStep] {
    // A dedicated connection, because its triggers are disabled.
    let connection = try SQLiteConnection(url, mode: .readWrite, options: pool.options)
    defer { connection.close() }
    try connection.prepareForSteps(pool.options)
    var attempts = StepAttempts()
    while true {
      var log: LargeLog?
      let waiting = try attemptStep(attempts.count, of: url, on: connection, givingWay: givingWay, whenAsked: whenAsked)
      {
        log = try? LargeLog($0)
      }
      if waiting != nil {
        whenDone()
        try connection.transferWholeLog()
        // If this fails, a later save shortens the log.
        try? log?.shorten(with: connection)
      }
      log = nil
      attempts.record(isDone: waiting != nil)
      guard deadline.map({ ContinuousClock.now < $0 }) != false else { return try waiting ?? deferredSteps() }
      if let waiting, waiting.isEmpty || waiting.hasConversions { return waiting }
      let pause = min(attempts.pause, deadline.map { $0 - .now } ?? attempts.pause)
      if pause > .zero { Thread.sleep(forTimeInterval: pause / .seconds(1)) }
    }
  }

  /// Attempts a step while no other thread writes through the pool.
  ///
  /// - Parameters:
  ///   - number: The number of the attempt: the steps take turns.
  ///   - whenDone: Called with the pool after the commit, while no other thread writes through it.
  /// - Returns: The remaining steps; nil if the step has given way.
  private func attemptStep(
    _ number: Int, of url: URL, on connection: SQLiteConnection, givingWay: Bool, whenAsked: (Int) -> Void,
    whenDone: (SQLiteConnectionPool) -> Void
  ) throws -> [DeferredStep]? {
    try pool.withTurn { pool in
      let waiting = try attemptStep(
        number, of: url, on: connection, givingWay: givingWay, in: pool, whenAsked: whenAsked)
      if waiting != nil { whenDone(pool) }
      return waiting
    }
  }

  private func attemptStep(
    _ number: Int, of url: URL, on connection: SQLiteConnection, givingWay: Bool, in pool: SQLiteConnectionPool,
    whenAsked: (Int) -> Void
  ) throws -> [DeferredStep]? {
    guard givingWay else {
      return try connection.transaction {
        try pool.watch?.check(connection)
        return try connection.finishStep(number, of: map, givingWay: false)
      }
    }
    var mark: GivingWayMark?
    defer { mark?.remove() }
    var questions = 0
    return try connection.endingEarly {
      questions += 1
      whenAsked(questions)
      return pool.turn.waitingCount > 0 || mark?.isRequested == true
    } _: {
      try connection.transaction {
        // Created only now, because this connection would delete the mark while it waits for the lock.
        mark = GivingWayMark(besideStoreAt: url)
        try pool.watch?.check(connection)
        let waiting = try connection.finishStep(number, of: map, givingWay: true)
        // If the process is killed from here on, the mark isn't left behind by a step that is done.
        mark?.remove()
        mark = nil
        return waiting
      }
    }
  }

  /// Whether the rows of a table are being converted. Nearly no store needs a statement for the answer.
  func isConverting(_ table: String, _ connection: SQLiteConnection) throws -> Bool {
    try mayConvertRows.load(ordering: .relaxed) && connection.isConverting(table)
  }

  /// Converts the remaining rows of a table in parts, before a transaction that can't use a view.
  func convertRows(of table: String) throws {
    // Converting in parts commits, which would end a reserved transaction.
    guard let url, mayConvertRows.load(ordering: .relaxed), !WriteReservation.isHeld(of: pool),
      try pool.readOnce({ try $0.isConverting(table) })
    else { return }
    try convertRows(of: url, until: nil) { $0.isConverting(table) }
  }

  /// Converts the remaining rows of a table at once, for a statement that SQLite refuses for views.
  func finishConversion(of table: String, _ connection: SQLiteConnection) throws {
    guard try isConverting(table, connection) else { return }
    while try connection.convertNextRows(.max).isConverting(table) {}
  }
}

/// The log after a step in one piece, which may be as large as the table.
///
/// Whichever commit finds a long log writes it into the file, and whichever begins a log anew shortens its file; both
/// take time in proportion to its size. As long as this object exists, the commits of the pool's writer do neither, so
/// that no save waits for it.
private final class LargeLog {
  /// The bytes by which the file is shortened at once, which takes a millisecond or two.
  private static let part: Int64 = 8 << 20
  /// Longer than the intervals at which waiting connections look for the lock.
  private static let pause = 0.008
  /// The maximum number of attempts during which readers or other programs use the log.
  private static let maximumFailures = 20

  private let pool: SQLiteConnectionPool
  private let writer: SQLiteConnection
  /// The former settings of the writer.
  private let pages: Int64
  private let size: Int64

  /// - Parameter pool: A pool whose turn the caller has.
  init(_ pool: SQLiteConnectionPool) throws {
    self.pool = pool
    writer = try pool.currentWriter()
    pool.canLendWriter = false
    pages = try writer.first(.transferredPages) { $0.integer(0) } ?? 0
    size = try writer.first(.logSizeLimit) { $0.integer(0) } ?? -1
    try writer.execute(.leaveLog)
    try writer.execute(.limitLog(toSize: -1))
  }

  deinit {
    _ = pool.turn.begin { nil }
    defer { pool.turn.end() }
    guard pool.writer === writer else { return }
    for setting in [SQLText.transferLog(ofPages: pages), .limitLog(toSize: size)] { _ = try? writer.execute(setting) }
  }

  /// Shortens the log's file in parts, unless readers of earlier states need it.
  ///
  /// - Parameter connection: The connection of the step.
  func shorten(with connection: SQLiteConnection) throws {
    guard size >= 0, let url = pool.url.map(SQLiteFileName.resolved) else { return }
    let file = SQLiteFileName.companion(of: url, "-wal")
    var failures = 0
    while failures < Self.maximumFailures, let present = FileState(file)?.size, present > size + Self.part {
      try connection.execute(.transferLog)
      try pool.withTurn { _ in
        // Transfers commits that others have made since.
        try connection.execute(.transferLog)
        try connection.beginLogAnew(ofSize: present - Self.part)
      }
      if FileState(file)?.size ?? 0 >= present { failures += 1 }
      Thread.sleep(forTimeInterval: Self.pause)
    }
  }
}

/// The attempts to perform steps that give way to other writers, and the pauses between them.
private struct StepAttempts {
  private static let shortest = Duration.milliseconds(8)
  private static let longest = Duration.seconds(2)

  private(set) var count = 0
  /// The time to leave the store to others before the next attempt. A store that is never idle is attempted rarely,
  /// since an attempt that gives way is work for nothing.
  private(set) var pause = shortest

  mutating func record(isDone: Bool) {
    // A step that is done is removed, so the next one has the same index.
    if !isDone { count += 1 }
    pause = isDone ? Self.shortest : min(pause * 2, Self.longest)
  }
}
