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
            let entity = map.table(ofNumber: Int(clamping: finding.entityNumber))?.entity.name
            try report(
              StoreProblem(
                kind: step.kind, entity: entity ?? step.entity, pk: finding.row, property: step.property,
                detail: step.detail(finding.values.0, finding.values.1)))
          }
        }
      }
    }
  }
}
