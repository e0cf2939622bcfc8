/// Counts the work of a copy in rows, and reports it.
struct CopyProgress {
  private let rows: [Int: Int64]
  private let total: Int64
  private let manager: MigrationManager
  private var completed: Int64 = 0
  /// The count at the end of the running part, however many rows it finds.
  private var end: Int64 = 0

  init(_ plan: CopyPlan, _ connection: any StoreInspector, _ manager: MigrationManager) throws {
    self.manager = manager
    var rows: [Int: Int64] = [:]
    var total: Int64 = 1
    for step in plan.steps {
      guard let source = step.source else { continue }
      let count = try connection.approximateRowCount(of: plan.old[source].table)
      rows[step.index] = count + 1
      let statements = step.relationships.values.reduce(0) { sum, way in
        if case .pairs(let copies) = way { sum + copies.count } else { sum }
      }
      total += (count + 1) * (1 + Int64(statements) + (step.relatesByObject ? 1 : 0))
    }
    self.rows = rows
    self.total = total
  }

  private func state(
    _ pass: MigrationProgress.Pass, _ step: CopyPlan.Step?, _ current: String
  ) -> MigrationProgress {
    MigrationProgress(
      completed: completed, total: total, current: current, pass: pass,
      entity: step?.destination?.name ?? step?.source?.name)
  }

  /// Begins a part of a pass; the previous part is complete.
  mutating func begin(_ pass: MigrationProgress.Pass, _ step: CopyPlan.Step) throws {
    manager.currentEntityMapping = step.mapping
    completed = end
    end = min(end + (rows[step.index] ?? 1), total)
    try manager.report(state(pass, step, step.mapping.name))
  }

  /// Runs a statement that processes the rows of a step.
  mutating func run(
    _ sql: SQLText, _ pass: MigrationProgress.Pass, _ step: CopyPlan.Step, on connection: any MigrationConnection
  ) throws {
    try begin(pass, step)
    let (manager, state) = (manager, state(pass, step, sql.text))
    var stop: (any Error)?
    do {
      try connection.reportingProgress(
        rows: end - completed,
        { rows in
          var state = state
          state.completed += rows
          do { try manager.report(state) } catch { stop = error }
          return stop == nil
        }) { _ = try connection.execute(sql) }
    } catch {
      throw stop ?? error
    }
    completed = end
  }

  /// Counts source objects that were processed individually.
  mutating func advance(_ count: Int, _ pass: MigrationProgress.Pass, _ step: CopyPlan.Step) throws {
    completed = min(completed + Int64(count), end)
    try manager.report(state(pass, step, step.mapping.name))
  }

  /// Reports that all rows are copied.
  mutating func validate() throws {
    manager.currentEntityMapping = nil
    completed = max(completed, total - 1)
    try manager.report(state(.validation, nil, ""))
  }

  func done() throws {
    try manager.report(MigrationProgress(completed: total, total: total, current: "", pass: .done))
  }
}
