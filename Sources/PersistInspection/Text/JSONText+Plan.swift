package import Persist

extension JSONText {
  /// The fields of a migration plan, as in `diff` and `plan`.
  package mutating func fields(of plan: MigrationPlan) {
    field("from", plan.from)
    field("to", plan.to)
    field("way", plan.way.rawValue)
    field("steps", of: plan.steps) { json, step in json.object { $0.fields(of: step) } }
    fields("losses", plan.losses)
    field("blockers", of: plan.blockers) { json, blocker in
      json.object {
        $0.field("entity", blocker.entity)
        $0.field("property", blocker.property)
        $0.field("what", blocker.what)
        $0.field("fix", blocker.fix)
      }
    }
    if let rows = plan.rows { field("rows", rows) }
    if let bytes = plan.bytes { field("bytes", bytes) }
    if let extraBytes = plan.extraBytes { field("extraBytes", extraBytes) }
    if !plan.hops.isEmpty {
      field("hops", of: plan.hops) { json, hop in json.object { $0.fields(of: hop) } }
    }
    if !plan.notes.isEmpty { field("notes", strings: plan.notes) }
    if !plan.parked.isEmpty { fields("parked", plan.parked) }
    if !plan.restored.isEmpty { fields("restored", plan.restored) }
  }

  /// A field with the parts of a model that a migration has no place for.
  package mutating func fields(_ name: String, _ losses: [MigrationLoss]) {
    field(name, of: losses) { json, loss in
      json.object {
        $0.field("entity", loss.entity)
        $0.field("property", loss.property)
        $0.field("what", loss.what)
        $0.field("rows", loss.rows)
      }
    }
  }

  private mutating func fields(of step: MigrationPlan.Step) {
    field("operation", step.operation.kind.rawValue)
    field("entity", step.operation.entity)
    field("property", step.operation.property)
    field("newName", step.operation.newName)
    if let detail = step.operation.detail { field("detail", detail) }
    field("way", step.operation.way.rawValue)
    field("losesData", step.operation.losesData)
    field("sql", strings: step.sql)
    if !step.deferred.isEmpty { field("deferred", strings: step.deferred) }
  }
}
