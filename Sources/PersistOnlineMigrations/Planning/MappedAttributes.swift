import Persist

/// The values of a mapping model that differ from those that the models alone determine, as far as they can be computed
/// for each write.
///
/// Everything else of the mapping model has to be what would be inferred without it.
struct MappedAttributes {
  /// The value of an attribute for the objects of exactly one entity.
  struct Value {
    let source: Entity
    let entity: Entity
    let attribute: AttributeDescription
    let expression: FetchExpression
  }

  private(set) var values: [Value] = []
  private(set) var refusals: [OnlineRefusal] = []

  static let otherObjects = RefusalReason(
    "The mapping model makes its objects from others, or only from some, or leaves some out.",
    "Add an entity for the new objects, and let programs create them")
  static let policy = RefusalReason(
    "A policy of the mapping model computes its objects in the program's code.",
    "Leave the policy out, and let programs compute the values")
  static let otherMembers = RefusalReason(
    "The mapping model computes the objects of a relationship, which isn't possible for each write.",
    "Leave the relationship out of the mapping model, and let programs assign its objects")
  static let notInferable = RefusalReason(
    "Without the mapping model, one of the models can't be derived from the other, so that the tables can't be shared.",
    "Give what changes other names, so that both models can be there")

  init(_ mapping: MappingModel, from old: ManagedObjectModel, to new: ManagedObjectModel) {
    guard let inferred = try? MappingModel.inferred(from: old, to: new) else {
      refusals.append(OnlineRefusal(nil, nil, because: Self.notInferable))
      return
    }
    let given = Dictionary(grouping: mapping.entityMappings.filter { $0.destinationEntityName != nil }) {
      $0.destinationEntityName ?? ""
    }
    for standard in inferred.entityMappings {
      guard let name = standard.destinationEntityName, let entity = new.entitiesByName[name] else { continue }
      guard let own = given[name] else {
        if standard.sourceEntityName != nil { refuse(name, nil, because: Self.otherObjects) }
        continue
      }
      guard own.count == 1, own[0].sourceEntityName == standard.sourceEntityName, selectsAll(own[0], standard) else {
        refuse(name, nil, because: Self.otherObjects)
        continue
      }
      guard own[0].policyName == nil else {
        refuse(name, nil, because: Self.policy)
        continue
      }
      guard let source = own[0].sourceEntityName.flatMap({ old.entitiesByName[$0] }) else { continue }
      compare(own[0], with: standard, of: entity, from: source)
    }
  }

  private mutating func refuse(_ entity: String?, _ property: String?, because reason: RefusalReason) {
    refusals.append(OnlineRefusal(entity, property, because: reason))
  }

  private func selectsAll(_ mapping: EntityMapping, _ standard: EntityMapping) -> Bool {
    guard let expression = mapping.sourceExpression else { return true }
    return expression == standard.sourceExpression
  }

  private mutating func compare(
    _ mapping: EntityMapping, with standard: EntityMapping, of entity: Entity, from source: Entity
  ) {
    for attribute in entity.attributes where !attribute.isTransient && !attribute.isDerived {
      let expression = mapping.attributeMapping(named: attribute.name)?.valueExpression
      guard expression != standard.attributeMapping(named: attribute.name)?.valueExpression else { continue }
      values.append(
        Value(
          source: source, entity: entity, attribute: attribute,
          expression: expression ?? .constant(attribute.defaultValue)))
    }
    for relationship in entity.relationships where !relationship.isTransient {
      let own = mapping.relationshipMapping(named: relationship.name)?.valueExpression
      let inferred = standard.relationshipMapping(named: relationship.name)?.valueExpression
      if own != inferred, own?.sourceMembers == nil || own?.sourceMembers != inferred?.sourceMembers {
        refuse(entity.name, relationship.name, because: Self.otherMembers)
      }
    }
  }
}

extension FetchExpression {
  /// The path from the source object to the members of a relationship that become those of the new one; nil for other
  /// expressions.
  fileprivate var sourceMembers: [String]? {
    guard case .call(on: .variable("manager"), _, let arguments) = self, arguments.count == 2 else { return nil }
    return arguments[1].sourceKeys
  }

  /// The path from the source object; nil for other expressions.
  var sourceKeys: [String]? {
    if case .path(of: .variable("source"), let keys) = self { keys } else { nil }
  }

  /// The attributes of the source object that the expression names, as far as formulas can.
  var sourceNames: Set<String> {
    switch self {
    case .path: Set(sourceKeys?.prefix(1) ?? [])
    case .function(_, let parts): parts.reduce(into: []) { $0.formUnion($1.sourceNames) }
    case .call(let target, _, let parts): parts.reduce(into: target.sourceNames) { $0.formUnion($1.sourceNames) }
    case .ternary(let test, let first, let second):
      first.sourceNames.union(second.sourceNames).union(test.sourceNames)
    default: []
    }
  }
}

extension FetchPredicate {
  fileprivate var sourceNames: Set<String> {
    guard case .comparison(let comparison) = self else { return [] }
    return comparison.left.sourceNames.union(comparison.right.sourceNames)
  }
}
