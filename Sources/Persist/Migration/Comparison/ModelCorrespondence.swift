/// The old entities and properties from which those of a new model come.
///
/// Pure, composable data: the renames across several versions are the composition of the correspondences of adjacent
/// versions.
package struct ModelCorrespondence: Sendable, Equatable {
  /// The source of a property's values.
  package struct Origin: Sendable, Hashable {
    /// The old property's name; nil for a new property.
    package var source: String?
    /// The replacement for a missing value: the default, for a new attribute and for one that becomes required.
    package var fill: StoredValue?
  }

  /// The old names of entities by their new names; new entities are missing.
  package var entities: [String: String] = Dictionary()
  /// By the new names of entity and property, including inherited properties; only for entities that have an old name.
  var properties: [String: [String: Origin]] = Dictionary()

  @inline(never)
  package func origin(of property: String, in entity: String) -> Origin? { properties[entity]?[property] }

  /// The new name of an old entity; nil if it is removed.
  @inline(never)
  package func newName(ofEntity old: String) -> String? {
    // Most entities keep their names.
    entities[old] == old ? old : entities.first { $0.value == old }?.key
  }

  /// The new name of an old entity's property; nil if it is removed.
  @inline(never)
  func newName(of property: String, inOldEntity entity: String) -> String? {
    guard let new = newName(ofEntity: entity), let origins = properties[new] else { return nil }
    // Most properties keep their names.
    if origins[property]?.source == property { return property }
    return origins.filter { $0.value.source == property }.keys.min()
  }
}

extension ModelCorrespondence {
  /// Matches two models by renaming identifiers and names.
  ///
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name has several possible sources, or several share one.
  package init(from old: ManagedObjectModel, to new: ManagedObjectModel) throws {
    entities = try Self.matchEntities(old, new)
    for entity in new.entities {
      guard let source = entities[entity.name].flatMap({ old.entitiesByName[$0] }) else { continue }
      properties[entity.name] = try origins(of: entity, in: new, from: source, in: old)
    }
    adoptInverses(from: old, to: new)
  }

  private static func matchEntities(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> [String: String] {
    do {
      return try NameMatching.match(
        old: old.entities.map { .init($0.name, identifier: $0.description.renamingIdentifier) },
        new: new.entities.map { .init($0.name, identifier: $0.description.renamingIdentifier) })
    } catch {
      throw PersistenceError(
        .mappingAmbiguous, at: .entity(error.new.sorted().joined(separator: ", ")),
        error.sentence("entities", whole: "the new model"),
        fix: "Keep the renaming identifier '\(error.identifier)' on one of them.")
    }
  }

  /// The origins of an entity's properties in an old entity; the entities that declare them must be matched.
  func origins(
    of new: Entity, in newModel: ManagedObjectModel, from old: Entity, in oldModel: ManagedObjectModel
  ) throws -> [String: Origin] {
    let heirs = (old: oldModel.hierarchy(of: old).dropFirst(), new: newModel.hierarchy(of: new).dropFirst())
    let attributes = try match("attributes", of: new, from: old, heirs) { entity in
      entity.attributes.map { .init($0.name, identifier: $0.renamingIdentifier) }
    }
    let relationships = try match("relationships", of: new, from: old, heirs) { entity in
      entity.relationships.map { .init($0.name, identifier: $0.renamingIdentifier) }
    }
    var origins: [String: Origin] = Dictionary(minimumCapacity: new.properties.count)
    for attribute in new.attributes {
      let source = attributes[attribute.name].flatMap { old.attribute(named: $0) }
      origins[attribute.name] = Self.origin(of: attribute, from: source)
    }
    for relationship in new.relationships {
      origins[relationship.name] = Origin(source: relationships[relationship.name], fill: nil)
    }
    return origins
  }

  static func origin(of new: AttributeDescription, from old: AttributeDescription?) -> Origin {
    let fill: StoredValue? = new.isDerived || new.isTransient || new.defaultValue.isNull
      ? nil : new.defaultValue
    guard let old, !old.isTransient, !new.isTransient, !new.isDerived || old.isDerived else {
      return Origin(source: nil, fill: fill)
    }
    return Origin(source: old.name, fill: old.isOptional && !new.isOptional ? fill : nil)
  }

  private func match(
    _ kind: String, of entity: Entity, from source: Entity, _ heirs: (old: ArraySlice<Entity>, new: ArraySlice<Entity>),
    by names: (Entity) -> [NameMatching.Name]
  ) throws -> [String: String] {
    func added(by heirs: ArraySlice<Entity>, to entity: Entity) -> [NameMatching.Name] {
      heirs.flatMap { names($0).filter { entity.slot(named: $0.name) == nil } }
    }
    do {
      return try NameMatching.match(
        old: names(source), new: names(entity),
        below: (added(by: heirs.old, to: source), added(by: heirs.new, to: entity))
      ) { old, new in
        func owners(_ name: String) -> (old: String?, new: String?) {
          (source.property(named: name)?.declaringEntity, entity.property(named: name)?.declaringEntity)
        }
        func stays(_ owners: (old: String?, new: String?)) -> Bool {
          owners.old != nil && owners.new.flatMap { entities[$0] } == owners.old
        }
        let (first, second) = (owners(old), owners(new))
        return stays(first) && first.new != second.new || stays(second) && first.old != second.old
      }
    } catch {
      throw PersistenceError(
        .mappingAmbiguous, at: .property(entity.name, error.new.sorted().joined(separator: ", ")),
        error.sentence(kind, whole: entity.name),
        fix: "Keep the renaming identifier '\(error.identifier)' on one of them.")
    }
  }

  /// Derives the source of relationships that have none from their inverses' sources: the two sides are one
  /// relationship, for which one renaming identifier is enough.
  mutating func adoptInverses(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    for entity in new.entities {
      for relationship in entity.relationships where properties[entity.name]?[relationship.name]?.source == nil {
        guard let inverse = new.inverse(of: relationship), let oldEntity = entities[entity.name],
          let oldInverseName = properties[relationship.destination]?[inverse.name]?.source,
          let oldInverse = entities[relationship.destination]
            .flatMap({ old.entitiesByName[$0] })?.relationship(named: oldInverseName),
          let source = old.inverse(of: oldInverse),
          old.entitiesByName[oldEntity]?.relationship(named: source.name) == source,
          newName(of: source.name, inOldEntity: oldEntity) == nil
        else { continue }
        properties[entity.name]?[relationship.name]?.source = source.name
      }
    }
  }
}

extension NameMatching.Ambiguity {
  func sentence(_ kind: String, whole: String) -> String {
    if new.count > 1 {
      let names = new.sorted().joined(separator: ", ")
      return "\(new.count) \(kind) of \(whole) take their values from '\(old.first ?? identifier)': \(names)."
    }
    let names = old.sorted().map { "'\($0)'" }.joined(separator: " or ")
    return "'\(new.first ?? identifier)' of \(whole) can take its values from \(names), both known as '\(identifier)'."
  }
}

extension ModelCorrespondence {
  /// Composes this correspondence with `next`: from this one's old model to the next one's new model.
  ///
  /// A default that an attribute gets in the first correspondence is kept; properties that the version in between lacks
  /// have no source.
  package func followed(by next: ModelCorrespondence) -> ModelCorrespondence {
    var whole = ModelCorrespondence()
    for (newest, middle) in next.entities {
      guard let oldest = entities[middle] else { continue }
      whole.entities[newest] = oldest
      whole.properties[newest] = next.properties[newest]?.mapValues { origin in
        guard let property = origin.source, let before = properties[middle]?[property] else {
          return Origin(source: nil, fill: origin.fill)
        }
        return Origin(source: before.source, fill: before.fill ?? origin.fill)
      }
    }
    return whole
  }
}
