/// The pairs of relationships that a mapping model doesn't migrate.
struct RelationshipLosses {
  private(set) var items: [MappingLosses.Item] = []
  private let plan: CopyPlan
  private let links: [[MappingLink]]
  private let use: MappingUse

  /// A route on which pairs are found: from the rows of one step to those of another.
  private final class Way {
    let owner: CopyPlan.Step
    let member: CopyPlan.Step

    init(owner: CopyPlan.Step, member: CopyPlan.Step) { (self.owner, self.member) = (owner, member) }

    /// Whether the route finds all pairs of objects of two entities.
    func leadsAll(from owners: Entity, to members: Entity) -> Bool {
      owner.source === owners && member.source === members && owner.selection == .all && member.selection == .all
    }
  }

  init(_ plan: CopyPlan, links: [[MappingLink]], use: MappingUse) {
    self.plan = plan
    self.links = links
    self.use = use
    for entity in plan.old.model.entities where !plan.old.absent.contains(entity.name) {
      for property in entity.ownProperties {
        guard let relationship = property.relationship, !relationship.isTransient,
          reportsLossesOfPairs(relationship, of: entity)
        else { continue }
        addPairs(property, relationship, of: entity)
      }
    }
    for step in plan.steps where step.policy == nil {
      for link in links[step.index] { addNarrowing(link, of: step) }
    }
  }

  /// Whether a relationship is the side at which the pairs of both sides are examined: the to-one side, or the first by
  /// name.
  private func reportsLossesOfPairs(_ relationship: RelationshipDescription, of entity: Entity) -> Bool {
    guard let inverse = plan.old.model.inverse(of: relationship) else { return true }
    guard inverse.isToMany == relationship.isToMany else { return !relationship.isToMany }
    let declaring = plan.old.model.destination(of: relationship).property(named: inverse.name)?.declaringEntity ?? ""
    return (entity.name, relationship.name) <= (declaring, inverse.name)
  }

  private func mapped(_ entities: some Sequence<Entity>, besidesUsersOf name: String?) -> [Entity] {
    entities.filter { entity in
      !plan.old.absent.contains(entity.name) && !plan.takers(of: entity).isEmpty
        && name.map { !use.contains($0, of: entity) } ?? true
    }
  }

  private mutating func addPairs(_ property: Property, _ relationship: RelationshipDescription, of entity: Entity) {
    let target = plan.old.model.destination(of: relationship)
    // Objects that aren't migrated are separate losses.
    let owners = mapped(plan.old.model.hierarchy(of: entity), besidesUsersOf: relationship.name)
    let members = mapped(plan.old.model.hierarchy(of: target), besidesUsersOf: relationship.inverse)
    guard !owners.isEmpty, !members.isEmpty, let pairs = plan.old.pairs(of: property, in: entity) else { return }
    let forth = ways(of: relationship.name, from: owners)
    let back = relationship.inverse.map { ways(of: $0, from: members) } ?? []
    let all: [Way] = forth + back.map { Way(owner: $0.member, member: $0.owner) }
    let areAllFound = owners.allSatisfy { owner in
      members.allSatisfy { member in all.contains { $0.leadsAll(from: owner, to: member) } }
    }
    guard !areAllFound else { return }
    let isGone = owners.allSatisfy { owner in
      plan.takers(of: owner).allSatisfy { $0.destination?.relationship(named: relationship.name) == nil }
    }
    let what =
      if all.isEmpty {
        isGone ? "relationship removed" : "relationship not mapped"
      } else {
        "members for which no entity mapping makes an object"
      }
    items.append(
      .init(
        loss: MigrationLoss(entity: entity.name, property: relationship.name, what: what),
        count: count(pairs, of: (entity, owners), members: (target, members), ways: all)))
  }

  /// The routes from the objects of some entities through the mappings of a relationship.
  private func ways(of name: String, from entities: [Entity]) -> [Way] {
    plan.steps.filter { step in entities.contains { $0 === step.source } }.flatMap { step in
      links[step.index].filter { $0.source.name == name }.flatMap { link in
        link.targets.map { Way(owner: step, member: $0) }
      }
    }
  }

  /// Counts the pairs of mapped objects that no route finds.
  private func count(
    _ pairs: PairSource, of owners: (root: Entity, mapped: [Entity]), members: (root: Entity, mapped: [Entity]),
    ways: [Way]
  ) -> MappingLosses.Item.Count {
    var translation = PredicateTranslation(plan.old, storeIdentifier: "", now: plan.now, fullText: [])
    let (owner, member) = (translation.newRow(of: owners.root).row, translation.newRow(of: members.root).row)
    func isOne(_ row: SQLRow, _ entities: [Entity]) -> SQLTerm {
      .isOne(.column("Z_ENT", of: row), of: entities.map { .integer(Int64(plan.old.numbers[$0])) })
    }
    func conditions(_ row: SQLRow, _ step: CopyPlan.Step) -> [SQLTerm] {
      guard let source = step.source else { return [.never] }
      var conditions = [isOne(row, [source])]
      if case .predicate(let predicate) = step.selection,
        let condition = translation.condition(predicate, over: source, root: row)
      {
        conditions.append(condition)
      }
      return conditions
    }
    let found = ways.map { SQLTerm.all(conditions(owner, $0.owner) + conditions(member, $0.member)) }
    func counted(_ conditions: SQLTerm...) -> ConditionCount {
      ConditionCount(
        of: pairs, owners: (plan.old[owners.root].table, owner), members: (plan.old[members.root].table, member),
        where: .all([isOne(owner, owners.mapped), isOne(member, members.mapped)] + conditions))
    }
    return .conditional(counted(.not(.any(found))), among: counted())
  }

  /// Adds the losses of a relationship that becomes to-one or unordered.
  private mutating func addNarrowing(_ link: MappingLink, of step: CopyPlan.Step) {
    guard let source = step.source, let before = link.source.relationship, before.isToMany,
      let pairs = plan.old.pairs(of: link.source, in: source)
    else { return }
    func add(_ what: String, _ count: RowCount) {
      let loss = MigrationLoss(entity: source.name, property: link.source.name, what: what)
      items.append(.init(loss: loss, count: .exact([count])))
    }
    if !link.relationship.isToMany {
      let owners = PairEnd(table: plan.old[source].table, entityNumbers: [plan.old.numbers[source]])
      let members = PairEnd(table: plan.old[plan.old.model.destination(of: before)].table, entityNumbers: nil)
      add("members but one", .crowded(PairRows(pairs: pairs, owners: owners, members: members)))
    } else if before.isOrdered, !link.relationship.isOrdered {
      add("order forgotten", .present(pairs.table, column: pairs.owner, .all))
    }
  }
}
