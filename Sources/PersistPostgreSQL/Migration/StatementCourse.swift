import Foundation
import Persist

/// The parts of a statement that takes long on a server, one after the other.
struct StatementCourse {
  struct Part {
    /// The time that the part takes, compared with the others.
    let cost: Double
    /// The bytes by which the database grows meanwhile; 0 for a part that can't be seen.
    let bytes: Int64
  }

  /// The place of a statement among its parts, as fractions of its time.
  struct Position: Hashable {
    /// The work that is certainly done.
    let done: Double
    /// The end of the running part.
    let end: Double
  }

  let parts: [Part]
  private let total: Double

  init(_ parts: [Part]) {
    self.parts = parts
    total = max(parts.reduce(0) { $0 + $1.cost }, .leastNonzeroMagnitude)
  }

  /// - Parameters:
  ///   - part: The number of the running part.
  ///   - fraction: The fraction of it that is done; 0 if it can't be seen.
  func position(part: Int, fraction: Double) -> Position {
    let done = parts.prefix(part).reduce(0) { $0 + $1.cost }
    let cost = part < parts.count ? parts[part].cost : 0
    return position(done + cost * min(1, max(0, fraction)), done + cost)
  }

  private func position(_ done: Double, _ end: Double) -> Position { Position(done: done / total, end: end / total) }
}

/// The place of a statement, as far as the growth of the database shows it.
///
/// Files that are written anew don't have exactly the size of the former ones: a pause shows that one is complete.
struct ObservedGrowth {
  private let course: StatementCourse
  /// The number of the running part, and the growth when it began.
  private var part = 0
  private var start: Int64 = 0
  /// The greatest growth so far, and when it was first observed.
  private var growth: Int64 = 0
  private var time = 0.0

  init(_ course: StatementCourse) { self.course = course }

  /// - Parameters:
  ///   - growth: The bytes by which the database has grown since the beginning.
  ///   - time: The seconds since the beginning.
  mutating func position(growth observed: Int64, at time: Double) -> StatementCourse.Position {
    if observed > growth { (growth, self.time) = (observed, time) }
    while part < course.parts.count {
      let bytes = course.parts[part].bytes
      if bytes == 0 {
        // A part without bytes of its own ends when the next part begins to grow.
        let next = course.parts.dropFirst(part + 1).first { $0.bytes > 0 }?.bytes ?? .max
        guard growth > start + max(Self.noise, next / 5) else { return course.position(part: part, fraction: 0) }
      } else {
        let fraction = Double(max(0, growth - start)) / Double(bytes)
        let hasPaused = fraction > 0.25 && time > self.time + Self.pause
        guard fraction > 1.1 || hasPaused else { return course.position(part: part, fraction: fraction) }
        start = hasPaused ? growth : start + bytes
      }
      part += 1
    }
    return course.position(part: part, fraction: 0)
  }

  /// The growth of a database beside that by the statement.
  private static let noise: Int64 = 65_536
  /// The seconds without growth after which a file is complete.
  private static let pause = 0.1
}

extension StatementCourse {
  /// An index of a table as a server has it.
  struct Index {
    let bytes: Int64
    let isKey: Bool
    /// Whether it begins with a text.
    let isText: Bool

    private var cost: Double {
      let costs = WorkCost.onServer
      return Double(isKey ? costs.keyEntry : isText ? costs.textEntry : costs.indexEntry)
    }

    /// The parts of its creation: its rows are read, sorted and written.
    fileprivate var shares: (read: Double, sorted: Double, written: Double) {
      // Comparing texts by the rules of a language makes sorting the longest part.
      let shares = isText ? (0.25, 0.65, 0.1) : (0.42, 0.43, 0.15)
      return (shares.0 * cost, shares.1 * cost, shares.2 * cost)
    }
  }

  /// Rows that are written anew, and then their indexes.
  static func rewriting(bytes: Int64, _ indexes: [Index]) -> StatementCourse {
    let rows = Part(cost: Double(WorkCost.onServer.rewrittenRow), bytes: max(bytes, 1))
    return StatementCourse(
      [rows]
        + indexes.flatMap { index in
          let shares = index.shares
          return [
            Part(cost: shares.read + shares.sorted, bytes: 0), Part(cost: shares.written, bytes: max(index.bytes, 1)),
          ]
        })
  }

  /// New rows with their entries in indexes.
  static func growing(bytes: Int64) -> StatementCourse { StatementCourse([Part(cost: 1, bytes: max(bytes, 1))]) }

  /// The creation of an index.
  static func creating(isText: Bool) -> StatementCourse {
    let shares = Index(bytes: 0, isKey: false, isText: isText).shares
    return StatementCourse([shares.read, shares.sorted, shares.written].map { Part(cost: $0, bytes: 0) })
  }
}

/// The progress of a statement between observations: an estimate by the pace of the work that was observed. It never
/// decreases, and doesn't reach the end of a part before that is observed.
struct EstimatedProgress {
  private var seen = StatementCourse.Position(done: 0, end: 0)
  private var seenTime = 0.0
  private(set) var fraction = 0.0

  /// - Parameters:
  ///   - position: The observed position.
  ///   - time: The seconds since the beginning.
  /// - Returns: The completed fraction of the statement.
  mutating func advance(to position: StatementCourse.Position, at time: Double) -> Double {
    if position.done > seen.done { seenTime = time }
    if position.done >= seen.done { seen = position }
    let span = seen.end - seen.done
    guard span > 0, seenTime > 0 else {
      fraction = max(fraction, seen.done)
      return fraction
    }
    let part = (time - seenTime) * seen.done / seenTime / span
    // As long as nothing contradicts the pace, and then closer and closer to the end.
    let estimate = part < 0.8 ? part : 1 - 0.2 * exp(-(part - 0.8) / 0.2)
    fraction = max(fraction, seen.done + span * estimate)
    return fraction
  }
}
