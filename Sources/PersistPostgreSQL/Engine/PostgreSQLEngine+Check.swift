import Persist

extension PostgreSQLEngine: CheckingEngine {
  /// Checks the object graph of a store in one state of it.
  ///
  /// The server itself guards its pages and the types of columns, and its sequences assign the keys.
  func checkStore(
    at location: StoreLocation, registry: ModelRegistry?, _ report: (StoreProblem) throws -> Void
  ) throws {
    try withPool(of: location) { pool in
      try pool.readTransaction { session in
        let catalog = try StoreCatalog(session)
        let map = try session.identify(among: registry, known: catalog).tableMap
        for problem in map.keyProblems(in: catalog.schema, { ServerText.name($0) }) { try report(problem) }
        for difference in map.differences { try report(StoreProblem(kind: .schemaMismatch, detail: difference)) }
        guard map.differences.isEmpty else { return }
        let inspector = ServerInspector(session)
        let steps = CheckStep.steps(for: map).filter { ![.wrongType, .keyCounter].contains($0.kind) }
        let others = try catalog.isExpanded ? OnlineRecord(session)?.numbers.map(\.number) ?? [] : []
        let history = HistoryLayout(catalog.schema).map { CheckStep.historySteps($0, map, others: others) } ?? []
        for step in steps + history {
          try inspector.forEachFinding(step) { finding in
            // Other programs may omit the number; it is read from the row with the key.
            if step.kind == .wrongEntityNumber, finding.values.0 == .null { return }
            if step.concerns(others, values: finding.values, map: map) { return }
            guard let detail = step.detail(finding.values.0, finding.values.1) else { return }
            let entity = map.table(ofNumber: Int(clamping: finding.entityNumber))?.entity.name
            try report(
              StoreProblem(
                kind: step.kind, entity: entity ?? step.entity, pk: finding.row, property: step.property,
                detail: detail))
          }
        }
        try checkNumbers(in: session, map: map, report)
      }
    }
  }

  /// Finds values that only other programs write, and that are read as no value or as another one: the server's types
  /// represent more than those of attributes.
  private func checkNumbers(
    in session: ServerSession, map: TableMap, _ report: (StoreProblem) throws -> Void
  ) throws {
    for table in map.tables {
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, !map.absent.contains(table.entity.name),
          table.entity.property(named: column.property)?.declaringEntity == table.entity.name
        else { continue }
        guard let condition = ServerText.otherValues(than: attribute.type, in: column) else { continue }
        let numbers = map.model.hierarchy(of: table.entity).map { map.numbers[$0] }
        let rows = try session.all(
          """
          SELECT id, entity, \(name: column.name)::text FROM \(table: table.table) \
          WHERE (\(condition)) AND entity IN (\(numbers: numbers))
          """
        ) { (key: $0.integer($1, 0), number: $0.integer($1, 1), text: $0.text($1, 2)) }
        for row in rows {
          try report(
            StoreProblem(
              kind: .wrongType, entity: map.table(ofNumber: Int(clamping: row.number))?.entity.name, pk: row.key,
              property: column.property,
              detail: "'\(column.property)' holds \(ValueWords.line(row.text)), which isn't a value of type "
                + "\(attribute.type.rawValue)."))
        }
      }
    }
  }
}

extension CheckStep {
  /// Whether a finding is an object that only the other model of an expanded store knows, or a member in a join table
  /// of both models. Programs with this model don't see them.
  ///
  /// - Parameters:
  ///   - numbers: The entity numbers of the other model.
  ///   - values: The values of the finding.
  ///   - map: The layout of this model.
  fileprivate func concerns(_ numbers: [Int], values: (SQLValue, SQLValue), map: TableMap) -> Bool {
    let number: SQLValue
    switch kind {
    case .unknownEntity: number = values.0
    case .wrongDestination:
      let relationship = property.flatMap { map.model.entitiesByName[entity]?.relationship(named: $0) }
      guard relationship?.isToMany == true else { return false }
      number = values.1
    default: return false
    }
    guard case .integer(let value) = number else { return false }
    return numbers.contains(Int(clamping: value)) && map.table(ofNumber: Int(clamping: value)) == nil
  }
}

extension ServerText {
  /// The condition for values of a column that aren't of the attribute's type; nil if the server accepts no others.
  fileprivate static func otherValues(than type: AttributeType, in column: TableMap.Column) -> ServerText? {
    let name: ServerText = "\(name: column.name)"
    switch (type, ServerTerms.Kind(column.type)) {
    // NaN is greater than all numbers, and so is infinity.
    case (.date, .double): return "abs(\(name)) >= 'Infinity'"
    case (.float, .double):
      return "\(name) = 'NaN' OR (abs(\(name)) > \(literal: "\(Float.greatestFiniteMagnitude)")::float8 "
        + "AND abs(\(name)) < 'Infinity')"
    case (_, .moment): return "NOT isfinite(\(name))"
    case (_, .double): return "\(name) = 'NaN'"
    case (_, .decimal): return "abs(\(name)) > 1e127 OR (abs(\(name)) < 1e-128 AND \(name) <> 0)"
    case (.int16, .integer), (.int16, .int32), (.int32, .integer):
      return "\(name) NOT BETWEEN \(number: type.integerRange.lowerBound) AND \(number: type.integerRange.upperBound)"
    default: return nil
    }
  }
}
