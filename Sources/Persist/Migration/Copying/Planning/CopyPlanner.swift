import Foundation

/// Plans the execution of a mapping model.
struct CopyPlanner {
  let model: MappingModel
  let old: TableMap
  let new: TableMap
  let storeIdentifier: String
  /// The time that `now()` returns.
  let now: Date
  let policies: MigrationPolicies
  /// The greatest key that was assigned, by the name of the source hierarchy's root.
  let greatestKeys: [String: Int64]
  /// The greatest key that was already assigned in the destination, by the name of the destination hierarchy's root.
  let usedKeys: [String: Int64]
  /// Whether everything is copied object by object, which tests compare with the default.
  let goesByObject: Bool
  var plan: CopyPlan
  /// The source columns of file names that have already been copied to a column, each with the entity of its rows.
  var takenFiles: Set<[String]> = []
  /// The sources of the positions that the completions would renumber.
  var placeSources: [(change: SchemaChange, places: [String]?)] = []

  @inline(never)
  init(
    _ model: MappingModel, from old: TableMap, to new: TableMap, storeIdentifier: String, now: Date = Date(),
    policies: MigrationPolicies = MigrationPolicies(), greatestKeys: [String: Int64] = [:],
    usedKeys: [String: Int64] = [:], goesByObject: Bool = false
  ) {
    self.model = model
    self.old = old
    self.new = new
    self.storeIdentifier = storeIdentifier
    self.now = now
    self.policies = policies
    self.greatestKeys = greatestKeys
    self.usedKeys = usedKeys
    self.goesByObject = goesByObject
    plan = CopyPlan(model: model, old: old, new: new, now: now, steps: [])
  }

  /// - Throws: ``PersistenceError/Code/missingMappingModel`` for a policy whose class isn't registered,
  ///   ``PersistenceError/Code/unknownEntity`` and ``PersistenceError/Code/unknownProperty`` for names that the models
  ///   lack.
  mutating func make() throws -> CopyPlan {
    plan.steps = try model.entityMappings.enumerated().map { try step($0.offset, $0.element) }
    try reserveKeys()
    let links = plan.steps.map { linkSources($0) }
    let sources = mutual(goesByObject ? links.map { _ in Dictionary() } : links)
    for index in plan.steps.indices { planRows(ofStep: index, sources[index]) }
    for index in plan.steps.indices {
      plan.steps[index].relationships.merge(ways(ofStep: index, sources)) { withRows, _ in withRows }
    }
    for index in plan.steps.indices { plan.orders += inheritedOrders(ofStep: index, links[index]) }
    return plan
  }

  private func step(_ index: Int, _ mapping: EntityMapping) throws -> CopyPlan.Step {
    let named = try mapping.sourceEntityName.map { try old.model.entity(named: $0) }
    // A store created for a configuration has neither objects nor tables of the other entities.
    let source = named.flatMap { old.absent.contains($0.name) ? nil : $0 }
    let destination = try mapping.destinationEntityName.map { try new.model.entity(named: $0) }
    if let destination { try checkNames(of: mapping, creating: destination) }
    try checkExpressions(of: mapping, over: named)
    return CopyPlan.Step(
      index: index, mapping: mapping, source: source, destination: destination,
      policy: try mapping.policyName.map { try policies.policy(named: $0, for: mapping) },
      selection: Self.selection(of: mapping))
  }

  /// The selection of a source expression, if it has the standard form of mapping models.
  static func selection(of mapping: EntityMapping) -> CopyPlan.Selection {
    guard let expression = mapping.sourceExpression else { return .all }
    guard
      case .fetch(let request, _, false) = expression,
      case .call(on: .variable(MappingVariable.manager), MappingSelector.fetchRequest, let arguments) = request,
      arguments.count == 2, arguments[0].constantValue == .string(mapping.sourceEntityName ?? ""),
      case .string(let format)? = arguments[1].constantValue, let predicate = try? FetchPredicate(format)
    else { return .custom }
    return predicate == .constant(true) ? .all : .predicate(predicate)
  }

  // MARK: Keys

  /// Keys from the same rows of a source hierarchy can't collide; all others get separate ranges.
  ///
  /// - Throws: ``PersistenceError/Code/limitExceeded`` if the keys of a range would exceed the greatest possible one.
  private mutating func reserveKeys() throws {
    struct Range {
      let root: Entity
      let offset: Int64
      var sources: Set<String> = []
    }
    var ranges: [String: [Range]] = Dictionary()
    var next = usedKeys
    for index in plan.steps.indices {
      let step = plan.steps[index]
      guard let source = step.source, let root = step.destination?.root.name, step.selection != .custom else {
        continue
      }
      let place = ranges[root, default: []].firstIndex {
        $0.root === source.root && !$0.sources.contains(source.name)
      }
      if let place {
        ranges[root]?[place].sources.insert(source.name)
        plan.steps[index].offset = ranges[root]?[place].offset ?? 0
      } else {
        let offset = next[root] ?? 0
        ranges[root, default: []].append(Range(root: source.root, offset: offset, sources: [source.name]))
        plan.steps[index].offset = offset
        let (end, overflow) = offset.addingReportingOverflow(greatestKeys[source.root.name] ?? 0)
        guard !overflow else {
          throw PersistenceError(
            .limitExceeded, at: .entity(source.name),
            "The entity mapping '\(step.mapping.name)' would give objects keys beyond the greatest possible one.",
            fix: "Map each entity once, or give the objects with the greatest keys others before migrating.")
        }
        next[root] = end
      }
    }
    plan.reservedKeys = next
  }

  // MARK: Rows

  /// Plans the single statement that creates all rows of a step, if SQL can express every attribute.
  private mutating func planRows(ofStep index: Int, _ sources: [String: LinkSource]) {
    let step = plan.steps[index]
    guard !goesByObject, step.policy == nil, let source = step.source, let destination = step.destination,
      let condition = condition(of: step)
    else { return }
    var columns: [RowCopy.Column] = [
      .init("Z_PK", .shifted("Z_PK", by: step.offset)),
      .init("Z_ENT", .constant(.integer(Int64(new.numbers[destination])))),
      .init("Z_OPT", .column("Z_OPT")),
    ]
    for property in destination.properties where !property.isTransient {
      if let attribute = property.attribute {
        guard let values = values(of: attribute, property, in: step) else { return }
        columns += values
      }
    }
    for (name, link) in sources.sorted(on: \.key) {
      guard let keys = keys(of: name, link, in: step) else { continue }
      columns += keys
      plan.steps[index].relationships[name] = .withRows
    }
    plan.steps[index].rows = RowCopy(
      source: old[source].table, number: old[source].number, condition: condition.term, target: new[destination].table,
      columns: columns)
  }

  /// The condition on a step's source rows; nil if SQL can't express it.
  private func condition(of step: CopyPlan.Step) -> (term: SQLTerm?, Void)? {
    switch step.selection {
    case .all: return (nil, ())
    case .custom: return nil
    case .predicate(let predicate):
      guard let source = step.source else { return nil }
      var translation = PredicateTranslation(old, storeIdentifier: storeIdentifier, now: now, fullText: [])
      return translation.condition(predicate, over: source, root: SQLText.RowSelection.root).map { ($0, ()) }
    }
  }
}
