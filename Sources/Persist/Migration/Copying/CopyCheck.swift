/// Validates a whole copy in SQL: every object has been copied, required properties have values, and relationships lead
/// to objects.
///
/// Properties that were required in the source too and were copied unchanged aren't checked: a migration rejects
/// nothing that the store already contained.
struct CopyCheck {
  let plan: CopyPlan
  let file: any StoreCopy
  /// The parked values that are restored afterward; the rows that have none were counted before.
  var parked = ParkedReturn()
  /// The maximum number of rows that an error names.
  private static let errorLimit = 20
  /// The maximum number of counted problems: enough for a comparison without using much memory.
  private static let problemLimit = 10_000

  func run() throws {
    try file.inspect { copy in
      try checkCounts(copy)
      let steps = CheckStep.steps(for: plan.new)
      try refuse(
        problems(steps.filter { $0.kind == .missingValue && !isKept($0) && !isRestored($0) }, in: copy),
        .validationMissingRequired, fix: "Give the property a value in the mapping model.")
      try checkReferences(steps, copy)
    }
  }

  /// The error for rows with equal values of a unique property; nil if there are none.
  func uniquenessError() throws -> PersistenceError? {
    let steps = CheckStep.steps(for: plan.new).filter { $0.kind == .duplicateValue }
    let problems = try file.inspect { copy in try self.problems(steps, in: copy) }
    guard !problems.isEmpty else { return nil }
    return error(problems, .constraintConflict, fix: "Make the values differ in the mapping model.")
  }

  // MARK: Objects

  /// Checks that entities whose source objects all have a copy arrived in full number.
  private func checkCounts(_ inspector: any StoreInspector) throws {
    // Policies may create or omit any objects, and a file that already existed has more.
    guard file.isNew, plan.steps.allSatisfy({ $0.policy == nil }) else { return }
    for (name, steps) in Dictionary(grouping: plan.steps, by: { $0.destination?.name }) {
      guard let name, let entity = plan.new.model.entitiesByName[name], steps.allSatisfy(\.isComplete) else { continue }
      // SQLite counts the rows of a table without reading them, unlike those of one entity.
      if let totals = try counts(of: entity, steps, inspector, by: total), totals.found == totals.expected { continue }
      guard let (found, expected) = try counts(of: entity, steps, inspector, by: count) else { continue }
      guard found != expected else { continue }
      throw PersistenceError(
        .migrationFailed, at: .entity(name), "\(found) objects of \(name) were copied instead of \(expected).",
        fix: "The store is unchanged. Check it with 'persist check': some rows may be damaged.")
    }
  }

  /// The objects of an entity in the copy and those of its sources, counted in the same way; nil if this way can't
  /// count one of them.
  private func counts(
    of entity: Entity, _ steps: [CopyPlan.Step], _ inspector: any StoreInspector,
    by count: (Entity, TableMap, any StoreInspector) throws -> Int?
  ) throws -> (found: Int, expected: Int)? {
    var expected = 0
    for step in steps {
      guard let source = step.source else { continue }
      guard let rows = try count(source, plan.old, file.source) else { return nil }
      expected += rows
    }
    return try count(entity, plan.new, inspector).map { ($0, expected) }
  }

  /// The number of all rows of an entity's table; nil if other entities may have rows there.
  private func total(_ entity: Entity, in map: TableMap, _ inspector: any StoreInspector) throws -> Int? {
    guard !map.absent.contains(entity.name), map.onlyNumber(ofTableOf: entity) != nil else { return nil }
    return try inspector.count(.rows(map[entity].table, .all))
  }

  private func count(_ entity: Entity, in map: TableMap, _ inspector: any StoreInspector) throws -> Int {
    guard !map.absent.contains(entity.name) else { return 0 }
    let table = map[entity]
    return try inspector.firstNumber(.rowCount(of: table.table, entityNumber: table.number))
  }

  // MARK: Relationships

  /// Rejects a copy with more dangling relationships than the source: objects may refer to ones that were omitted or
  /// that code created.
  private func checkReferences(_ steps: [CheckStep], _ inspector: any StoreInspector) throws {
    guard !plan.steps.allSatisfy({ $0.isComplete || $0.destination == nil || $0.source == nil }) else { return }
    let kinds: Set<StoreProblem.Kind> = [.danglingRelationship, .wrongDestination]
    let found = try problems(steps.filter { kinds.contains($0.kind) }, in: inspector)
    guard !found.isEmpty else { return }
    let before = try problems(CheckStep.steps(for: plan.old).filter { kinds.contains($0.kind) }, in: file.source)
    guard found.count > before.count else { return }
    throw error(found, .migrationFailed, fix: "Map their related objects as well, or omit these objects too.")
  }

  // MARK: Problems

  private func problems(_ steps: [CheckStep], in inspector: any StoreInspector) throws -> [PersistenceError] {
    var problems: [PersistenceError] = []
    for step in steps {
      try inspector.forEachFinding(step) { finding in
        guard problems.count < Self.problemLimit,
          let detail = step.detail(finding.values.0, finding.values.1)
        else { return }
        let entity = plan.new.table(ofNumber: Int(clamping: finding.entityNumber))?.entity.name ?? step.entity
        problems.append(
          PersistenceError(
            .migrationFailed, at: PersistenceError.Place(entity: entity, property: step.property, row: finding.row),
            detail))
      }
    }
    return problems
  }

  private func refuse(_ problems: [PersistenceError], _ code: PersistenceError.Code, fix: String) throws {
    guard !problems.isEmpty else { return }
    throw error(problems, code, fix: fix)
  }

  private func error(_ problems: [PersistenceError], _ code: PersistenceError.Code, fix: String) -> PersistenceError {
    let errors = problems.prefix(Self.errorLimit).map { problem in
      var error = problem
      error.code = code
      error.fix = fix
      return error
    }
    return .combining(
      errors, as: code == .validationMissingRequired ? .validationMultiple : code,
      "\(problems.count) rows of the copy violate the model's rules.")
  }

  private func isRestored(_ check: CheckStep) -> Bool {
    guard let declaring = plan.new.model.entitiesByName[check.entity] else { return false }
    return [Array(parked.values.keys), Array(parked.pairs.keys)].joined().contains { property in
      property.name == check.property && plan.new.model.entitiesByName[property.entity]?.isKind(of: declaring) == true
    }
  }

  /// Whether every object has exactly the value that its source was required to have.
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
