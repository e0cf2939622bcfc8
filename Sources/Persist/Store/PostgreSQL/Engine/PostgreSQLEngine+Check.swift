extension PostgreSQLEngine {
  /// Checks the object graph of a store in one state of it.
  ///
  /// The server itself guards its pages and the types of columns, and its sequences assign the keys.
  func check(
    _ location: StoreLocation, registry: ModelRegistry?, _ report: (StoreProblem) throws -> Void
  ) throws {
    try withPool(location) { pool in
      try pool.readTransaction { session in
        let catalog = try StoreCatalog(session)
        let map = try session.identify(among: registry, known: catalog).tableMap
        for difference in map.differences { try report(StoreProblem(kind: .schemaMismatch, detail: difference)) }
        guard map.differences.isEmpty else { return }
        let inspector = ServerInspector(session)
        let steps = CheckStep.steps(for: map).filter { ![.wrongType, .keyCounter].contains($0.kind) }
        let history = HistoryLayout(catalog.schema).map(CheckStep.historySteps) ?? []
        for step in steps + history {
          try inspector.forEachFinding(step) { finding in
            // Other programs may omit the number; it is read from the row with the key.
            if step.kind == .wrongEntityNumber, finding.values.0 == .null { return }
            let entity = map.table(ofNumber: Int(clamping: finding.entityNumber))?.entity.name
            try report(
              StoreProblem(
                kind: step.kind, entity: entity ?? step.entity, pk: finding.row, property: step.property,
                detail: step.detail(finding.values.0, finding.values.1)))
          }
        }
        try checkNumbers(session, map, report)
      }
    }
  }

  /// Finds numbers that only other programs write, and that are read as no value.
  private func checkNumbers(
    _ session: ServerSession, _ map: TableMap, _ report: (StoreProblem) throws -> Void
  ) throws {
    for table in map.tables {
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, !map.absent.contains(table.entity.name),
          table.entity.property(named: column.property)?.declaringEntity == table.entity.name
        else { continue }
        let condition: ServerText
        switch ServerTerms.Kind(column.type) {
        case .double: condition = "\(name: column.name) = 'NaN'"
        // NaN is greater than all numbers, and so is infinity.
        case .decimal: condition = "abs(\(name: column.name)) > 1e127"
        default: continue
        }
        let numbers = map.model.hierarchy(of: table.entity).map { map.numbers[$0] }
        let rows = try session.all(
          """
          SELECT id, entity, \(name: column.name)::text FROM \(table: table.table) \
          WHERE \(condition) AND entity IN (\(numbers: numbers))
          """
        ) { (key: $0.integer($1, 0), number: $0.integer($1, 1), text: $0.text($1, 2)) }
        for row in rows {
          try report(
            StoreProblem(
              kind: .wrongType, entity: map.table(ofNumber: Int(clamping: row.number))?.entity.name, pk: row.key,
              property: column.property,
              detail: "'\(column.property)' holds \(row.text), which no \(attribute.type.rawValue) can be: "
                + "it is read as no value."))
        }
      }
    }
  }
}
