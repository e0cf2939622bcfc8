import Persist

/// The differences that can't be expanded, with the reasons.
extension ExpansionPlanner {
  static let movedRows = "Rows would have to be in two tables, or of two entities, at once."
  static let movedPairs = "Its references would have to be stored in two ways that don't always have the same content."
  static let otherPlace =
    "Objects belong to another place in the hierarchy, where programs with one of the models don't expect them."
  static let reusedName = "A name has one meaning in the old model and another in the new one."
  static let otherValues = "The same column would have to contain other values for each of the models."
  static let positions = "Programs with one of the models give no positions to the members."
  static let oneWay = "The old model's values can't be found from the new model's: the renames lead one way only."

  static let mapped = "A mapping model computes values, which isn't possible for each write."

  /// The reason for which an operation is refused; nil if its changes decide.
  func reason(against operation: MigrationOperation) -> String? {
    let attributes = attributes(of: operation)
    switch operation.kind {
    case .changeParent: return keepsPlace(operation.entity) ? nil : Self.otherPlace
    case .changeAbstract: return Self.otherPlace
    case .changeAttributeType: return attributes.flatMap { Self.reason(against: $0.old.type, $0.new.type) }
    case .makeAttributeRequired:
      return attributes.map { $0.new.isDerived || !$0.new.defaultValue.isNull } == true
        ? nil : "Programs with the old model may store no value, and the new model has no default."
    case .makeAttributeOptional:
      return attributes.map { $0.old.isDerived || !$0.old.defaultValue.isNull } == true
        ? nil : "Programs with the new model may store no value where the old model requires one, and has no default."
    case .makeRelationshipRequired: return "Programs with the old model may store no object."
    case .makeRelationshipOptional:
      return "Programs with the new model may store no object where the old model requires one."
    case .changeTransformer: return "The bytes of its values have another form."
    case .changeDerivation:
      return attributes.map { $0.old.isDerived && $0.new.isDerived } == true
        ? nil : "Programs with one of the models assign its values, and the server computes those of the other."
    case .changeElements:
      return "Programs with one of the models write the attribute as a whole, without the other's elements."
    case .changeDestination:
      return "Objects of other entities could be references that one of the models doesn't allow."
    case .makeToOne: return "Programs with the old model may give an object several."
    default: return nil
    }
  }

  private static func reason(against old: AttributeType, _ new: AttributeType) -> String? {
    switch AttributeConversion(from: old, to: new) {
    case _ where (old, new) == (.float, .double): "Most values of the new type have no equal in the old one."
    case .same, .exact: nil
    case .exactWithin: "Programs with the old model may store values that have no equal in the new type."
    case .refused: "Not every value of the old type has an equal in the new one."
    }
  }

  /// The old and the new form of an operation's attribute.
  private func attributes(
    of operation: MigrationOperation
  ) -> (old: AttributeDescription, new: AttributeDescription)? {
    guard let entity = forward.planned.model.entitiesByName[operation.entity],
      let name = operation.property, let new = entity.attribute(named: name),
      let source = forward.correspondence.origin(of: name, in: entity.name)?.source,
      let old = forward.source(of: entity)?.attribute(named: source)
    else { return nil }
    return (old, new)
  }

  /// Whether an entity has the same ancestors in both models, apart from abstract ones that one of them lacks.
  private func keepsPlace(_ name: String?) -> Bool {
    guard let entity = name.flatMap({ forward.planned.model.entitiesByName[$0] }), let old = forward.source(of: entity)
    else { return false }
    func ancestors(_ entity: Entity) -> [Entity] { Array(sequence(first: entity) { $0.superentity }.dropFirst()) }
    let present = ancestors(entity).map { (entity: $0, name: forward.source(of: $0)?.name) }
    let former = ancestors(old).map { (entity: $0, isKept: forward.correspondence.newName(ofEntity: $0.name) != nil) }
    return present.allSatisfy { $0.name != nil || $0.entity.isAbstract }
      && former.allSatisfy { $0.isKept || $0.entity.isAbstract }
      && present.compactMap(\.name) == former.filter(\.isKept).map(\.entity.name)
  }

  /// Refuses entities whose objects only one of the models would know in a table that both have.
  mutating func examineEntities() {
    for entity in forward.planned.model.entities where forward.source(of: entity) == nil && !entity.isAbstract {
      if forward.source(of: entity.root) != nil {
        refuse(entity.name, nil, "Programs with the old model would find objects of an entity that they don't know.")
      }
    }
    for entity in backward.planned.model.entities where backward.source(of: entity) == nil && !entity.isAbstract {
      if backward.source(of: entity.root) != nil {
        refuse(entity.name, nil, "Programs with the new model would find objects of an entity that they don't know.")
      }
    }
    for entity in forward.planned.model.entities {
      guard let old = forward.source(of: entity) else { continue }
      let tables = (forward.map[old].table, forward.planned[entity].table)
      if tables.0.foldedIdentifier == tables.1.foldedIdentifier { continue }
      if forward.source(of: entity.root)?.name == old.root.name {
        collide(.table(rule: tables.1, actual: tables.0))
      } else {
        refuse(entity.name, nil, Self.movedRows)
      }
    }
  }

  /// Refuses properties that one of the models requires and the other's programs can't give a value.
  mutating func requireValues() {
    requireValues(forward, "Programs with the old model give it no value, and it has no default.")
    requireValues(
      backward,
      "Programs with the new model give it no value, the old model requires one, and it has no default.")
  }

  private mutating func requireValues(_ survey: OnlineSurvey, _ reason: String) {
    for entity in survey.planned.model.entities where !entity.isAbstract && survey.source(of: entity) != nil {
      for property in entity.properties where !property.isTransient {
        let origin = survey.correspondence.origin(of: property.name, in: entity.name)
        guard origin?.source == nil, origin?.fill == nil else { continue }
        if let attribute = property.attribute, !attribute.isOptional, !attribute.isDerived {
          refuse(entity.name, property.name, reason)
        } else if let relationship = property.relationship, !relationship.isToMany, !relationship.isOptional {
          refuse(entity.name, property.name, reason)
        }
      }
    }
  }
}
