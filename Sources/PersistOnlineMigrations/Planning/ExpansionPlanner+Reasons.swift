import Persist

/// The differences that can't be expanded, with the reasons.
extension ExpansionPlanner {
  static let movedRows = RefusalReason(
    "Rows would have to be in two tables, or of two entities, at once.",
    "Add an entity in the new place beside the old one, let programs copy the objects, and remove the old one later")
  static let movedPairs = RefusalReason(
    "Its references would have to be stored in two ways that don't always have the same content.",
    "Add a relationship under another name beside this one, and remove this one in a later version")
  static let otherPlace = RefusalReason(
    "Objects belong to another place in the hierarchy, where programs with one of the models don't expect them.",
    "Add an entity in the new place beside the old one, let programs copy the objects, and remove the old one later")
  static let becomesConcrete = RefusalReason(
    "Programs with the old model don't expect objects of exactly this entity, which they couldn't be kept from seeing.",
    "Leave it abstract and add a subentity for such objects, which programs with the old model don't see")
  static let reusedName = RefusalReason(
    "A name has one meaning in the old model and another in the new one.",
    "Give what is new a name that the old model doesn't use")
  static let otherValues = RefusalReason(
    "The same column would have to contain other values for each of the models.",
    "Add a property under another name beside this one, and remove this one in a later version")
  static let positions = RefusalReason(
    "Programs with one of the models give no positions to the members.",
    "Change the order and the rest of the relationship in two versions, one after the other")
  static let oneWay = RefusalReason(
    "The old model's values can't be found from the new model's: the renames lead one way only.",
    "Add a property under a name that neither model uses, and remove the old one in a later version")
  static let severalOwners = RefusalReason(
    "Each of the objects has the key of its owner, of which the new model's owner could refer to one only.",
    "Add a to-one relationship under another name beside this one, and remove this one in a later version")
  static let severalMembers = RefusalReason(
    "An object could have several, and programs with the old model have room for one.",
    "Add a to-many relationship under another name beside this one, and remove this one in a later version")
  static let otherKey = RefusalReason(
    "Its references have other targets or another effect.",
    "Add a relationship under another name beside this one, and remove this one in a later version")
  static let notDerived = RefusalReason(
    "The server can't compute its derivation.", "Store the values in an attribute that programs assign")
  static let mapped = RefusalReason(
    "Mapping models lead there through other versions, which isn't possible for each write.",
    "Migrate online to each of these versions in turn")
  static let noValue = RefusalReason(
    "Programs with the old model give it no value, and it has no default.",
    "Give it a default, or leave it optional until the version after this one")
  static let noOldValue = RefusalReason(
    "Programs with the new model give it no value, the old model requires one, and it has no default.",
    "Make it optional in a version between the two, and migrate online to that one first")

  /// The reason for which an operation is refused; nil if its changes decide.
  func reason(against operation: MigrationOperation) -> RefusalReason? {
    let attributes = attributes(of: operation)
    switch operation.kind {
    case .changeParent: return keepsPlace(operation.entity) ? nil : Self.otherPlace
    case .changeAbstract:
      return forward.planned.model.entitiesByName[operation.entity]?.isAbstract == true ? nil : Self.becomesConcrete
    case .changeAttributeType: return attributes.flatMap { Self.reason(against: $0.old.type, $0.new.type) }
    case .makeAttributeRequired:
      return attributes.map { $0.new.isDerived || !$0.new.defaultValue.isNull } == true
        ? nil
        : RefusalReason(
          "Programs with the old model may store no value, and the new model has no default.",
          "Give it a default, or leave it optional until the version after this one")
    case .changeTransformer:
      return RefusalReason(
        "The bytes of its values have another form.",
        "Add an attribute with the new transformer beside this one, and remove this one in a later version")
    case .changeDerivation:
      return attributes.map { $0.old.isDerived && $0.new.isDerived } == true
        ? nil
        : RefusalReason(
          "Programs with one of the models assign its values, and the server computes those of the other.",
          "Add an attribute under another name beside this one, and remove this one in a later version")
    case .changeDestination:
      return RefusalReason(
        "Objects of other entities could be references that one of the models doesn't allow.",
        "Add a relationship to the new destination beside this one, and remove this one in a later version")
    default: return nil
    }
  }

  static func reason(against old: AttributeType, _ new: AttributeType) -> RefusalReason? {
    let text: String
    switch AttributeConversion(from: old, to: new) {
    case _ where (old, new) == (.float, .double): text = "Most values of the new type have no equal in the old one."
    case .same, .exact: return nil
    case .exactWithin: text = "Programs with the old model may store values that have no equal in the new type."
    case .refused: text = "Not every value of the old type has an equal in the new one."
    }
    return RefusalReason(
      text, "Add an attribute of the new type under another name, and remove this one in a later version")
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

  /// The difference of the models that a refusal is about; nil if it is about something else.
  func operation(of refusal: OnlineRefusal) -> MigrationOperation? {
    guard let entity = refusal.entity else { return nil }
    let correspondence = forward.correspondence
    let others = [correspondence.entities[entity], correspondence.newName(ofEntity: entity)]
    let names = Set([entity] + others.compactMap { $0 })
    let all = forward.operations
    let own = all.filter { names.contains($0.entity) || $0.newName.map(names.contains) == true }
    // Entities get other tables, and relationships other references, because others move.
    let structural = all.filter { $0.property == nil }
    let moved = structural.first { isRelated($0.entity, entity) } ?? structural.first
    guard let property = refusal.property else { return own.first { $0.property == nil } ?? own.first ?? moved }
    let former = correspondence.origin(of: property, in: entity)?.source
    let heir = correspondence.newName(ofEntity: entity).flatMap { forward.planned.model.entitiesByName[$0] }
    let later = heir?.properties.first { new in
      heir.flatMap { correspondence.origin(of: new.name, in: $0.name)?.source } == property
    }
    let properties: [String] = [property, former, later?.name].compactMap { $0 }
    func isNamed(_ operation: MigrationOperation) -> Bool {
      operation.property.map(properties.contains) == true || operation.newName.map(properties.contains) == true
    }
    let named = own.first(where: isNamed) ?? all.first { isNamed($0) && isRelated($0.entity, entity) }
    if let found = named ?? moved { return found }
    // Only the inverse differs.
    let inverses = [forward.map.model, forward.planned.model].compactMap { model in
      model.entitiesByName[entity]?.relationship(named: property).flatMap { model.inverse(of: $0)?.name }
    }
    return all.first { $0.property.map(inverses.contains) == true || $0.newName.map(inverses.contains) == true }
  }

  /// Whether one of two entities inherits from the other in one of the models.
  private func isRelated(_ first: String, _ second: String) -> Bool {
    [forward.map.model, forward.planned.model].contains { model in
      guard let first = model.entitiesByName[first], let second = model.entitiesByName[second] else { return false }
      return first.root.name == second.root.name
    }
  }
}
