/// Orders that aren't part of any expression.
extension CopyPlanner {
  /// The pairs of relationships that are related object by object and whose ordered inverse isn't mapped.
  ///
  /// The inverse gets its members from this end, one owner after the other. The old inverse determines their order.
  func inheritedOrders(ofStep index: Int, _ links: [String: LinkSource]) -> [PairCopy] {
    let step = plan.steps[index]
    guard let destination = step.destination else { return [] }
    return links.sorted(on: \.key).flatMap { name, link -> [PairCopy] in
      guard step.relationships[name] == .objects, let property = destination.property(named: name),
        let relationship = property.relationship, let inverse = new.model.inverse(of: relationship),
        inverse.isToMany, inverse.isOrdered, inverse != relationship,
        !link.targets.contains(where: { maps(inverse.name, inStep: $0) })
      else { return [] }
      // A copy of the planner, because its completions only apply to pairs that it inserts itself.
      var planner = self
      return planner.pairs(of: property, as: relationship, from: link, in: step).filter { $0.inverseOrder != nil }
    }
  }

  private func maps(_ relationship: String, inStep index: Int) -> Bool {
    plan.steps[index].mapping.relationshipMappings.contains {
      $0.name == relationship && $0.valueExpression != nil
    }
  }
}

extension PairCopy {
  /// The column of the owners' positions in a member's inverse, and the change that fills in missing positions.
  var inverseOrder: (place: String, completion: SchemaChange)? {
    switch target {
    case .join(let table, let owner, let member, _, let place?):
      (place, .assignPositions(table: table, owner: member, member: owner, place: place))
    case .ownerKey(let column, let place?):
      (place, .assignPositions(table: owner.target, owner: column, member: "Z_PK", place: place))
    default: nil
    }
  }
}
