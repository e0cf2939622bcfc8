/// Counts the work of a copy by its costs, and reports it.
struct CopyProgress: ~Copyable {
  private let costs: CopyCosts
  private let manager: MigrationManager
  private var completed: Int64
  /// The count at the end of the running part, however many rows it finds.
  private var end: Int64
  /// The part of the work that belongs to one row of the running part.
  private var costOfRow = 0.0
  /// The work of rows that isn't reported yet: a report for each object would take longer than many an object.
  private var unreported = 0.0

  init(_ plan: CopyPlan, on connection: any StoreInspector, reportingTo manager: MigrationManager) throws {
    self.manager = manager
    costs = try CopyCosts(plan, connection)
    completed = costs.preparation
    end = completed
  }

  private func state(
    _ pass: MigrationProgress.Pass, _ step: CopyPlan.Step?, current: String
  ) -> MigrationProgress {
    MigrationProgress(
      completed: min(completed, costs.total), total: costs.total, current: current, pass: pass,
      entity: step?.destination?.name ?? step?.source?.name)
  }

  /// Begins a part of a pass; the previous part is complete.
  mutating func begin(_ pass: MigrationProgress.Pass, _ step: CopyPlan.Step) throws {
    manager.currentEntityMapping = step.mapping
    let cost = pass == .objects ? costs.objects[step.index] : costs.relationships[step.index]
    begin(cost ?? 1, rows: costs.rows[step.index] ?? 1)
    try manager.report(state(pass, step, current: step.mapping.name))
  }

  private mutating func begin(_ cost: Int64, rows: Int64) {
    completed = end
    end += cost
    costOfRow = Double(cost) / Double(max(rows, 1))
    unreported = 0
  }

  /// Runs a statement that processes the rows of a step.
  mutating func run(
    _ sql: SQLText, in pass: MigrationProgress.Pass, of step: CopyPlan.Step, on file: any StoreCopy
  ) throws {
    try begin(pass, step)
    try run(state(pass, step, current: sql.text), rows: costs.rows[step.index] ?? 1) { ask in
      try file.source.reportingProgress(rows: costs.rows[step.index] ?? 1, indexes: 0, ask) { try file.execute(sql) }
    }
  }

  /// Copies pairs of a relationship.
  mutating func run(_ pairs: PairCopy, _ step: CopyPlan.Step, on file: any StoreCopy) throws {
    manager.currentEntityMapping = step.mapping
    let rows = costs.pairs[pairs.pairs.table] ?? 1
    begin(WorkCost.of(rows, each: WorkCost.changedRow), rows: rows)
    try manager.report(state(.relationships, step, current: step.mapping.name))
    let sql = SQLText.copy(pairs)
    try run(state(.relationships, step, current: sql.text), rows: rows) { ask in
      try file.source.reportingProgress(rows: rows, indexes: 0, ask) { try file.execute(sql) }
    }
  }

  /// Creates the indexes of the copy.
  mutating func makeIndexes(of file: any StoreCopy) throws {
    let (completed, end) = (end, costs.endOfIndexes(beginningAt: end))
    self.completed = completed
    self.end = end
    let costs = costs
    var done = completed
    var start = state(.relationships, nil, current: "")
    let manager = manager
    manager.currentEntityMapping = nil
    try file.makeIndexes { index, create in
      let rows = max(costs.entries[index.table] ?? 1, 1)
      start.current = index.name
      start.completed = min(done, costs.total)
      try manager.report(start)
      let state = start
      try Self.run(state, costOfRow: Double(WorkCost.indexEntry), end: end, reportingTo: manager) {
        try create(rows, $0)
      }
      done = min(end, done + WorkCost.of(rows, each: WorkCost.indexEntry))
    }
    self.completed = end
  }

  private func run(
    _ state: MigrationProgress, rows: Int64, _ body: (@escaping (Int64) -> Bool) throws -> Void
  ) throws {
    try Self.run(state, costOfRow: costOfRow, end: end, reportingTo: manager, body)
  }

  /// Runs a statement, and throws the error of a report in place of that of the interrupted statement.
  private static func run(
    _ state: MigrationProgress, costOfRow: Double, end: Int64, reportingTo manager: MigrationManager,
    _ body: (@escaping (Int64) -> Bool) throws -> Void
  ) throws {
    var stop: (any Error)?
    do {
      try body { rows in
        var state = state
        state.completed = min(min(end, state.total), state.completed + Int64(Double(rows) * costOfRow))
        do { try manager.report(state) } catch { stop = error }
        return stop == nil
      }
    } catch {
      throw stop ?? error
    }
  }

  /// Counts source objects that were processed individually.
  mutating func advance(by count: Int, in pass: MigrationProgress.Pass, of step: CopyPlan.Step) throws {
    unreported += Double(count) * costOfRow
    guard unreported * 1000 >= Double(costs.total) || count > 1 else { return }
    completed = min(completed + Int64(unreported), end)
    unreported = 0
    try manager.report(state(pass, step, current: step.mapping.name))
  }

  /// Reports that all rows are copied.
  mutating func validate() throws {
    manager.currentEntityMapping = nil
    completed = max(completed, costs.total - costs.validation)
    try manager.report(state(.validation, nil, current: ""))
  }

  func done() throws {
    try manager.report(
      MigrationProgress(completed: costs.total, total: costs.total, current: "", pass: .done))
  }
}
