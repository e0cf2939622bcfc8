/// The losses of a migration by a mapping model: data, derived from the layout and the expressions alone.
///
/// - Objects of entities without an entity mapping, and objects that every filter excludes.
/// - Values of attributes that no expression reads.
/// - Pairs of relationships that neither side's expression finds, because it is missing or because none of its entity
///   mappings creates an object for the other end.
///
/// A policy's code can't be analyzed: everything that its entity mapping covers counts as kept.
struct MappingLosses: ~Copyable {
  /// Something that isn't migrated.
  struct Item {
    enum Count {
      /// The maximum of several counts.
      case exact([RowCount])
      /// The rows for which the first condition is true. If there is none, or the engine can't evaluate it, some of the
      /// others may be lost.
      case conditional(ConditionCount?, among: ConditionCount)
    }

    let loss: MigrationLoss
    let count: Count
  }

  private(set) var items: [Item] = []
  private let plan: CopyPlan

  init(_ plan: CopyPlan) {
    self.plan = plan
    let links = plan.steps.map { step in
      step.mapping.relationshipMappings.compactMap { MappingLink($0, of: step, in: plan) }
    }
    let use = MappingUse(plan, links)
    for entity in plan.old.model.entities where !entity.isAbstract && !plan.old.absent.contains(entity.name) {
      if plan.takers(of: entity).isEmpty { addEntity(entity) } else { addFilters(of: entity) }
    }
    for entity in plan.old.model.entities where !plan.old.absent.contains(entity.name) {
      for property in entity.ownProperties where !property.isTransient {
        if property.attribute?.isDerived == false { addAttribute(property, of: entity, use) }
      }
    }
    items += RelationshipLosses(plan, links: links, use: use).items
  }

  /// The actual losses of a store, with the number of affected rows.
  func counted(_ inspector: any StoreInspector) throws -> [MigrationLoss] {
    try items.compactMap { item in
      var loss = item.loss
      switch item.count {
      case .exact(let counts):
        loss.rows = try counts.map { try inspector.count($0) }.max() ?? 0
      case .conditional(let count, let all):
        loss.rows = try count.flatMap { try inspector.count($0, in: plan.old) }
        if loss.rows == nil { return try inspector.count(all, in: plan.old) == 0 ? nil : loss }
      }
      return loss.rows == 0 ? nil : loss
    }
  }

  private func rows(of entities: [Entity]) -> RowCondition {
    .entities(entities.map { plan.old.numbers[$0] }.sorted())
  }

  private mutating func addEntity(_ entity: Entity) {
    let isGone = plan.new.model.entitiesByName[entity.name] == nil
    items.append(
      Item(
        loss: MigrationLoss(entity: entity.name, what: isGone ? "entity removed" : "entity not mapped"),
        count: .exact([.rows(plan.old[entity].table, rows(of: [entity]))])))
  }

  private mutating func addFilters(of entity: Entity) {
    let takers = plan.takers(of: entity)
    guard !takers.contains(where: { $0.selection == .all }) else { return }
    let table = plan.old[entity]
    let row = SQLText.RowSelection.root
    var translation = PredicateTranslation(plan.old, storeIdentifier: "", now: plan.now, fullText: [])
    let conditions = takers.map { step -> SQLTerm? in
      guard case .predicate(let predicate) = step.selection else { return nil }
      return translation.condition(predicate, over: entity, root: row)
    }
    let names = takers.map { "'\($0.mapping.name)'" }.joined(separator: ", ")
    let loss = MigrationLoss(entity: entity.name, what: "objects that the filter of \(names) leaves out")
    let isEntity = SQLTerm.isOne(.column("Z_ENT", of: row), of: [.integer(Int64(plan.old.numbers[entity]))])
    let known = conditions.compactMap(\.self)
    let isLeftOut = known.count == conditions.count ? SQLTerm.all([isEntity, .not(.any(known))]) : nil
    items.append(
      Item(
        loss: loss,
        count: .conditional(
          isLeftOut.map { ConditionCount(of: table.table, where: $0) },
          among: ConditionCount(of: table.table, where: isEntity))))
  }

  /// Adds the loss of an attribute that nothing reads for some entities of its hierarchy.
  private mutating func addAttribute(_ property: Property, of entity: Entity, _ use: MappingUse) {
    let losers = plan.old.model.hierarchy(of: entity).filter { heir in
      !plan.takers(of: heir).isEmpty && !use.contains(property.name, of: heir)
    }
    let table = plan.old[entity]
    let columns = table.columns.filter { $0.property == property.name }.map(\.name)
    guard !losers.isEmpty, !columns.isEmpty else { return }
    let isGone = losers.allSatisfy { loser in
      plan.takers(of: loser).allSatisfy { $0.destination?.attribute(named: property.name) == nil }
    }
    let condition = rows(of: Array(losers))
    items.append(
      Item(
        loss: MigrationLoss(
          entity: entity.name, property: property.name, what: isGone ? "attribute removed" : "attribute not mapped"),
        count: .exact(columns.map { .present(table.table, column: $0, condition) })))
  }
}

extension CopyPlan {
  /// The steps that create destination objects from an entity's objects.
  func takers(of entity: Entity) -> [Step] {
    steps.filter { $0.source === entity && ($0.destination != nil || $0.policy != nil) }
  }
}
