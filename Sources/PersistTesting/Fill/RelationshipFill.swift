import Persist
import PersistTools

/// A relationship and its inverse, seen from one of the sides, with the entities that participate.
struct RelationshipPair {
  /// A side: its objects' relationship and concrete entities.
  struct Side {
    /// The relationship; nil for the far side of a relationship without an inverse.
    let relationship: RelationshipDescription?
    let declaringEntity: String
    /// The indexes of concrete entities in ``ManagedObjectModel/entities``.
    let entities: [Int]

    var isToMany: Bool { relationship?.isToMany ?? true }
    /// The minimum number of related objects for each object: the minimum count, even if the relationship is optional
    /// and could be empty, and at least one for every required relationship.
    var minimum: Int {
      guard let relationship else { return 0 }
      return max(relationship.isToMany ? relationship.minimumCount : 0, relationship.isOptional ? 0 : 1)
    }
    /// The maximum number of related objects for each object.
    var maximum: Int {
      guard let relationship, relationship.maximumCount > 0 else { return .max }
      return relationship.maximumCount
    }
    /// Whether the minimum is mandatory. A required to-many without a minimum count may be empty.
    var isRequired: Bool {
      guard let relationship else { return false }
      return relationship.isToMany ? relationship.minimumCount > 0 : !relationship.isOptional
    }
    var isOrdered: Bool { relationship?.isOrdered ?? false }
  }

  let near: Side
  let far: Side
  /// Whether the relationship is its own inverse, such as "friends".
  let isOwnInverse: Bool
  /// The maximum number of near objects for one far object: one if near objects are unique only by this relationship.
  let farLimit: Int

  /// Returns each pair of a model once. If one side is to-one, it is the near side, which has the relationship's
  /// column.
  static func pairs(of model: ManagedObjectModel) -> [RelationshipPair] {
    var seen: Set<[String]> = []
    var pairs: [RelationshipPair] = []
    for entity in model.entities {
      for relationship in entity.description.relationships.sorted(by: { $0.name < $1.name })
      where !relationship.isTransient && seen.insert([entity.name, relationship.name]).inserted {
        guard let destination = model.entitiesByName[relationship.destination] else { continue }
        let inverseProperty = relationship.inverse.flatMap { destination.property(named: $0) }
        let inverse = inverseProperty?.relationship
        let back = inverse.flatMap { model.entitiesByName[$0.destination] }
        let inverseOwner = inverseProperty.flatMap { model.entitiesByName[$0.declaringEntity] }
        if let inverse, let inverseOwner { seen.insert([inverseOwner.name, inverse.name]) }
        let near = Side(
          relationship: relationship, declaringEntity: entity.name,
          entities: concrete(in: model, entity, and: back))
        let far = Side(
          relationship: inverse, declaringEntity: inverseOwner?.name ?? destination.name,
          entities: concrete(in: model, destination, and: inverseOwner))
        let isOwnInverse = inverse?.name == relationship.name && inverseOwner == entity
        let swaps = near.isToMany && inverse != nil && !far.isToMany
        let (first, second) = swaps ? (far, near) : (near, far)
        let isUnique = first.entities.contains {
          UniqueAttributes.uniqueRelationships(of: model.entities[$0]).contains(first.relationship?.name ?? "")
        }
        pairs.append(
          RelationshipPair(
            near: first, far: second, isOwnInverse: isOwnInverse, farLimit: isUnique ? 1 : second.maximum))
      }
    }
    return pairs
  }

  private static func concrete(in model: ManagedObjectModel, _ entity: Entity, and other: Entity?) -> [Int] {
    model.hierarchy(of: entity).filter { !$0.isAbstract && (other.map($0.isKind(of:)) ?? true) }.map(\.index)
  }
}

/// Joins the objects of one slice by a relationship and satisfies its rules on both sides.
struct RelationshipFill {
  let pair: RelationshipPair

  /// Returns the joins as numbers of near and far objects, in the order in which they were created.
  func joins(
    near nearCount: Int, far farCount: Int, using generator: inout SeededGenerator
  ) throws -> [(near: Int, far: Int)] {
    let near = pair.near
    let far = pair.far
    if near.isRequired, nearCount > 0, farCount == 0 { throw impossible(near) }
    if far.isRequired, farCount > 0, nearCount == 0 { throw impossible(far) }
    guard nearCount > 0, farCount > 0 else { return [] }
    switch (near.isToMany, far.isToMany) {
    case (false, false): return try oneToOne(nearCount: nearCount, farCount: farCount, by: &generator)
    case (false, true): return try manyToOne(nearCount: nearCount, farCount: farCount, by: &generator)
    case (true, _): return try manyToMany(nearCount: nearCount, farCount: farCount, by: &generator)
    }
  }

  private func impossible(_ side: RelationshipPair.Side) -> PersistenceError {
    let name = side.relationship?.name ?? ""
    return PersistenceError(
      .invalidRequest, at: .property(side.declaringEntity, name),
      "\(side.declaringEntity).\(name) can't be filled: there aren't enough others for its minimum count of "
        + "\(side.minimum).",
      fix: "Make the relationship optional, lower its minimum count, or request other numbers of objects.")
  }

  private func oneToOne(
    nearCount: Int, farCount: Int, by generator: inout SeededGenerator
  ) throws -> [(near: Int, far: Int)] {
    if pair.isOwnInverse {
      let order = generator.shuffled(Array(0..<nearCount))
      if pair.near.isRequired, nearCount % 2 == 1 { throw impossible(pair.near) }
      return stride(from: 0, to: nearCount - 1, by: 2).map { (order[$0], order[$0 + 1]) }
    }
    if pair.near.isRequired, nearCount > farCount { throw impossible(pair.near) }
    if pair.far.isRequired, farCount > nearCount { throw impossible(pair.far) }
    let nears = generator.shuffled(Array(0..<nearCount))
    // Within one entity, each object is joined to the next, so that no object is joined to itself if there are others.
    let fars = pair.near.entities == pair.far.entities
      ? Array(nears.dropFirst()) + nears.prefix(1) : generator.shuffled(Array(0..<farCount))
    return Array(zip(nears, fars)).map { (near: $0, far: $1) }
  }

  private func manyToOne(
    nearCount: Int, farCount: Int, by generator: inout SeededGenerator
  ) throws -> [(near: Int, far: Int)] {
    let far = pair.far
    var joins: [(near: Int, far: Int)] = []
    var counts = [Int](repeating: 0, count: farCount)
    var rest = generator.shuffled(Array(0..<nearCount))
    // Far objects with a minimum are served first; those without may have none.
    for target in generator.shuffled(Array(0..<farCount)) where far.minimum > 0 {
      guard rest.count >= far.minimum else {
        if far.isRequired { throw impossible(far) }
        break
      }
      for _ in 0..<far.minimum { joins.append((rest.removeLast(), target)) }
      counts[target] = far.minimum
    }
    for owner in rest {
      if !pair.near.isRequired, generator.oneIn(8) { continue }
      // Within one entity, such as for a parent, each object is joined to an earlier one: a tree without cycles.
      let isTree = pair.near.entities == far.entities && far.minimum == 0
      let choices = isTree ? (pair.near.isRequired ? max(1, owner) : owner) : farCount
      let start = generator.below(choices)
      let target = (0..<choices).lazy.map { (start + $0) % choices }
        .first { counts[$0] < pair.farLimit && counts[$0] >= far.minimum }
      guard let target else {
        if pair.near.isRequired { throw impossible(pair.near) }
        continue
      }
      counts[target] += 1
      joins.append((owner, target))
    }
    return joins
  }

  private func manyToMany(
    nearCount: Int, farCount: Int, by generator: inout SeededGenerator
  ) throws -> [(near: Int, far: Int)] {
    var draft = ManyToManyDraft(pair: pair, nearCount: nearCount, farCount: farCount)
    let nears = generator.shuffled(Array(0..<nearCount))
    let fars = generator.shuffled(Array(0..<farCount))
    for near in nears {
      draft.reach(pair.near.minimum, near: near, candidates: fars, startingAt: generator.below(farCount))
      if pair.near.isRequired, draft.nearCounts[near] < pair.near.minimum { throw impossible(pair.near) }
    }
    for far in fars where !pair.isOwnInverse {
      draft.reach(pair.far.minimum, far: far, candidates: nears, startingAt: generator.below(nearCount))
      if pair.far.isRequired, draft.farCounts[far] < pair.far.minimum { throw impossible(pair.far) }
    }
    // Adds a few random joins, but only if both sides have reached their minimum.
    for near in nears {
      for _ in 0..<generator.below(4) {
        let far = generator.below(farCount)
        guard draft.nearCounts[near] >= pair.near.minimum, draft.farCounts[far] >= pair.far.minimum else { continue }
        draft.join(near, far)
      }
    }
    return draft.joins
  }
}
