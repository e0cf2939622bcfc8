/// The changes that a migration makes to the names of entities and properties, as far as a history follows them.
///
/// Old names without a new one were removed.
package struct PropertyRenames: Sendable, Equatable {
  /// The new names of entities by their old ones.
  package var entities: [String: String] = Dictionary()
  /// The new names of properties by the old names of entity and property.
  package var properties: [String: [String: String]] = Dictionary()
  /// Whether the migration transforms values, so that old ones have no meaning in the new model.
  package var transformsValues = false

  package init() {}

  /// No changes of a model's names.
  package static func unchanged(in model: ManagedObjectModel) -> PropertyRenames {
    var names = PropertyRenames()
    for entity in model.entities {
      names.entities[entity.name] = entity.name
      names.properties[entity.name] = Dictionary(uniqueKeysWithValues: entity.properties.map { ($0.name, $0.name) })
    }
    return names
  }

  /// The combined effect of this migration followed by another.
  package func followed(by next: PropertyRenames) -> PropertyRenames {
    var result = PropertyRenames()
    result.transformsValues = transformsValues || next.transformsValues
    for (old, middle) in entities {
      guard let new = next.entities[middle] else { continue }
      result.entities[old] = new
      result.properties[old] = (properties[old] ?? Dictionary()).compactMapValues { next.properties[middle]?[$0] }
    }
    return result
  }
}

/// The adaptation of a history's old values to another model, as data.
package struct OldValuesMove: Sendable {
  /// The rows of one entity.
  package struct EntityMove: Sendable {
    package let number: Int
    /// Nil for an entity that was removed.
    package let newNumber: Int?
    /// The new names of columns; columns without one were removed.
    package let columns: [String: String]
    /// The new columns that contain entity numbers.
    package let numberColumns: [String]
    /// The new columns of bytes whose mark changes.
    let marks: [String: MarkChange]
  }

  package let entities: [EntityMove]
  /// The new names of relationships whose members are kept; relationships without one were removed.
  let relationships: [String: String]

  /// The new numbers of entities by the old ones.
  var numbers: [Int: Int] {
    Dictionary(
      entities.compactMap { move in move.newNumber.map { (move.number, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  package init(from old: TableMap, to new: TableMap, renames: PropertyRenames) {
    let renames = renames.transformsValues ? PropertyRenames() : renames
    entities = old.tables.map { place in
      let renamed = renames.entities[place.entity.name].flatMap { new.model.entitiesByName[$0] }
      guard let renamed else {
        return EntityMove(
          number: place.number, newNumber: nil, columns: Dictionary(), numberColumns: [], marks: Dictionary())
      }
      var marks: [String: MarkChange] = Dictionary()
      var columns = [OldValuesLayout.versionColumn: OldValuesLayout.versionColumn]
      for column in place.columns {
        guard let name = renames.properties[place.entity.name]?[column.property],
          let property = renamed.property(named: name)
        else { continue }
        guard let target = Self.column(column, of: place.entity, in: new[renamed], as: property) else { continue }
        columns[column.name] = target.name
        guard case .attribute(let before) = column.role, case .attribute(let now) = target.role else { continue }
        let mark = MarkChange(from: before, to: now)
        if mark != .same { marks[target.name] = mark }
      }
      return EntityMove(
        number: place.number, newNumber: new[renamed].number, columns: columns,
        numberColumns: new[renamed].columns.filter { $0.role == .toOneEntity }.map(\.name), marks: marks)
    }
    var relationships: [String: String] = Dictionary()
    for entity in old.model.entities {
      for property in entity.ownProperties where property.isToMany {
        guard let owner = renames.entities[entity.name],
          let name = renames.properties[entity.name]?[property.name],
          let renamed = new.model.entitiesByName[owner]?.property(named: name), renamed.isToMany
        else { continue }
        relationships["\(entity.name).\(property.name)"] = "\(renamed.declaringEntity).\(name)"
      }
    }
    self.relationships = relationships
  }

  private init(entities: [EntityMove], relationships: [String: String]) {
    (self.entities, self.relationships) = (entities, relationships)
  }

  /// The adaptation of a history that also keeps old values of the new model's additional columns and relationships.
  func keeping(_ new: TableMap) -> OldValuesMove {
    let known = Dictionary(entities.map { ($0.newNumber ?? $0.number, $0) }, uniquingKeysWith: { first, _ in first })
    let kept = new.tables.map { place -> EntityMove in
      let own = known[place.number]
      var columns = own?.columns ?? [OldValuesLayout.versionColumn: OldValuesLayout.versionColumn]
      let moved = Set(columns.values)
      for name in place.columns.map(\.name) where !moved.contains(name) && columns[name] == nil {
        columns[name] = name
      }
      return EntityMove(
        number: own?.number ?? place.number, newNumber: place.number, columns: columns,
        numberColumns: own?.numberColumns ?? place.columns.filter { $0.role == .toOneEntity }.map(\.name),
        marks: own?.marks ?? Dictionary())
    }
    var relationships = relationships
    let moved = Set(relationships.values)
    for relationship in OldValuesLayout(new).relationships.map(\.name)
    where !moved.contains(relationship) && relationships[relationship] == nil {
      relationships[relationship] = relationship
    }
    return OldValuesMove(entities: entities.filter { $0.newNumber == nil } + kept, relationships: relationships)
  }

  /// The new column of the same part of a property.
  private static func column(
    _ column: TableMap.Column, of entity: Entity, in place: TableMap.EntityTable, as property: Property
  ) -> TableMap.Column? {
    let candidates = place.columns.filter { $0.property == property.name }
    switch column.role {
    case .toOne: return candidates.first { $0.role == .toOne }
    case .toOneEntity: return candidates.first { $0.role == .toOneEntity }
    case .attribute:
      guard let former = entity.property(named: column.property),
        let old = former.elements.first(where: { $0.slot == column.slot })
      else { return property.elements.isEmpty ? candidates.first : nil }
      let element = property.element(from: old, of: former)
      return element.flatMap { element in candidates.first { $0.slot == element.slot } }
    }
  }
}
