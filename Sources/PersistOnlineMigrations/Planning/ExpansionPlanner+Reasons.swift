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

  static let severalOwners =
    "Each of the objects has the key of its owner, of which the new model's owner could refer to one only."
  static let mapped = "Mapping models lead there through other versions, which isn't possible for each write."

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
    case .changeTransformer: return "The bytes of its values have another form."
    case .changeDerivation:
      return attributes.map { $0.old.isDerived && $0.new.isDerived } == true
        ? nil : "Programs with one of the models assign its values, and the server computes those of the other."
    case .changeDestination:
      return "Objects of other entities could be references that one of the models doesn't allow."
    default: return nil
    }
  }

  static func reason(against old: AttributeType, _ new: AttributeType) -> String? {
    switch AttributeConversion(from: old, to: new) {
    case _ where (old, new) == (.float, .double): "Most values of the new type have no equal in the old one."
    case .same, .exact: nil
    case .exactWithin: "Programs with the old model may store values that have no equal in the new type."
    case .refused: "Not every value of the old type has an equal in the new one."
    }
  }

  /// The old and the new form of an operation's attribute.
  func attributes(
    of operation: MigrationOperation
  ) -> (old: AttributeDescription, new: AttributeDescription)? {
    guard let entity = forward.planned.model.entitiesByName[operation.entity],
      let name = operation.property, let new = entity.attribute(named: name),
      let source = forward.correspondence.origin(of: name, in: entity.name)?.source,
      let old = forward.source(of: entity)?.attribute(named: source)
    else { return nil }
    return (old, new)
  }
}
