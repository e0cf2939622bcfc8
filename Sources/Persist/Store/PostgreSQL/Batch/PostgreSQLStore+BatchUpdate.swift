import Foundation

extension PostgreSQLStore {
  /// Updates rows with one statement.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the server can't compute a value exactly;
  ///   ``PersistenceError/Code/constraintConflict``.
  func update(_ batch: BatchUpdate) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let plan = try plan(for: batch.rows)
    let assignments = try assignments(of: batch).joined(separator: "")
    let sql: ServerText = """
      UPDATE \(table: plan.selection.table) AS r0 SET z_opt = r0.z_opt + 1\(assignments) \
      WHERE r0.z_pk IN (SELECT r0.z_pk\(try clauses(batch.rows, plan))) RETURNING r0.z_pk, r0.z_ent
      """
    do {
      let outcome = try pool.write { transaction in
        var outcome = BatchOutcome()
        guard let result = try transaction.run([sql]).first else { return outcome }
        outcome.count = result.rowCount
        var history = historyWriter(by: batch.origin)
        guard batch.wantsIdentifiers || history != nil else { return outcome }
        let slots = batch.changes.map(\.slot)
        for row in 0..<result.rowCount {
          guard let entity = map.table(ofNumber: Int(clamping: result.integer(row, 1)))?.entity else { continue }
          history?.recordUpdate(of: result.integer(row, 0), entity.number - 1, changing: slots)
          guard batch.wantsIdentifiers else { continue }
          outcome.changes.updatedObjectIDs.insert(
            ManagedObjectID(
              entityName: entity.name, storeIdentifier: identifier, key: .permanent(result.integer(row, 0))))
        }
        try transaction.record(&history)
        return outcome
      }
      noteChange()
      return outcome
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw described(error)
    }
  }

  /// The new values of the columns, each after a comma.
  private func assignments(of batch: BatchUpdate) throws -> [ServerText] {
    let entity = batch.rows.entity
    let plan = writePlans.value[entity.number - 1]
    let update = plan.update(of: batch.changes.map(\.slot))
    let expressions = Dictionary(batch.changes.map { ($0.slot, $0.value) }, uniquingKeysWith: { $1 })
    let pass = ServerCommitPass(RowWrites(), store: self)
    var translation = newTranslation(at: batch.rows.now)
    return try update.columns.compactMap { column in
      guard let expression = expressions[column.slot] else { return nil }
      if let value = expression.constantValue {
        var columns = pass.columns([column], of: plan, count: 1)
        var values = ContiguousArray<StoredValue?>(repeating: nil, count: entity.properties.count)
        values[column.slot] = value.current
        do { try pass.append(values, to: &columns, plan, row: 0) } catch let error as PersistenceError
          where error.code == .typeMismatch
        {
          throw refusal(batch, column, expression)
        }
        return ", \(name: column.name) = (\(parameter: columns[0].parameter))[1]\(columns[0].cast)"
      }
      guard case .attribute(let form) = column.source,
        let term = translation.assigned(expression, to: form, over: entity, root: SQLText.RowSelection.root),
        let value = newTerms(over: entity).assigned(term)
      else { throw refusal(batch, column, expression) }
      return ", \(name: column.name) = \(value)"
    }
  }

  private func refusal(
    _ batch: BatchUpdate, _ column: WritePlan.Column, _ expression: FetchExpression
  ) -> PersistenceError {
    let entity = batch.rows.entity
    return PersistenceError(
      .invalidRequest, at: .property(entity.name, entity.properties[column.slot].name),
      "A store can't compute '\(expression)' for '\(entity.properties[column.slot].name)'.",
      fix: "Use a value, or an expression of the attribute's type that SQL can compute, or change the objects.")
  }
}

extension StoredValue {
  /// The value with the permanent identifier of an object that was saved meanwhile.
  fileprivate var current: StoredValue {
    if case .objectID(let id) = self { .objectID(id.current) } else { self }
  }
}

extension ServerTerms {
  /// A value to assign, which may be computed: unlike a condition, an assignment may fail as a whole.
  func assigned(_ term: SQLTerm) -> ServerText? { computed(term)?.text }

  private func computed(_ term: SQLTerm) -> Value? {
    switch term {
    case .binary(let operation, let left, let right):
      guard let left = computed(left), let right = computed(right) else { return nil }
      return arithmetic(operation, left, right)
    case .negative(let part): return computed(part).map { ("(-\($0.text))", $0.kind) }
    case .real(let part): return computed(part).map { ("\($0.text)::float8", .double) }
    case .whole(let part):
      return computed(part).map { $0.kind == .integer ? $0 : ("trunc(\($0.text))::bigint", .integer) }
    case .call(.uppercase, let parts): return text("PERSISTUPPERCASE", parts)
    case .call(.lowercase, let parts): return text("PERSISTLOWERCASE", parts)
    case .call(.canonical, let parts): return text("PERSISTCANONICAL", parts)
    case .call(.absolute, let parts): return parts.first.flatMap(computed).map { ("abs(\($0.text))", $0.kind) }
    case .call(.decimalResult, let parts): return decimalResult(parts)
    default: return value(term)
    }
  }

  private func text(_ function: String, _ parts: [SQLTerm]) -> Value? {
    guard let value = parts.first.flatMap(computed), value.kind == .text else { return nil }
    return ("\(table: function)(\(value.text))", .text)
  }

  private func arithmetic(_ operation: SQLTerm.Operator, _ left: Value, _ right: Value) -> Value? {
    let areWhole = left.kind == .integer && right.kind == .integer
    guard areWhole || [left.kind, right.kind].allSatisfy({ $0 == .integer || $0 == .double }) else { return nil }
    func text(_ value: Value) -> ServerText { areWhole || value.kind == .double ? value.text : "\(value.text)::float8" }
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

  private func decimalResult(_ parts: [SQLTerm]) -> Value? {
    guard parts.count == 3, case .value(.text(let sign)) = parts[0], let left = number(parts[1]),
      let right = number(parts[2])
    else { return nil }
    switch sign {
    case "+": return ("(\(left) + \(right))", .decimal)
    case "-": return ("(\(left) - \(right))", .decimal)
    case "*": return ("(\(left) * \(right))", .decimal)
    case "abs": return ("abs(\(left))", .decimal)
    // A quotient has other digits than a decimal of 38.
    default: return nil
    }
  }

  private func number(_ term: SQLTerm) -> ServerText? {
    if case .value = term { return decimal(term) }
    return computed(term).map { $0.kind == .decimal ? $0.text : "\($0.text)::numeric" }
  }
}
