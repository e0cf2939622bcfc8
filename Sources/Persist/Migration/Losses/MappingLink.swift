/// A relationship mapping of the standard form: the objects that entity mappings create from those of a source
/// relationship.
struct MappingLink {
  /// The destination's relationship.
  let name: String
  /// The source's relationship.
  let source: Property
  /// The description of the destination's relationship.
  let relationship: RelationshipDescription
  /// The steps whose objects may be members.
  let targets: [CopyPlan.Step]

  /// Nil for expressions of other forms.
  init?(_ mapping: PropertyMapping, of step: CopyPlan.Step, in plan: CopyPlan) {
    guard let relationship = step.destination?.relationship(named: mapping.name), !relationship.isTransient,
      case .call(on: .variable(MappingVariable.manager), let selector, let arguments)? = mapping.valueExpression,
      arguments.count == 2, case .string(let target)? = arguments[0].constantValue, let key = arguments[1].sourceKey,
      let source = step.source?.property(named: key), let before = source.relationship, !before.isTransient,
      [MappingSelector.destinationInstancesForMapping, MappingSelector.destinationInstancesForRelationship]
        .contains(selector)
    else { return nil }
    let (given, wanted) = (plan.old.model.destination(of: before), plan.new.model.destination(of: relationship))
    name = mapping.name
    self.source = source
    self.relationship = relationship
    targets = plan.steps.filter { other in
      guard let from = other.source, from.isKind(of: given) else { return false }
      // A policy may create objects of any entity.
      guard other.policy != nil || other.destination?.isKind(of: wanted) == true else { return false }
      return selector == MappingSelector.destinationInstancesForRelationship || other.mapping.name == target
    }
  }
}
