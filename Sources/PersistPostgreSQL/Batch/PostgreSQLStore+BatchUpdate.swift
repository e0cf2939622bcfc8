import Foundation
import Persist

extension PostgreSQLStore {
  /// Updates rows with one statement, or by reading them if the server can't compute a value exactly.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if SQLite couldn't compute a value exactly either;
  ///   ``PersistenceError/Code/validationNumberTooLarge`` or ``PersistenceError/Code/validationNumberTooSmall`` if a
  ///   computed number is out of the range of its attribute;
  ///   ``PersistenceError/Code/validationMissingRequired`` if a computed null replaces a value of a required attribute;
  ///   ``PersistenceError/Code/constraintConflict``.
  func update(_ batch: BatchUpdate) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let outcome: BatchOutcome
    do {
      let assignments = try assignments(of: batch)
      outcome = try updateByStatement(batch, assignments) ?? updateByReading(batch)
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw described(error)
    }
    recordChange()
    return outcome
  }

  /// - Parameter assignments: Nil for a value that the server can't compute exactly.
  /// - Returns: Nil if the server can't compute all values.
  private func updateByStatement(_ batch: BatchUpdate, _ assignments: [ServerText?]) throws -> BatchOutcome? {
    let computed = assignments.compactMap { $0 }
    guard computed.count == assignments.count else { return nil }
    let plan = try plan(for: batch.rows)
    let required = batch.computedRequiredSlots.compactMap { map[batch.rows.entity].column(slot: $0) }
    let missing = required.map { ", r0.\(name: $0.name) IS NULL" as ServerText }.joined(separator: "")
    let clauses = try clauses(batch.rows, plan, locking: .update)
    let sql: ServerText = """
      UPDATE \(table: plan.selection.table) AS r0 SET \(.countingUp(of: "r0"))\(computed.joined(separator: "")) \
      WHERE r0.id IN (SELECT r0.id\(clauses)) RETURNING r0.id, r0.entity\(missing)
      """
    // An update returns only new values: the rows that have no value before it are read first, and locked.
    let empty: ServerText = """
      SELECT r0.id, r0.entity\(missing) FROM \(table: plan.selection.table) AS r0 \
      WHERE r0.id IN (SELECT r0.id\(clauses)) \
      AND (\(required.map { "r0.\(name: $0.name) IS NULL" as ServerText }.joined(separator: " OR "))) FOR NO KEY UPDATE
      """
    do {
      return try pool.write { transaction in
        let history = try historyWriter(by: batch.origin, transaction)
        let results = try transaction.run(required.isEmpty ? [sql] : [empty, sql])
        guard let result = results.last else { return BatchOutcome() }
        for (index, column) in required.enumerated() {
          let before = Self.keys(in: results[0], where: index + 2)
          guard let key = Self.keys(in: result, where: index + 2).subtracting(before).min() else { continue }
          throw PersistenceError.missingRequired(column.property, of: batch.rows.entity, row: key, store: url)
        }
        let rows = (0..<result.rowCount).map { (key: result.integer($0, 0), number: result.integer($0, 1)) }
        return try outcome(of: batch, rows: rows, history, in: transaction)
      }
    } catch let error as PersistenceError where error.isOutOfRange {
      return nil
    }
  }

  /// The keys of the rows for which a column of a result is true.
  private static func keys(in result: any ServerResult, where column: Int) -> Set<Int64> {
    Set((0..<result.rowCount).filter { result.integer($0, column) != 0 }.map { result.integer($0, 0) })
  }

  /// Reads the rows, computes the values here, and writes them, in one transaction.
  private func updateByReading(_ batch: BatchUpdate) throws -> BatchOutcome {
    let plan = try plan(for: batch.rows)
    let selection: ServerText = """
      SELECT r0.id, r0.entity\(try clauses(batch.rows, plan)) ORDER BY r0.id\(RowLock.update.text)
      """
    return try pool.write { transaction in
      let history = try historyWriter(by: batch.origin, transaction)
      let rows = try transaction.all(selection) { (key: $0.integer($1, 0), number: $0.integer($1, 1)) }
      var pass = ServerBatchUpdatePass(batch, store: self, transaction: transaction)
      try pass.run(rows.map(\.key))
      return try outcome(of: batch, rows: rows, history, in: transaction)
    }
  }

  /// The outcome for the changed rows, which are recorded in the history.
  private func outcome(
    of batch: BatchUpdate, rows: [(key: Int64, number: Int64)], _ writer: ServerHistoryWriter?,
    in transaction: ServerTransaction
  ) throws -> BatchOutcome {
    var history = writer
    var outcome = BatchOutcome(count: rows.count)
    guard batch.wantsIdentifiers || history != nil else { return outcome }
    let slots = batch.changes.map(\.slot)
    for row in rows {
      guard let entity = map.table(ofNumber: Int(clamping: row.number))?.entity else { continue }
      history?.recordUpdate(of: row.key, entity.index, changing: slots)
      guard batch.wantsIdentifiers else { continue }
      outcome.record(row.key, of: entity, inStore: identifier, isNew: false)
    }
    try transaction.record(&history)
    return outcome
  }

  /// The new values of the columns, each after a comma; nil for those that the server can't compute exactly.
  private func assignments(of batch: BatchUpdate) throws -> [ServerText?] {
    let entity = batch.rows.entity
    let plan = plans.writes[entity.index]
    let update = plan.update(of: batch.changes.map(\.slot))
    let expressions = Dictionary(batch.changes.map { ($0.slot, $0.value) }, uniquingKeysWith: { $1 })
    let pass = ServerCommitPass(RowWrites(), store: self)
    var translation = newTranslation(at: batch.rows.now)
    var assignments: [ServerText?] = []
    for column in update.columns {
      guard let expression = expressions[column.slot] else { continue }
      if let value = expression.constantValue {
        var columns = pass.columns([column], of: plan, count: 1)
        var values = SlotValues()
        values[column.slot] = value.current
        do { try pass.append(values, to: &columns, plan, row: 0) } catch let error as PersistenceError
          where error.code == .typeMismatch
        {
          throw PersistenceError.notComputable(expression, for: column, of: entity)
        }
        assignments.append(", \(name: column.name) = (\(parameter: columns[0].parameter))[1]\(columns[0].cast)")
        continue
      }
      guard case .attribute(let form) = column.source,
        let term = translation.assigned(expression, to: form, over: entity, root: SQLText.RowSelection.root)
      else { throw PersistenceError.notComputable(expression, for: column, of: entity) }
      let kind = kinds.value[plan.table]?[column.name] ?? .bytes
      assignments.append(newTerms(over: entity).assigned(term, to: kind).map { ", \(name: column.name) = \($0)" })
    }
    return assignments
  }
}

extension StoredValue {
  /// The value with the permanent identifier of an object that was saved meanwhile.
  var current: StoredValue {
    if case .objectID(let id) = self { .objectID(id.current) } else { self }
  }
}

extension ServerTerms {
  /// A value to assign to a column; nil if the server can't compute exactly what the evaluator computes.
  ///
  /// Unlike in a condition, numbers may be computed: one that is out of range fails the statement instead of yielding
  /// another value.
  func assigned(_ term: SQLTerm, to kind: Kind) -> ServerText? {
    guard let value = computed(term) else { return nil }
    if kind == .boolean { return value.kind == .boolean ? value.text : "(\(value.text) <> 0)" }
    if value.kind == .boolean { return number(value).text }
    if kind == .moment {
      return value.kind == .double ? Kind.double.text(term: "NULLIF(\(value.text), 'NaN')", as: .moment) : nil
    }
    if case .column = term { return value.text }
    // Infinities can yield NaN, which Persist stores as null, and zeros have no sign.
    return value.kind == .double ? "NULLIF(\(value.text), 'NaN') + 0" : value.text
  }

  private func computed(_ term: SQLTerm) -> Value? {
    switch term {
    case .binary(let operation, let left, let right):
      guard let left = operand(left), let right = operand(right) else { return nil }
      return arithmetic(operation, left, right)
    case .negative(let part): return operand(part).map { ("(-\($0.text))", $0.kind) }
    case .real(let part): return operand(part).map { ("\($0.text)::float8", .double) }
    case .whole(let part):
      return operand(part).map { $0.kind == .integer ? $0 : ("trunc(\($0.text))::bigint", .integer) }
    case .call(.absolute, let parts): return parts.first.flatMap(operand).map { ("abs(\($0.text))", $0.kind) }
    default: return value(term)
    }
  }

  /// A number to compute with; integers have 64 bits, whatever their column has. Nil for values that aren't numbers.
  private func operand(_ term: SQLTerm) -> Value? {
    guard let value = computed(term).map(number), value.kind.isNumber else { return nil }
    return value.kind == .integer ? ("\(value.text)::bigint", .integer) : value
  }

  private func arithmetic(_ operation: SQLTerm.Operator, _ left: Value, _ right: Value) -> Value? {
    let areWhole = left.kind == .integer && right.kind == .integer
    func text(_ value: Value) -> ServerText {
      areWhole || value.kind == .double ? value.text : "\(value.text)::float8"
    }
    let kind: Kind = areWhole ? .integer : .double
    switch operation {
    case .add: return ("(\(text(left)) + \(text(right)))", kind)
    case .subtract: return ("(\(text(left)) - \(text(right)))", kind)
    case .multiply: return ("(\(text(left)) * \(text(right)))", kind)
    // Division by zero is null, as in memory.
    case .divide: return ("(\(text(left)) / NULLIF(\(text(right)), 0))", kind)
    case .remainder where areWhole: return ("(\(text(left)) % NULLIF(\(text(right)), 0))", kind)
    default: return nil
    }
  }
}

extension ServerTerms.Kind {
  fileprivate var isNumber: Bool { self == .integer || self == .double }
}
