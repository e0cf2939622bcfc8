import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// One of the two models of an online migration.
enum OnlineSide { case old, new }

/// The writes of a law's programs that have been acknowledged, in the terms of both models.
protocol AcknowledgedWrites {
  /// Whether the store serves both models.
  var isExpanded: Bool { get set }

  /// Inserts, changes or deletes an object, and saves.
  mutating func write(_ program: OnlineProgram, _ side: OnlineSide, _ numbers: inout SeededRandom) throws

  /// Compares everything that was acknowledged with what a program sees.
  func compare(_ program: OnlineProgram, _ side: OnlineSide, _ place: String) throws
}

/// The course of a law: two programs with the old model and one with the new write through expansion and backfill, and
/// all see what was acknowledged.
struct OnlineCourse<Writes: AcknowledgedWrites> {
  let name: String
  let url: URL
  let migration: OnlineMigration
  let second: OnlineProgram
  var writes: Writes
  var numbers: SeededRandom

  /// - Parameters:
  ///   - counts: The numbers of writes before the expansion, and of those with both models.
  ///   - end: Called when the programs with the old model have ended; contracts or abandons the migration.
  static func run(
    seed: UInt64, from old: ModelVersion, to new: ModelVersion, _ writes: Writes, _ numbers: SeededRandom,
    counts: (before: ClosedRange<Int>, serving: ClosedRange<Int>), _ end: (inout OnlineCourse) throws -> Void
  ) throws {
    var (writes, numbers) = (writes, numbers)
    try OnlineShop.withStore { url in
      var options = StoreOptions()
      if seed % 2 == 0 { (options.tracksHistory, options.historyKeeps) = (true, .oldValues) }
      let first = [try OnlineProgram(old, url, options: options), try OnlineProgram(old, url)]
      for number in 0..<Int.random(in: counts.before, using: &numbers) {
        try writes.write(first[number % 2], .old, &numbers)
      }
      let migration = OnlineMigration(storeAt: url)
      let plan = try migration.plan(to: new)
      guard plan.isPossible else {
        Issue.record("seed \(seed): \(plan)")
        return
      }
      try migration.expand(to: new)
      writes.isExpanded = true
      for number in 0..<4 { try writes.write(first[number % 2], .old, &numbers) }
      try migration.backfill(interruptedBy: &numbers) { try writes.write(first[0], .old, &$0) }
      var course = OnlineCourse(
        name: "seed \(seed)", url: url, migration: migration, second: try OnlineProgram(new, url), writes: writes,
        numbers: numbers)
      try course.write(with: first, Int.random(in: counts.serving, using: &course.numbers))
      for program in first { try course.writes.compare(program, .old, "\(course.name), old program") }
      try course.writes.compare(course.second, .new, "\(course.name), new program")
      for program in first { try program.close() }
      try end(&course)
    }
  }

  private mutating func write(with first: [OnlineProgram], _ count: Int) throws {
    for _ in 0..<count {
      let writer = Int.random(in: 0...3, using: &numbers)
      if writer < 2 {
        try writes.write(first[writer], .old, &numbers)
      } else {
        try writes.write(second, .new, &numbers)
      }
    }
  }

  /// Abandons the migration, after which the old program sees what was acknowledged.
  mutating func abort(to old: ModelVersion) throws {
    try second.close()
    try migration.abort()
    writes.isExpanded = false
    let last = try OnlineProgram(old, url)
    try writes.compare(last, .old, "\(name), abandoned")
    try last.close()
  }

  /// Contracts the store, which changes nothing for the new program, and writes once more.
  ///
  /// - Parameter forget: Called before the last write.
  mutating func contract(force: Bool = false, _ forget: (inout Writes) -> Void = { _ in }) throws {
    let before = try second.dump()
    try migration.contract(force: force)
    try #expect(second.dump() == before, "\(name)")
    writes.isExpanded = false
    forget(&writes)
    try writes.write(second, .new, &numbers)
    try writes.compare(second, .new, "\(name), contracted")
    try second.close()
  }

  /// - Parameter isAllowed: Whether a problem is part of the course.
  func expectIntact(_ place: String = "", except isAllowed: (StoreProblem) -> Bool = { _ in false }) throws {
    var problems: [StoreProblem] = []
    try StoreLocation.postgreSQL(url.absoluteString).check { if !isAllowed($0) { problems.append($0) } }
    #expect(problems.isEmpty, "\(name)\(place): \(problems)")
  }
}
