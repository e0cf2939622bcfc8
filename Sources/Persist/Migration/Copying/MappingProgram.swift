/// An entity mapping, prepared for execution on one object after the other.
///
/// A class, because it is passed on for each object.
final class MappingProgram {
  private enum Value {
    /// A value that the attribute can store as it is.
    case constant(StoredValue)
    /// The value of the source's attribute in a slot, of the same type.
    case same(Int)
    /// The value of the source's attribute in a slot, of another type.
    case slot(Int)
    /// The value of the source's composite attribute in a slot, with other elements.
    case composite(Int, CompositeMove, fill: StoredValue?)
    case expression(FetchExpression)
  }

  /// A class, so that iterating retains one reference per attribute instead of those of all its fields.
  private final class Attribute {
    let name: String
    let slot: Int
    let type: AttributeValue
    let value: Value

    init(name: String, slot: Int, type: AttributeValue, value: Value) {
      self.name = name
      self.slot = slot
      self.type = type
      self.value = value
    }
  }

  private enum Members {
    /// The objects that an entity mapping, or any mapping if nil, created from the source relationship's objects.
    case instances(mapping: String?, relationship: String, slot: Int, isToMany: Bool)
    case expression(FetchExpression)
  }

  private struct Relationship {
    let name: String
    let isToMany: Bool
    let isOwnInverse: Bool
    let destination: Entity?
    let members: Members
  }

  private let mapping: EntityMapping
  /// The entity of the created objects; nil if none are created.
  let destination: Entity?
  private let evaluator: ExpressionEvaluator
  private unowned let manager: MigrationManager
  /// The attributes that have the values of the source's attributes of the same type.
  private let copies: [AttributeCopy]
  /// The other attributes; all of them if an expression uses the new object, whose attributes are then set in order.
  private let attributes: [Attribute]
  private let relationships: [Relationship]
  private let needsDestination: Bool

  init(_ step: CopyPlan.Step, for manager: MigrationManager, evaluator: ExpressionEvaluator) {
    mapping = step.mapping
    destination = step.destination
    self.evaluator = evaluator
    self.manager = manager
    needsDestination = (step.mapping.attributeMappings + step.mapping.relationshipMappings).contains {
      $0.valueExpression?.variables.contains(MappingVariable.destination) == true
    }
    var (copies, attributes): ([AttributeCopy], [Attribute]) = ([], [])
    for mapping in step.mapping.attributeMappings {
      guard let expression = mapping.valueExpression, let property = step.destination?.property(named: mapping.name),
        let attribute = property.attribute
      else { continue }
      let type = AttributeValue(attribute)
      let value = attribute.type == .composite
        ? Self.composite(expression, for: property, type, from: step.source)
        : Self.value(expression, for: attribute, type, from: step.source)
      if case .same(let slot)? = value, !needsDestination {
        copies.append(AttributeCopy(from: slot, to: property.slot))
      } else {
        attributes.append(
          Attribute(
            name: mapping.name, slot: property.slot, type: type, value: value ?? .expression(expression.overSource)))
      }
    }
    (self.copies, self.attributes) = (copies, attributes)
    relationships = step.mapping.relationshipMappings.compactMap { mapping in
      guard let expression = mapping.valueExpression, expression.constantValue == nil,
        let property = step.destination?.property(named: mapping.name), let relationship = property.relationship,
        !relationship.isTransient
      else { return nil }
      // Relationships that SQL has set are skipped.
      switch step.relationships[mapping.name] {
      case .withRows, .byInverse, .pairs: return nil
      case .objects, nil: break
      }
      return Relationship(
        name: mapping.name, isToMany: relationship.isToMany,
        isOwnInverse: manager.destinationModel.isOwnInverse(property),
        destination: manager.destinationModel.entitiesByName[relationship.destination],
        members: Self.members(expression, from: step.source) ?? .expression(expression.overSource))
    }
  }

  /// A value that needs no evaluation; nil for others.
  private static func value(
    _ expression: FetchExpression, for attribute: AttributeDescription, _ type: AttributeValue, from source: Entity?
  ) -> Value? {
    if let constant = expression.constantValue { return type.converted(constant).map(Value.constant) }
    guard let key = expression.sourceKey, let property = source?.property(named: key), let before = property.attribute
    else { return nil }
    return before.type == attribute.type ? .same(property.slot) : .slot(property.slot)
  }

  private static func composite(
    _ expression: FetchExpression, for property: Property, _ type: AttributeValue, from source: Entity?
  ) -> Value? {
    if let constant = expression.constantValue { return type.converted(constant).map(Value.constant) }
    guard let (key, fill) = expression.sourceKeyAndFill, let before = source?.property(named: key),
      before.attribute?.type == .composite
    else { return nil }
    let move = CompositeMove(from: before, to: property)
    return fill == nil && move.isIdentity ? .same(before.slot) : .composite(before.slot, move, fill: fill)
  }

  /// The members, if the expression is one of the standard forms of mapping models; nil for others.
  private static func members(_ expression: FetchExpression, from source: Entity?) -> Members? {
    guard case .call(on: .variable(MappingVariable.manager), let selector, let arguments) = expression,
      arguments.count == 2, case .string(let name)? = arguments[0].constantValue, let key = arguments[1].sourceKey,
      let property = source?.property(named: key), let relationship = property.relationship, !relationship.isTransient
    else { return nil }
    let mapping: String?
    switch selector {
    case MappingSelector.destinationInstancesForMapping: mapping = name
    case MappingSelector.destinationInstancesForRelationship: mapping = nil
    default: return nil
    }
    return .instances(mapping: mapping, relationship: key, slot: property.slot, isToMany: relationship.isToMany)
  }

  var hasRelationships: Bool { !relationships.isEmpty }

  /// - Parameter object: a new object, for which changes need not be recorded.
  func setAttributes(of object: ManagedObject, from source: ManagedObject) throws {
    object.setPending(copies, of: source)
    for attribute in attributes {
      switch attribute.value {
      case .constant(let constant): object.setPending(constant, at: attribute.slot)
      case .same(let slot): object.setPending(source.unobservedValue(at: slot), at: attribute.slot)
      case .slot(let slot):
        object.setPending(
          try converted(source.unobservedValue(at: slot), for: attribute, of: source), at: attribute.slot)
      case .composite(let slot, let move, let fill):
        let value = try move.value(of: source.unobservedValue(at: slot), filling: fill) { value, element in
          guard let value = AttributeValue(element.attribute).converted(value) else {
            throw refusal(value.description, at: attribute.name, of: source)
          }
          return value
        }
        object.setPending(value, at: attribute.slot)
      case .expression(let expression):
        guard let value = try evaluate(expression, of: attribute.name, from: source, to: object).stored else {
          throw refusal("a collection", at: attribute.name, of: source)
        }
        object.setPending(try converted(value, for: attribute, of: source), at: attribute.slot)
      }
    }
  }

  private func converted(
    _ value: StoredValue, for attribute: Attribute, of source: ManagedObject
  ) throws -> StoredValue {
    if let converted = attribute.type.converted(value) { return converted }
    throw refusal(value.description, at: attribute.name, of: source)
  }

  func setRelationships(of object: ManagedObject, from source: ManagedObject) throws {
    for relationship in relationships {
      // A relationship narrowed to a subentity can no longer contain other objects.
      let members = try members(of: relationship, source, object)
        .filter { member in relationship.destination.map { member.entity.isKind(of: $0) } ?? true }
      if relationship.isToMany {
        object.managedObjectContext?.prefetchRows(of: members)
        try object.setValue(members, forKey: relationship.name)
      } else if !members.isEmpty || !relationship.isOwnInverse {
        // An object without a mapped member keeps the one that its inverse set.
        try object.setValue(members.first, forKey: relationship.name)
      }
    }
  }

  private func members(
    of relationship: Relationship, _ source: ManagedObject, _ object: ManagedObject
  ) throws -> [ManagedObject] {
    switch relationship.members {
    case .expression(let expression):
      try evaluate(expression, of: relationship.name, from: source, to: object).managedObjects
    case .instances(let mapping, let name, let slot, let isToMany):
      try placing(at: relationship.name, of: source) {
        let sources = isToMany ? Array(try source.related(name)) : source.toOne(at: slot).map { [$0] } ?? []
        return if let mapping {
          try manager.destinationInstances(forEntityMapping: mapping, sourceInstances: sources)
        } else {
          try manager.destinationInstances(forSourceRelationshipNamed: name, sourceInstances: sources)
        }
      }
    }
  }

  private func placing<Result>(at name: String, of source: ManagedObject, _ body: () throws -> Result) throws -> Result
  {
    try PersistenceError.placing(
      { place in
        place.property = place.property ?? name
        place.entity = place.entity ?? mapping.destinationEntityName
        place.row = place.row ?? source.key
      }, body)
  }

  private func evaluate(
    _ expression: FetchExpression, of name: String, from source: ManagedObject, to object: ManagedObject
  ) throws -> FetchValue {
    try placing(at: name, of: source) {
      guard needsDestination else { return try evaluator.value(of: expression, for: .object(source)) }
      return try evaluator.value(
        of: expression, for: .object(source), with: [MappingVariable.destination: .object(object)])
    }
  }

  @inline(never)
  private func refusal(_ value: String, at name: String, of source: ManagedObject) -> PersistenceError {
    PersistenceError(
      .typeMismatch,
      at: PersistenceError.Place(entity: mapping.destinationEntityName, property: name, row: source.key),
      "The entity mapping '\(mapping.name)' assigns '\(name)' a value that it can't hold: \(value).",
      fix: "Change the expression, or the type of the property.")
  }
}
