import Persist

/// The differences that can't be expanded, with the reasons.
extension ExpansionPlanner {
  static let movedRows = "Rows would have to be in two tables, or of two entities, at once."
  static let movedPairs = "Its references would have to be stored in two ways that don't always have the same content."
  static let renamedTable = "The table has another name, and programs with either model would have to find it."
  static let reusedName = "A name has one meaning in the old model and another in the new one."
  static let otherValues = "The same column would have to contain other values for each of the models."
  static let positions = "Programs with one of the models give no positions to the members."
  static let oneWay = "The old model's values can't be found from the new model's: the renames lead one way only."

  static let mapped = "A mapping model computes values, which isn't possible for each write."

  /// The reason for which an operation is refused; nil if its changes decide.
  static func reason(against operation: MigrationOperation) -> String? {
    switch operation.kind {
    case .changeParent, .changeAbstract, .moveAttribute, .moveRelationship:
      "Objects belong to another place in the hierarchy, where programs with one of the models don't expect them."
    case .changeAttributeType:
      "Both types would need a column of the same name, and not every value of one has an equal in the other."
    case .makeAttributeRequired, .makeRelationshipRequired: "Programs with the old model may store no value."
    case .makeAttributeOptional, .makeRelationshipOptional:
      "Programs with the new model may store no value where the old model requires one."
    case .changeExternalStorage, .changeTransformer: "The bytes of its values have another form."
    case .changeDerivation: "Its values would have to be computed in two ways."
    case .changeElements:
      "Programs with one of the models write the attribute as a whole, without the other's elements."
    case .changeDestination: "Objects of other entities could be references that one of the models doesn't allow."
    case .makeToMany: "An object could have several, and programs with the old model have room for one."
    case .makeToOne: "An object can have several, and programs with the new model have room for one."
    case .makeOrdered, .makeUnordered: positions
    default: nil
    }
  }

  /// Refuses entities whose objects only one of the models would know in a table that both have.
  mutating func examineEntities() {
    for entity in forward.planned.model.entities where forward.source(of: entity) == nil {
      if forward.source(of: entity.root) != nil {
        refuse(entity.name, nil, "Programs with the old model would find objects of an entity that they don't know.")
      }
    }
    for entity in backward.planned.model.entities where backward.source(of: entity) == nil {
      if backward.source(of: entity.root) != nil {
        refuse(entity.name, nil, "Programs with the new model would find objects of an entity that they don't know.")
      }
    }
    for entity in forward.planned.model.entities {
      guard let old = forward.source(of: entity) else { continue }
      let tables = (forward.map[old].table, forward.planned[entity].table)
      if tables.0.foldedIdentifier != tables.1.foldedIdentifier { refuse(entity.name, nil, Self.renamedTable) }
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
