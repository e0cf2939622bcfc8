extension ModelComparison {
  func operations(forRelationshipsOf entity: Entity) -> [MigrationOperation] {
    guard let source = source(of: entity) else { return [] }
    return entity.description.relationships.sorted(on: \.name).flatMap { relationship in
      let old = correspondence.origin(of: relationship.name, in: entity.name)?.source
        .flatMap { source.relationship(named: $0) }
      guard let old else { return [appearance(of: relationship, in: entity)] }
      return placement(of: old.name, in: source, to: relationship.name, in: entity, of: .relationship)
        + changes(from: old, to: relationship, in: entity)
    }
  }

  private func appearance(of relationship: RelationshipDescription, in entity: Entity) -> MigrationOperation {
    let heirs = new.hierarchy(of: entity).dropFirst().filter {
      correspondence.origin(of: relationship.name, in: $0.name)?.source != nil
    }
    return MigrationOperation(
      heirs.isEmpty ? .addRelationship : .moveRelationship, entity: entity.name, property: relationship.name,
      detail: heirs.isEmpty
        ? "\(relationship.isToMany ? "to many" : "to one") \(relationship.destination)"
        : "up from \(heirs.map(\.name).sorted().joined(separator: ", "))")
  }

  private func changes(
    from old: RelationshipDescription, to new: RelationshipDescription, in entity: Entity
  ) -> [MigrationOperation] {
    var found: [MigrationOperation] = []
    func add(_ kind: MigrationOperation.Kind, _ detail: String? = nil, way: MigrationWay, losesData: Bool = false) {
      found.append(
        MigrationOperation(
          kind, entity: entity.name, property: new.name, detail: detail, way: way, losesData: losesData))
    }
    let oldShape = RelationshipShape(old, in: self.old)
    let newShape = RelationshipShape(new, in: self.new)
    if let change = destinationChange(from: old, to: new) {
      add(.changeDestination, "\(old.destination) → \(new.destination)", way: .inPlace, losesData: change == .parted)
    } else if let oldInverse = old.inverse, let newInverse = new.inverse,
      correspondence.origin(of: newInverse, in: new.destination)?.source != oldInverse
    {
      add(.changeInverse, "\(oldInverse) → \(newInverse)", way: .inPlace)
      // Neither end takes precedence in the store, so nothing indicates which of them is right.
      if oldShape == .manyToMany || oldShape == .oneToOne, endsDisagree(new, in: entity) {
        found[found.count - 1].way = .impossible
        found[found.count - 1].obstacle = MigrationBlocker(
          entity: entity.name, property: new.name,
          what: "\(entity.name).\(new.name) had the inverse '\(oldInverse)' and now has '\(newInverse)', "
            + "which comes from another relationship.",
          fix: "Give '\(newInverse)' the renaming identifier '\(oldInverse)', or give the hop a mapping model.")
      }
    } else if (old.inverse == nil) != (new.inverse == nil) {
      add(.changeInverse, new.inverse ?? "none", way: oldShape == newShape ? .none : .inPlace)
    }
    if old.isToMany != new.isToMany {
      add(new.isToMany ? .makeToMany : .makeToOne, way: .inPlace)
    }
    if new.isToMany, old.isToMany, old.isOrdered != new.isOrdered {
      add(new.isOrdered ? .makeOrdered : .makeUnordered, way: .inPlace, losesData: old.isOrdered)
    }
    if !new.isToMany, old.isOptional != new.isOptional {
      add(
        new.isOptional ? .makeRelationshipOptional : .makeRelationshipRequired,
        way: new.isOptional ? .none : .inPlace)
    }
    if old.rules != new.rules { found.append(.rules(entity: entity.name, property: new.name)) }
    return found
  }

  enum DestinationChange {
    /// Within the hierarchy: references to objects of the new destination are kept.
    case related
    /// To an unrelated entity: no references can be kept.
    case parted
  }

  func destinationChange(
    from old: RelationshipDescription, to new: RelationshipDescription
  ) -> DestinationChange? {
    if correspondence.entities[new.destination] == old.destination { return nil }
    let oldDestination = self.old.destination(of: old)
    let kept = self.new.hierarchy(of: self.new.destination(of: new)).contains {
      source(of: $0)?.isKind(of: oldDestination) == true
    }
    return kept ? .related : .parted
  }
}

extension RelationshipDescription {
  /// The parts of the declaration that don't affect the store's schema.
  fileprivate var rules: RelationshipDescription {
    RelationshipDescription(
      name: "", destination: "", inverse: nil, minimumCount: isToMany ? minimumCount : 0,
      maximumCount: isToMany ? maximumCount : 0, isOptional: isToMany ? isOptional : true, isTransient: isTransient,
      deleteRule: deleteRule, versionHashModifier: versionHashModifier, userInfo: userInfo)
  }
}

/// The cardinality of a relationship's ends, which determines where its keys are stored.
enum RelationshipShape: Sendable, Equatable {
  /// To-one, and the inverse too: a column at each end.
  case oneToOne
  /// To-one, and the inverse to-many or none: a column at this end.
  case toOne
  /// To-many, and the inverse to-one or none: a column at the other end.
  case toMany
  /// To-many at both ends: a join table.
  case manyToMany

  init(_ relationship: RelationshipDescription, in model: ManagedObjectModel) {
    let inverse = model.inverse(of: relationship)
    self = switch (relationship.isToMany, inverse?.isToMany) {
    case (false, false?): .oneToOne
    case (false, _): .toOne
    case (true, true?): .manyToMany
    case (true, _): .toMany
    }
  }
}
