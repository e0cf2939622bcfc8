extension ModelCorrespondence {
  /// An entity or property of the new model that may be matched with one of the old model.
  struct Match: Hashable {
    let entity: String
    /// Nil for the entity itself. A property's match also applies to subentities.
    var property: String?
    /// Whether rejecting the match includes what the correspondence that is being completed already matches.
    var includesKnown = false
  }

  /// Whether both models have something unmatched that another correspondence could match.
  func hasOpenEnds(from old: ManagedObjectModel, to new: ManagedObjectModel) -> Bool {
    let sources = Set(entities.values)
    if new.entities.contains(where: { entities[$0.name] == nil }),
      old.entities.contains(where: { !sources.contains($0.name) })
    {
      return true
    }
    return new.entities.contains { entity in
      guard let source = entities[entity.name].flatMap({ old.entitiesByName[$0] }) else { return false }
      // Most entities have no new properties, and so no open end on this side.
      let origins = properties[entity.name] ?? Dictionary()
      if entity.properties.allSatisfy({ origins[$0.name]?.source != nil }) { return false }
      let (gone, added) = openProperties(of: entity, from: source)
      return gone.contains { name in
        let isAttribute = source.attribute(named: name) != nil
        return added.contains { (entity.attribute(named: $0) != nil) == isAttribute }
      }
    }
  }

  /// Adds the matches of another correspondence of the same models whose two ends are unmatched in this one.
  ///
  /// An attribute isn't matched with one whose values it can't represent: that would make the migration impossible,
  /// which it isn't without the match.
  ///
  /// - Parameter rejected: matches to leave out.
  func completed(
    by other: ModelCorrespondence, from old: ManagedObjectModel, to new: ManagedObjectModel,
    rejecting rejected: Set<Match> = []
  ) -> ModelCorrespondence {
    var whole = self
    whole.addEntities(of: other, from: old, to: new, rejecting: rejected)
    for entity in new.entities {
      guard let name = whole.entities[entity.name], other.entities[entity.name] == name,
        let source = old.entitiesByName[name]
      else { continue }
      var (gone, added) = whole.openProperties(of: entity, from: source)
      for property in added.sorted() where !Self.isRejected(property, of: entity, rejected) {
        guard let origin = other.origin(of: property, in: entity.name)?.source, gone.contains(origin),
          let match = Self.match(property, of: entity, with: origin, of: source)
        else { continue }
        whole.properties[entity.name]?[property] = match
        gone.remove(origin)
        added.remove(property)
      }
    }
    whole.adoptInverses(from: old, to: new)
    return rejected.isEmpty ? whole : whole.without(rejected, keeping: self, in: new)
  }

  /// The match that causes an obstacle, and that only this correspondence has, not the other one.
  ///
  /// - Parameters:
  ///   - obstacle: the obstacle of an operation between the two models.
  ///   - other: the correspondence from which this one was completed.
  /// - Returns: nil if the obstacle existed before completion. Matches known only from other versions take precedence
  ///   over those that the names of the two models imply.
  func match(
    causing obstacle: MigrationBlocker, beyond other: ModelCorrespondence, from old: ManagedObjectModel,
    to new: ManagedObjectModel
  ) -> Match? {
    guard let entity = obstacle.entity.flatMap({ new.entitiesByName[$0] }) else { return nil }
    guard let name = obstacle.property else {
      let suspects = [entity.name] + new.hierarchy(of: entity.root).map(\.name)
      return suspects.first { entities[$0] != other.entities[$0] }.map { Match(entity: $0) }
    }
    let own = Match(entity: entity.name, property: name)
    var added = [own]
    if let end = entity.relationship(named: name), let inverse = end.inverse {
      added.insert(Match(entity: end.destination, property: inverse), at: 0)
    }
    added = added.filter { addsSource(of: $0, beyond: other, in: new) }
    return added.first { !followsFromNames($0, from: old, to: new) } ?? added.last
  }

  /// The match of a relationship that causes an obstacle although the other correspondence has it too.
  ///
  /// There it causes none if the relationship is inherited from an unmatched entity, or leads to one.
  ///
  /// - Parameters:
  ///   - obstacle: the obstacle of an operation between the two models.
  ///   - other: the correspondence from which this one was completed.
  /// - Returns: nil if this correspondence adds no entity. Only an entity's rows take precedence over a known match.
  func knownMatch(
    causing obstacle: MigrationBlocker, beyond other: ModelCorrespondence, from old: ManagedObjectModel,
    to new: ManagedObjectModel
  ) -> Match? {
    guard entities != other.entities, let entity = obstacle.entity.flatMap({ new.entitiesByName[$0] }),
      let name = obstacle.property, entity.relationship(named: name) != nil,
      var match = match(causing: obstacle, beyond: ModelCorrespondence(), from: old, to: new)
    else { return nil }
    match.includesKnown = true
    return match
  }

  /// Returns the correspondence with the new model's own defaults in place of those of versions in between.
  func filling(from old: ManagedObjectModel, to new: ManagedObjectModel) -> ModelCorrespondence {
    var whole = self
    for entity in new.entities {
      guard let source = entities[entity.name].flatMap({ old.entitiesByName[$0] }) else { continue }
      for attribute in entity.attributes {
        let name = origin(of: attribute.name, in: entity.name)?.source
        whole.properties[entity.name]?[attribute.name] = Self.origin(
          of: attribute, from: name.flatMap { source.attribute(named: $0) })
      }
    }
    return whole
  }

  /// Whether all entities and properties that another correspondence of the same models keeps have a place in this one.
  func keeps(_ other: ModelCorrespondence) -> Bool {
    other.origins.isSubset(of: origins)
  }

  /// The old entities and properties from which something comes.
  private var origins: Set<[String]> {
    var origins: Set<[String]> = []
    for (new, old) in entities {
      origins.insert([old])
      for case let source? in (properties[new] ?? Dictionary()).values.map(\.source) { origins.insert([old, source]) }
    }
    return origins
  }

  /// Returns this correspondence with another one's sources of attributes in a hierarchy, if both match its entities
  /// alike.
  func adoptingAttributes(of hierarchy: ArraySlice<Entity>, from other: ModelCorrespondence) -> ModelCorrespondence {
    guard hierarchy.allSatisfy({ entities[$0.name] == other.entities[$0.name] }) else { return self }
    var whole = self
    for entity in hierarchy {
      for attribute in entity.attributes {
        guard let origin = other.origin(of: attribute.name, in: entity.name) else { continue }
        whole.properties[entity.name]?[attribute.name] = origin
      }
    }
    return whole
  }

  private func addsSource(of match: Match, beyond other: ModelCorrespondence, in new: ManagedObjectModel) -> Bool {
    guard let property = match.property, let entity = new.entitiesByName[match.entity] else { return false }
    return new.hierarchy(of: entity).contains { heir in
      let source = origin(of: property, in: heir.name)?.source
      return source != nil && source != other.origin(of: property, in: heir.name)?.source
    }
  }

  private func followsFromNames(_ match: Match, from old: ManagedObjectModel, to new: ManagedObjectModel) -> Bool {
    guard let property = match.property, let entity = new.entitiesByName[match.entity],
      let source = entities[entity.name].flatMap({ old.entitiesByName[$0] })
    else { return false }
    let named = (try? origins(of: entity, in: new, from: source, in: old))?[property]?.source
    return named != nil && named == origin(of: property, in: entity.name)?.source
  }

  private static func isRejected(_ property: String, of entity: Entity, _ rejected: Set<Match>) -> Bool {
    guard !rejected.isEmpty else { return false }
    var line: Entity? = entity
    while let next = line {
      if rejected.contains(where: { $0.entity == next.name && $0.property == property }) { return true }
      line = next.superentity
    }
    return false
  }

  /// Returns this correspondence without the rejected matches of properties. A match that `kept` has too remains,
  /// unless its rejection includes known matches.
  private func without(
    _ rejected: Set<Match>, keeping kept: ModelCorrespondence, in new: ManagedObjectModel
  ) -> ModelCorrespondence {
    var rest = self
    let whole = rejected.filter(\.includesKnown)
    for entity in new.entities {
      for property in entity.properties where Self.isRejected(property.name, of: entity, rejected) {
        guard
          Self.isRejected(property.name, of: entity, whole)
            || rest.origin(of: property.name, in: entity.name) != kept.origin(of: property.name, in: entity.name)
        else { continue }
        let attribute = entity.attribute(named: property.name)
        rest.properties[entity.name]?[property.name] = attribute.map { Self.origin(of: $0, from: nil) }
          ?? Origin(source: nil, fill: nil)
      }
    }
    return rest
  }

  private mutating func addEntities(
    of other: ModelCorrespondence, from old: ManagedObjectModel, to new: ManagedObjectModel,
    rejecting rejected: Set<Match>
  ) {
    var sources = Set(entities.values)
    for entity in new.entities where entities[entity.name] == nil && !rejected.contains(Match(entity: entity.name)) {
      guard let name = other.entities[entity.name], let source = old.entitiesByName[name],
        let origins = try? other.origins(of: entity, in: new, from: source, in: old), sources.insert(name).inserted
      else { continue }
      entities[entity.name] = name
      properties[entity.name] = origins
    }
  }

  private static func match(
    _ name: String, of entity: Entity, with oldName: String, of source: Entity
  ) -> Origin? {
    if let attribute = entity.attribute(named: name), let old = source.attribute(named: oldName) {
      guard AttributeConversion(from: old.type, to: attribute.type) != .refused else { return nil }
      return origin(of: attribute, from: old)
    }
    guard entity.relationship(named: name) != nil, source.relationship(named: oldName) != nil else { return nil }
    return Origin(source: oldName, fill: nil)
  }

  /// The stored properties of the old entity that nothing comes from, and those of the new entity that come from
  /// nothing.
  private func openProperties(of entity: Entity, from source: Entity) -> (gone: Set<String>, added: Set<String>) {
    let origins = properties[entity.name] ?? Dictionary()
    let used = Set(origins.values.compactMap(\.source))
    func stored(_ entity: Entity) -> [String] {
      entity.properties.filter { $0.fetchedProperty == nil && !$0.isTransient }.map(\.name)
    }
    return (
      Set(stored(source).filter { !used.contains($0) }), Set(stored(entity).filter { origins[$0]?.source == nil })
    )
  }

  /// Creates the correspondence of two models with the same storage: everything comes from its namesake.
  init(storedAlike old: ManagedObjectModel, as new: ManagedObjectModel) {
    for entity in new.entities {
      guard let source = old.entitiesByName[entity.name] else { continue }
      entities[entity.name] = entity.name
      properties[entity.name] = Dictionary()
      for attribute in entity.attributes {
        properties[entity.name]?[attribute.name] = Self.origin(
          of: attribute, from: source.attribute(named: attribute.name))
      }
      for relationship in entity.relationships {
        properties[entity.name]?[relationship.name] = Origin(
          source: source.relationship(named: relationship.name)?.name, fill: nil)
      }
    }
  }
}
