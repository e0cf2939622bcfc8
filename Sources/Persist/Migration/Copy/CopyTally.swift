/// Adds up the work of a copy, in rows, and tells of it.
struct CopyTally {
  private let rows: [Int: Int64]
  private let total: Int64
  private let manager: MigrationManager
  private var completed: Int64 = 0

  init(_ plan: CopyPlan, _ connection: SQLiteConnection, _ manager: MigrationManager) throws {
    self.manager = manager
    var rows: [Int: Int64] = [:]
    var total: Int64 = 1
    for step in plan.steps {
      guard let source = step.source else { continue }
      // The greatest key is found at once, and is about the number of rows.
      let count = try connection.first(.greatestRow(of: plan.old[source].table)) { $0.integer(0) } ?? 0
      rows[step.index] = count + 1
      let statements = step.relationships.values.reduce(0) { sum, way in
        if case .pairs(let copies) = way { sum + copies.count } else { sum }
      }
      total += (count + 1) * (1 + Int64(statements) + (step.relatesByObject ? 1 : 0))
    }
    self.rows = rows
    self.total = total
  }

  func rows(of step: CopyPlan.Step) -> Int64 { rows[step.index] ?? 1 }

  /// Runs a statement that goes through so many rows.
  mutating func run(_ sql: SQLText, weight: Int64, on connection: SQLiteConnection) throws {
    let state = MigrationProgress(completed: completed, total: total, current: sql.text)
    let manager = manager
    try manager.report(state)
    var stop: (any Error)?
    do {
      try connection.whileGoingOn({
        do { try manager.report(state) } catch { stop = error }
        return stop == nil
      }) { _ = try connection.execute(sql) }
    } catch {
      throw stop ?? error
    }
    completed = min(completed + weight, total)
  }

  /// Counts source objects that were done one by one.
  mutating func advance(_ count: Int64, _ step: CopyPlan.Step) throws {
    completed = min(completed + count, total)
    try manager.report(MigrationProgress(completed: completed, total: total, current: step.mapping.name))
  }

  func end() throws { try manager.report(MigrationProgress(completed: total, total: total, current: "")) }
}
