extension MappingModel {
  /// Infers a mapping model from two models: names and renaming identifiers determine the sources.
  ///
  /// It can be edited before it runs. Entity mappings are named `IEM_Copy_Name`, `IEM_Transform_Name`, `IEM_Add_Name`
  /// and `IEM_Remove_Name`, as in Core Data.
  ///
  /// - Throws: ``PersistenceError/Code/mappingNotInferable`` with every reason in ``PersistenceError/errors``;
  ///   ``PersistenceError/Code/mappingAmbiguous`` if a name has several possible sources, or several share one.
  public static func inferred(from old: ManagedObjectModel, to new: ManagedObjectModel) throws -> MappingModel {
    let comparison = try ModelComparison(from: old, to: new)
    let obstacles = comparison.operations.compactMap { $0.obstacle?.error }
    guard obstacles.isEmpty else {
      throw PersistenceError.combining(
        obstacles, as: .mappingNotInferable,
        "A mapping model can't be inferred, for \(obstacles.count) reasons.")
    }
    return MappingModel(inferredBy: comparison)
  }

  /// Infers a mapping model from two models, under Core Data's name; see ``inferred(from:to:)``.
  public static func inferredMappingModel(
    forSourceModel source: ManagedObjectModel, destinationModel: ManagedObjectModel
  ) throws -> MappingModel {
    try inferred(from: source, to: destinationModel)
  }

  init(inferredBy comparison: ModelComparison) {
    let inference = MappingInference(comparison)
    self.init("Inferred", entityMappings: inference.entityMappings)
  }
}

/// Converts the comparison of two models to entity mappings.
private struct MappingInference: ~Copyable {
  private let comparison: ModelComparison
  /// The new entities with objects, each with the old entity from which it comes.
  private let pairs: [(new: Entity, old: Entity)]

  init(_ comparison: ModelComparison) {
    self.comparison = comparison
    pairs = comparison.new.entities.compactMap { new in
      guard !new.isAbstract, let old = comparison.source(of: new) else { return nil }
      return (new, old)
    }
  }

  var entityMappings: [EntityMapping] {
    let sources = Set(pairs.map(\.old.name))
    let kept = comparison.new.entities.filter { !$0.isAbstract }.map { entity in
      comparison.source(of: entity).map { mapping(of: entity, from: $0) } ?? addition(of: entity)
    }
    let gone = comparison.old.entities.filter { !$0.isAbstract && !sources.contains($0.name) }.map { entity in
      var mapping = EntityMapping("IEM_Remove_\(entity.name)", from: entity.name, to: nil)
      mapping.sourceEntityVersionHash = entity.fingerprint.bytes
      return mapping
    }
    return kept + gone
  }

  private func addition(of entity: Entity) -> EntityMapping {
    var mapping = EntityMapping(
      "IEM_Add_\(entity.name)", from: nil, to: entity.name,
      attributes: entity.attributes.map { PropertyMapping($0.name, valueExpression: nil) },
      relationships: entity.relationships.map { PropertyMapping($0.name, valueExpression: nil) })
    mapping.destinationEntityVersionHash = entity.fingerprint.bytes
    return mapping
  }

  private func mapping(of entity: Entity, from source: Entity) -> EntityMapping {
    let isCopy = source.name == entity.name && source.fingerprint == entity.fingerprint
    var mapping = EntityMapping(
      Self.name(of: entity, isCopy: isCopy), from: source.name, to: entity.name, type: isCopy ? .copy : .transform,
      attributes: entity.attributes.map { attribute in
        PropertyMapping(attribute.name, valueExpression: expression(for: attribute, of: entity))
      },
      relationships: entity.relationships.map { relationship in
        PropertyMapping(relationship.name, valueExpression: expression(for: relationship, of: entity, from: source))
      })
    mapping.sourceExpression = .sourceObjects(of: source.name)
    mapping.sourceEntityVersionHash = source.fingerprint.bytes
    mapping.destinationEntityVersionHash = entity.fingerprint.bytes
    return mapping
  }

  private static func name(of entity: Entity, isCopy: Bool) -> String {
    "IEM_\(isCopy ? "Copy" : "Transform")_\(entity.name)"
  }

  private func name(of pair: (new: Entity, old: Entity)) -> String {
    Self.name(
      of: pair.new, isCopy: pair.old.name == pair.new.name && pair.old.fingerprint == pair.new.fingerprint)
  }

  /// The old value; if it is missing and the attribute has become required, the default.
  private func expression(for attribute: AttributeDescription, of entity: Entity) -> FetchExpression? {
    guard !attribute.isTransient, let origin = comparison.correspondence.origin(of: attribute.name, in: entity.name)
    else { return nil }
    guard let name = origin.source else {
      let fill = origin.fill ?? .null
      return fill == attribute.defaultValue ? nil : .constant(fill)
    }
    let value = FetchExpression.path(of: .variable(MappingVariable.source), [name])
    guard let fill = origin.fill else { return value }
    return .ternary(.compare(value, .equal, .constant(.null)), .constant(fill), value)
  }

  private func expression(
    for relationship: RelationshipDescription, of entity: Entity, from source: Entity
  ) -> FetchExpression? {
    guard let old = origin(of: relationship, in: entity) ?? orderedOrigin(of: relationship, in: entity, from: source)
    else { return nil }
    let members = FetchExpression.path(of: .variable(MappingVariable.source), [old.name])
    let (wanted, given) = (comparison.new.destination(of: relationship), comparison.old.destination(of: old))
    let targets = pairs.filter { $0.new.isKind(of: wanted) && $0.old.isKind(of: given) }
    guard let first = targets.first else { return nil }
    return targets.count == 1 && !given.hasSubentities
      ? .destinationInstances(ofMapping: self.name(of: first), for: members)
      : .destinationInstances(ofRelationship: old.name, for: members)
  }

  /// The old relationship from which a new one takes its members; nil if the inverse determines them.
  private func origin(
    of relationship: RelationshipDescription, in entity: Entity
  ) -> RelationshipDescription? {
    guard let old = comparison.oldRelationship(relationship, of: entity)?.relationship,
      comparison.leadingEnd(of: relationship, in: entity) != .inverse,
      comparison.destinationChange(from: old, to: relationship) != .parted
    else { return nil }
    return old
  }

  /// The old relationship whose order a new one without an origin inherits through its inverse.
  ///
  /// When a relationship moves down to several entities, each of them needs a separate inverse, and only one inverse
  /// can have the old name. The pairs of the others follow from the opposite end, but their order is known only here.
  private func orderedOrigin(
    of relationship: RelationshipDescription, in entity: Entity, from source: Entity
  ) -> RelationshipDescription? {
    guard relationship.isToMany, relationship.isOrdered, !relationship.isTransient,
      comparison.oldRelationship(relationship, of: entity) == nil,
      comparison.leadingEnd(of: relationship, in: entity) == .inverse,
      let inverse = comparison.new.inverse(of: relationship)
    else { return nil }
    let members = comparison.new.hierarchy(of: comparison.new.destination(of: relationship))
    let ends = members.compactMap { member in origin(of: inverse, in: member) }
    guard let end = ends.first, let old = comparison.old.inverse(of: end), old.isToMany, old.isOrdered,
      source.relationship(named: old.name) == old
    else { return nil }
    // Members whose inverse has another origin would gain pairs that they never had.
    let given = comparison.old.destination(of: old)
    let haveOneOrigin = members.allSatisfy { member in
      guard comparison.source(of: member)?.isKind(of: given) == true else { return true }
      return origin(of: inverse, in: member) == end
    }
    return haveOneOrigin ? old : nil
  }
}
