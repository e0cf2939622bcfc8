/// The source of a relationship's members, if its expression is one of the standard forms of mapping models.
struct LinkSource: Equatable {
  /// The source entity's relationship.
  let name: String
  /// The steps whose objects may be members.
  let targets: [Int]
}

extension CopyPlanner {
  /// The sources of a step's relationships that correspond to a relationship of the source entity, by name.
  func linkSources(_ step: CopyPlan.Step) -> [String: LinkSource] {
    guard step.isKeyed, let source = step.source, let destination = step.destination else { return Dictionary() }
    var sources: [String: LinkSource] = Dictionary()
    for mapping in step.mapping.relationshipMappings {
      guard let relationship = destination.relationship(named: mapping.name), !relationship.isTransient,
        case .call(on: .variable(MappingVariable.manager), let selector, let arguments)? = mapping.valueExpression,
        arguments.count == 2, case .string(let name)? = arguments[0].constantValue, let key = arguments[1].sourceKey,
        let before = source.relationship(named: key), !before.isTransient
      else { continue }
      let (given, wanted) = (old.model.destination(of: before), new.model.destination(of: relationship))
      let candidates = plan.steps.filter { step in
        guard let from = step.source, let to = step.destination else { return false }
        return from.isKind(of: given) && to.isKind(of: wanted)
      }
      let targets: [CopyPlan.Step]
      switch selector {
      case MappingSelector.destinationInstancesForMapping: targets = candidates.filter { $0.mapping.name == name }
      case MappingSelector.destinationInstancesForRelationship: targets = candidates
      default: continue
      }
      guard targets.allSatisfy(\.isKeyed) else { continue }
      sources[mapping.name] = LinkSource(name: key, targets: targets.map(\.index))
    }
    return sources
  }

  /// The sources without those of to-one relationships whose inverse is to-one as well but has no source: the other end
  /// is then determined when the objects are related.
  func mutual(_ sources: [[String: LinkSource]]) -> [[String: LinkSource]] {
    zip(plan.steps, sources).map { step, links in
      links.filter { name, link in
        guard let relationship = step.destination?.relationship(named: name), !relationship.isToMany,
          let inverse = new.model.inverse(of: relationship), !inverse.isToMany
        else { return true }
        return link.targets.allSatisfy { sources[$0][inverse.name] != nil }
      }
    }
  }

  /// The ways in which the members of a step's mapped relationships are set, except of those copied with the rows.
  mutating func ways(
    ofStep index: Int, _ sources: [[String: LinkSource]]
  ) -> [String: CopyPlan.RelationshipWay] {
    let step = plan.steps[index]
    guard let destination = step.destination else { return Dictionary() }
    var ways: [String: CopyPlan.RelationshipWay] = Dictionary()
    for mapping in step.mapping.relationshipMappings {
      guard let expression = mapping.valueExpression, expression.constantValue == nil,
        let property = destination.property(named: mapping.name), let relationship = property.relationship,
        !relationship.isTransient, step.relationships[mapping.name] == nil
      else { continue }
      guard let link = sources[index][mapping.name] else {
        ways[mapping.name] = .objects
        continue
      }
      if isTold(byInverseOf: relationship, property, by: link, in: step, sources: sources) {
        ways[mapping.name] = .byInverse
      } else {
        ways[mapping.name] = .pairs(pairs(of: property, as: relationship, from: link, in: step))
      }
    }
    return ways
  }

  /// Whether the inverse maps exactly the same pairs and is the side that stores them.
  private func isTold(
    byInverseOf relationship: RelationshipDescription, _ property: Property, by link: LinkSource,
    in step: CopyPlan.Step, sources: [[String: LinkSource]]
  ) -> Bool {
    guard relationship.isToMany, let inverse = new.model.inverse(of: relationship),
      let before = step.source?.relationship(named: link.name), let inverseBefore = before.inverse
    else { return false }
    let target = new.model.destination(of: relationship)
    if inverse.isToMany {
      // One side of a join table is sufficient: the one with the lower name.
      let other = target.property(named: inverse.name)?.declaringEntity ?? ""
      guard (other, inverse.name) < (property.declaringEntity, relationship.name) else { return false }
    }
    return link.targets.allSatisfy { index in
      guard let back = sources[index][inverse.name] else { return false }
      return back.name == inverseBefore && back.targets.contains(step.index)
    }
  }

  // MARK: With the rows

  /// The columns of a to-one relationship that has a column in the source too; nil if it has none.
  mutating func keys(of name: String, _ link: LinkSource, in step: CopyPlan.Step) -> [RowCopy.Column]? {
    guard let source = step.source, let destination = step.destination,
      let property = destination.property(named: name), property.isToOne, let relationship = property.relationship,
      let before = source.property(named: link.name), before.isToOne, let oldRelationship = before.relationship,
      !becomesOwnInverse(property, from: before),
      let key = old[source].columns.first(where: { $0.slot == before.slot && $0.role == .toOne }),
      let column = new[destination].columns.first(where: { $0.slot == property.slot && $0.role == .toOne })
    else { return nil }
    let targets = link.targets.map { plan.steps[$0] }
    guard let offset = targets.first?.offset, targets.allSatisfy({ $0.offset == offset && $0.isComplete }) else {
      return nil
    }
    let given = old.model.destination(of: oldRelationship)
    let mapped = Set(targets.compactMap { $0.source?.name })
    let isWhole = old.model.hierarchy(of: given).allSatisfy { $0.isAbstract || mapped.contains($0.name) }
    let numbers = targets.compactMap { $0.source.map { old.numbers[$0] } }.sorted()
    var columns: [RowCopy.Column] = [
      .init(
        column.name,
        isWhole
          ? .shifted(key.name, by: offset)
          : .found(key.name, by: offset, in: old[given].table, entityNumbers: numbers))
    ]
    if let slot = property.entityNumberSlot, let number = new[destination].column(slot: slot) {
      if isWhole, let slot = before.entityNumberSlot, let oldNumber = old[source].column(slot: slot) {
        let renumbering = targets.compactMap { target -> (Int, Int)? in
          guard let from = target.source, let to = target.destination else { return nil }
          return (old.numbers[from], new.numbers[to])
        }
        let numbers = Dictionary(renumbering, uniquingKeysWith: { first, _ in first })
        columns.append(.init(number.name, .renumbered(oldNumber.name, numbers)))
      } else {
        completeNumbers(in: column.name, and: number.name, of: destination, for: relationship)
      }
    }
    if let order = new[destination].orderColumns[property.slot] {
      let oldOrder = old[source].orderColumns[before.slot]
      if let oldOrder { columns.append(.init(order, .column(oldOrder))) }
      completePlaces(
        .assignPositions(table: new[destination].table, owner: column.name, member: "Z_PK", place: order),
        from: oldOrder.map { [old[source].table, $0] })
    }
    return columns
  }

  // MARK: By pairs

  mutating func pairs(
    of property: Property, as relationship: RelationshipDescription, from link: LinkSource, in step: CopyPlan.Step
  ) -> [PairCopy] {
    guard let source = step.source, let destination = step.destination, let before = source.property(named: link.name),
      let pairs = old.pairs(of: before, in: source),
      let target = target(property, as: relationship, of: destination, from: pairs)
    else { return [] }
    let needsBoth = isReflexive(property, new[destination]) || becomesOwnInverse(property, from: before)
    // A join table of such a relationship already has each pair in both directions, each with the order of its owner.
    let turned = self.isReflexive(before, old[source]) ? pairs : pairs.ofMembers
    return link.targets.flatMap { index -> [PairCopy] in
      guard let owner = end(step), let member = end(plan.steps[index]) else { return [] }
      let copy = PairCopy(pairs: pairs, owner: owner, member: member, target: target)
      // The other entity may have no mapping for the relationship.
      return needsBoth ? [copy, PairCopy(pairs: turned, owner: member, member: owner, target: target)] : [copy]
    }
  }

  /// Whether a to-one relationship is its own inverse, but the pairs that it takes are stored in one direction only.
  private func becomesOwnInverse(_ property: Property, from before: Property) -> Bool {
    property.isToOne && new.model.isOwnInverse(property) && !old.model.isOwnInverse(before)
  }

  /// Whether a relationship is its own inverse and has a join table.
  private func isReflexive(_ property: Property, _ place: TableMap.EntityTable) -> Bool {
    guard case .join(let end) = place.toMany[property.slot] else { return false }
    return end.isReflexive
  }

  /// The target of a relationship's pairs. Adds the required completions.
  private mutating func target(
    _ property: Property, as relationship: RelationshipDescription, of destination: Entity, from pairs: PairSource
  ) -> PairCopy.Target? {
    let table = new[destination]
    if property.isToOne {
      guard let column = table.columns.first(where: { $0.slot == property.slot && $0.role == .toOne }) else {
        return nil
      }
      if let slot = property.entityNumberSlot, let number = table.column(slot: slot) {
        completeNumbers(in: column.name, and: number.name, of: destination, for: relationship)
      }
      let order = table.orderColumns[property.slot]
      if let order {
        completePlaces(
          .assignPositions(table: table.table, owner: column.name, member: "Z_PK", place: order),
          from: pairs.inverseOrder)
      }
      return .ownerKey(column: column.name, place: pairs.inversePlace == nil ? nil : order)
    }
    switch table.toMany[property.slot] {
    case nil: return nil
    case .foreignKey(let key):
      if let number = key.entityColumn {
        complete(
          .takeEntityNumbers(table: key.table, key: key.column, number: number, target: table.table))
      }
      if let order = key.orderColumn {
        completePlaces(
          .assignPositions(table: key.table, owner: key.column, member: "Z_PK", place: order), from: pairs.order)
      }
      return .memberKey(column: key.column, place: pairs.place == nil ? nil : key.orderColumn)
    case .join(let end):
      if let order = end.orderColumn {
        completePlaces(
          .assignPositions(table: end.table, owner: end.ownColumn, member: end.memberColumn, place: order),
          from: pairs.order)
      }
      if let order = end.inverseOrderColumn, order != end.orderColumn {
        completePlaces(
          .assignPositions(table: end.table, owner: end.memberColumn, member: end.ownColumn, place: order),
          from: pairs.inverseOrder)
      }
      return .join(
        table: end.table, owner: end.ownColumn, member: end.memberColumn,
        place: pairs.place == nil ? nil : end.orderColumn,
        inversePlace: pairs.inversePlace == nil ? nil : end.inverseOrderColumn)
    }
  }

  private func end(_ step: CopyPlan.Step) -> PairCopy.End? {
    guard let source = step.source, let destination = step.destination else { return nil }
    return PairCopy.End(
      source: old[source].table, sourceNumber: source.root.hasSubentities ? old[source].number : nil,
      target: new[destination].table, targetNumber: new[destination].number, offset: step.offset,
      isComplete: step.isComplete)
  }

  private mutating func completeNumbers(
    in key: String, and number: String, of entity: Entity, for relationship: RelationshipDescription
  ) {
    complete(
      .takeEntityNumbers(
        table: new[entity].table, key: key, number: number,
        target: new[new.model.destination(of: relationship)].table))
  }

  /// Completes positions unless they all come from the same column: missing ones are assigned, and those from several
  /// relationships are renumbered.
  private mutating func completePlaces(_ change: SchemaChange, from places: [String]?) {
    let hasOtherSource = placeSources.contains { $0.change == change && $0.places != places }
    placeSources.append((change, places))
    if places == nil || hasOtherSource { complete(change) }
  }

  private mutating func complete(_ change: SchemaChange) {
    if !plan.completions.contains(change) { plan.completions.append(change) }
  }
}

extension PairSource {
  /// The position column with its table.
  fileprivate var order: [String]? { place.map { [table, $0] } }
  fileprivate var inverseOrder: [String]? { inversePlace.map { [table, $0] } }

  /// The same pairs from the members' perspective; members without an order take the owners' order.
  fileprivate var ofMembers: PairSource {
    PairSource(table: table, owner: member, member: owner, place: inversePlace ?? place, inversePlace: place)
  }
}
