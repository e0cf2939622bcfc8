import Foundation
import Persist
import PersistPostgreSQL

/// The pace of a backfill: how much it does at once, and how long it rests in between.
///
/// ```swift
/// var pace = BackfillPace()
/// pace.batchSize = 500
/// pace.replicaLag = 64 << 20
/// pace.pause = { _ in office.isOpen ? .seconds(2) : .milliseconds(20) }
/// ```
public struct BackfillPace: Sendable {
  /// The maximum number of rows in a transaction; 1,000 by default. Rows that programs write meanwhile wait for it.
  public var batchSize = 1000
  /// The maximum number of rows in a second; nil for no limit.
  public var rowsPerSecond: Double?
  /// The maximum number of bytes of the server's log that a replica may not have replayed; the next batch waits until
  /// none has more. Nil for no limit, and for a server without replicas. The user needs the role `pg_monitor`.
  public var replicaLag: Int64?
  /// The maximum number of other sessions that run a statement in the database; the next batch waits while there are
  /// more. Nil for no limit.
  public var activeSessions: Int?
  /// Called after each batch with the progress; the backfill waits for the returned time. Nil for no pauses.
  public var pause: (@Sendable (BackfillProgress) -> Duration)?

  /// Creates a pace with the default values.
  public init() {}
}

/// The progress of a backfill.
public struct BackfillProgress: Sendable, Hashable {
  /// The present subject: a table, an index or a foreign key.
  public var current: String
  /// The number of rows that were looked at in this call.
  public var rows = 0
  /// The approximate number of rows to look at.
  public var total: Int64 = 0
  /// The session of the server for whose transaction the present index or foreign key waits, in words; nil if it
  /// doesn't wait.
  ///
  /// An index is complete only once no transaction of the database can read a state from before it, even if it reads
  /// other stores: a forgotten one, or `pg_dump`, delays it for as long as it lasts. Nobody else has to wait meanwhile.
  public var obstacle: String?

  /// The done fraction, from 0 to 1.
  public var fraction: Double { total > 0 ? min(1, Double(rows) / Double(total)) : 1 }
}

/// The work of a backfill.
struct Backfill {
  private let connection: OnlineConnection
  private let expansion: OnlineExpansion
  private let returning: [ReturningValues]
  private let pace: BackfillPace
  private let report: ((BackfillProgress) -> Bool)?

  init(
    of expansion: OnlineExpansion, restoring returning: [ReturningValues], on connection: OnlineConnection,
    pace: BackfillPace, reporting report: ((BackfillProgress) -> Bool)?
  ) {
    (self.connection, self.expansion, self.returning) = (connection, expansion, returning)
    (self.pace, self.report) = (pace, report)
  }

  /// - Parameter finish: Called when everything is done.
  /// - Returns: Whether everything is done.
  func run(_ finish: () throws -> Void) throws -> Bool {
    var progress = BackfillProgress(current: "")
    let limit = max(1, pace.batchSize)
    for table in expansion.backfilledTables { progress.total += try connection.rowCount(of: table) }
    for column in expansion.derived { progress.total += try connection.rowCount(of: column.table) }
    for join in expansion.keyJoins { progress.total += try connection.rowCount(of: join.table) }
    for positions in expansion.secondPositions { progress.total += try connection.rowCount(of: positions.table) }
    for join in expansion.joins { progress.total += try connection.rowCount(of: join.first) }
    for values in returning { progress.total += try connection.rowCount(of: values.table) }
    for table in expansion.backfilledTables {
      progress.current = table
      guard try copy(&progress, { try connection.backfill(table, expansion, limit: limit) }) else { return false }
    }
    for join in expansion.joins {
      progress.current = join.second.name
      guard try copy(&progress, { try connection.backfill(join, limit: limit) }) else { return false }
    }
    for join in expansion.keyJoins {
      progress.current = join.join.name
      guard try copy(&progress, { try connection.backfill(join, limit: limit) }) else { return false }
    }
    for positions in expansion.secondPositions {
      progress.current = "\(positions.table).\(positions.place)"
      guard try copy(&progress, { try connection.backfill(positions, limit: limit) }) else { return false }
    }
    for values in returning {
      progress.current = "\(values.table).\(values.column.name)"
      var last = Int64.min
      let isDone = try copy(&progress) {
        let part = try connection.restore(values, after: last, limit: limit)
        last = part.last
        return part.count
      }
      guard isDone else { return false }
    }
    guard try computeDerivedAttributes(&progress, limit) else { return false }
    for key in expansion.keys {
      progress.current = "\(key.table).\(key.column)"
      guard try run(progress, { try connection.validate(key, asking: $0) }) else { return false }
    }
    for index in expansion.indexes {
      progress.current = index.index.name
      guard try run(progress, { try connection.make(index.present, asking: $0) }) else { return false }
    }
    try finish()
    return true
  }

  /// Runs a statement that may have to wait for others, and reports that meanwhile.
  ///
  /// - Returns: Whether to go on.
  private func run(
    _ progress: BackfillProgress, _ statement: (OnlineConnection.Question?) throws -> Bool
  ) throws -> Bool {
    let question = report.map { report -> OnlineConnection.Question in
      { obstacle in
        var present = progress
        present.obstacle = obstacle
        return report(present)
      }
    }
    return try statement(question) && report?(progress) != false
  }

  private func computeDerivedAttributes(_ progress: inout BackfillProgress, _ limit: Int) throws -> Bool {
    // A derived value may depend on others.
    for _ in 0...expansion.derived.count {
      var isChanged = false
      for column in expansion.derived {
        progress.current = "\(column.table).\(column.name)"
        var last = Int64.min
        let isDone = try copy(&progress) {
          let part = try connection.compute(column, after: last, limit: limit)
          last = part.last
          isChanged = isChanged || part.isChanged
          return part.count
        }
        guard isDone else { return false }
      }
      if !isChanged { break }
    }
    return true
  }

  /// - Parameter batch: Returns the number of rows that it looked at; 0 at the end.
  private func copy(_ progress: inout BackfillProgress, _ batch: () throws -> Int) throws -> Bool {
    while true {
      let begin = ContinuousClock.now
      let count = try batch()
      guard count > 0 else { return true }
      progress.rows += count
      guard report?(progress) != false else { return false }
      var wait = pace.pause?(progress) ?? .zero
      if let limit = pace.rowsPerSecond, limit > 0 {
        wait = max(wait, .seconds(Double(count) / limit) - (.now - begin))
      }
      if wait > .zero { Thread.sleep(forTimeInterval: wait / .seconds(1)) }
      guard try waitForServer(progress) else { return false }
    }
  }

  /// Waits until neither replicas nor other sessions are in need of the server.
  ///
  /// - Returns: Whether to go on.
  private func waitForServer(_ progress: BackfillProgress) throws -> Bool {
    while try isBusy() {
      guard report?(progress) != false else { return false }
      Thread.sleep(forTimeInterval: 0.2)
    }
    return true
  }

  private func isBusy() throws -> Bool {
    if let limit = pace.replicaLag, try connection.replicaLag() > limit { return true }
    if let limit = pace.activeSessions, try connection.activeSessionCount() > limit { return true }
    return false
  }
}
