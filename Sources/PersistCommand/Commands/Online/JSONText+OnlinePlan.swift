#if canImport(PersistOnlineMigrations)
  import Persist
  import PersistInspection
  import PersistOnlineMigrations

  extension JSONText {
    /// Writes the plan of an online migration.
    mutating func fields(of plan: OnlinePlan) {
      field("from", plan.from)
      field("to", plan.to)
      field("way", plan.isPossible ? "online" : "impossible")
      field("steps", of: plan.steps) { json, step in
        json.object {
          $0.field("operation", step.operation.kind.rawValue)
          $0.field("entity", step.operation.entity)
          if let property = step.operation.property { $0.field("property", property) }
          if let newName = step.operation.newName { $0.field("newName", newName) }
          if let detail = step.operation.detail { $0.field("detail", detail) }
          $0.field("way", step.way.rawValue)
          if let reason = step.reason { $0.field("reason", reason) }
          if let fix = step.fix { $0.field("fix", fix) }
        }
      }
      field("phases", of: plan.phases) { json, phase in
        json.object {
          $0.field("name", phase.name)
          $0.field("locks", phase.locks)
          $0.field("sql", strings: phase.sql)
        }
      }
      field("refusals", of: plan.refusals) { json, refusal in
        json.object {
          $0.field("entity", refusal.entity)
          $0.field("property", refusal.property)
          if let operation = refusal.operation { $0.field("operation", operation.kind.rawValue) }
          $0.field("reason", refusal.reason)
          $0.field("fix", refusal.fix)
        }
      }
    }
  }
#endif
