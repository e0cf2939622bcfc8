extension ModelCorrespondence {
  /// The parts of a correspondence that another one may add to.
  struct Parts: OptionSet {
    let rawValue: Int
    static let entities = Parts(rawValue: 1)
    static let attributes = Parts(rawValue: 2)
    static let relationships = Parts(rawValue: 4)
    static let all: Parts = [.entities, .attributes, .relationships]
  }

  /// Whether something is unmatched in both models, so that another way could match it.
  func hasOpenEnds(from old: ManagedObjectModel, to new: ManagedObjectModel) -> Bool {
    let sources = Set(entities.values)
    if new.entities.contains(where: { entities[$0.name] == nil }),
      old.entities.contains(where: { !sources.contains($0.name) })
    {
      return true
    }
    return new.entities.contains { entity in
      guard let source = entities[entity.name].flatMap({ old.entitiesByName[$0] }) else { return false }
      let (gone, added) = openProperties(of: entity, from: source)
      return gone.contains { name in
        let isAttribute = source.attribute(named: name) != nil
        return added.contains { (entity.attribute(named: $0) != nil) == isAttribute }
      }
    }
  }

  /// Adds what another correspondence of the same models matches, where both ends are unmatched in this one.
  ///
  /// An attribute isn't matched with one whose values it can't hold: it would make the migration impossible, where
  /// without the match it isn't.
  func completed(
    by other: ModelCorrespondence, from old: ManagedObjectModel, to new: ManagedObjectModel, parts: Parts = .all
  ) -> ModelCorrespondence {
    var whole = self
    if parts.contains(.entities) { whole.addEntities(of: other, from: old, to: new) }
    for entity in new.entities {
      guard let name = whole.entities[entity.name], other.entities[entity.name] == name,
        let source = old.entitiesByName[name]
      else { continue }
      var (gone, added) = whole.openProperties(of: entity, from: source)
      for property in added.sorted() {
        guard let origin = other.origin(of: property, in: entity.name)?.source, gone.contains(origin),
          let match = Self.match(property, of: entity, with: origin, of: source, parts)
        else { continue }
        whole.properties[entity.name]?[property] = match
        gone.remove(origin)
        added.remove(property)
      }
    }
    whole.adoptInverses(from: old, to: new)
    return whole
  }

  private mutating func addEntities(
    of other: ModelCorrespondence, from old: ManagedObjectModel, to new: ManagedObjectModel
  ) {
    var sources = Set(entities.values)
    for entity in new.entities where entities[entity.name] == nil {
      guard let name = other.entities[entity.name], let source = old.entitiesByName[name],
        let origins = try? Self.origins(of: entity, from: source), sources.insert(name).inserted
      else { continue }
      entities[entity.name] = name
      properties[entity.name] = origins
    }
  }

  private static func match(
    _ name: String, of entity: Entity, with oldName: String, of source: Entity, _ parts: Parts
  ) -> Origin? {
    if let attribute = entity.attribute(named: name), let old = source.attribute(named: oldName) {
      guard parts.contains(.attributes), AttributeConversion(from: old.type, to: attribute.type) != .refused else {
        return nil
      }
      return origin(of: attribute, from: old)
    }
    guard parts.contains(.relationships), entity.relationship(named: name) != nil,
      source.relationship(named: oldName) != nil
    else { return nil }
    return Origin(source: oldName, fill: nil)
  }

  /// The stored properties of an entity's old form that nothing comes from, and those of the new form that come from
  /// nothing.
  private func openProperties(of entity: Entity, from source: Entity) -> (gone: Set<String>, added: Set<String>) {
    let origins = properties[entity.name] ?? [:]
    let used = Set(origins.values.compactMap(\.source))
    func stored(_ entity: Entity) -> [String] {
      entity.properties.filter { $0.fetchedProperty == nil && !$0.isTransient }.map(\.name)
    }
    return (
      Set(stored(source).filter { !used.contains($0) }), Set(stored(entity).filter { origins[$0]?.source == nil })
    )
  }

  /// The correspondence of two models that are stored alike: everything comes from what has its name.
  init(storedAlike old: ManagedObjectModel, as new: ManagedObjectModel) {
    for entity in new.entities {
      guard let source = old.entitiesByName[entity.name] else { continue }
      entities[entity.name] = entity.name
      properties[entity.name] = [:]
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
