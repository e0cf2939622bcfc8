/// The validation of a copy as a whole, in SQL: what is required must be there.
///
/// What was required in the source too and was copied as it is isn't looked at: a migration refuses nothing that the
/// store had before.
struct CopyCheck {
  let plan: CopyPlan
  let file: CopyFile
  /// How many rows an error names.
  private static let errorLimit = 20

  init(plan: CopyPlan, file: CopyFile) {
    self.plan = plan
    self.file = file
  }

  func run() throws {
    let steps = CheckStep.steps(for: plan.new).filter { $0.kind == .missingValue && !isKept($0) }
    guard !steps.isEmpty else { return }
    let connection = try SQLiteConnection(file.url, mode: .readWrite, options: CopyFile.options)
    defer { connection.close() }
    var errors: [PersistError] = []
    for step in steps {
      try connection.query(step.sql) { row in
        guard errors.count < Self.errorLimit else { return }
        let entity = plan.new.table(ofNumber: Int(clamping: row.integer(1)))?.entity.name ?? step.entity
        errors.append(
          PersistError(
            .validationMissingRequired,
            at: PersistError.Place(entity: entity, property: step.property, row: row.integer(0)),
            step.detail(row.value(2), row.value(3)), fix: "Give the property a value in the mapping model."))
      }
    }
    guard !errors.isEmpty else { return }
    throw PersistError.combining(errors, as: .validationMultiple, "\(errors.count) required values are missing.")
  }

  /// Whether every object has just what its source had to have.
  private func isKept(_ check: CheckStep) -> Bool {
    guard let name = check.property, let declaring = plan.new.model.entitiesByName[check.entity] else { return false }
    return plan.steps.allSatisfy { step in
      guard let destination = step.destination, destination.isKind(of: declaring) else { return true }
      guard let source = step.source else { return step.policy == nil }
      guard step.policy == nil else { return false }
      if let key = step.mapping.attributeMapping(named: name)?.valueExpression?.sourceKey {
        return source.attribute(named: key).map { !$0.isOptional && !$0.isTransient } ?? false
      }
      guard case .call(_, _, let arguments)? = step.mapping.relationshipMapping(named: name)?.valueExpression,
        let key = arguments.last?.sourceKey
      else { return false }
      return source.relationship(named: key).map { !$0.isOptional && !$0.isTransient } ?? false
    }
  }
}
