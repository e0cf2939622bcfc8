/// The cardinality of a relationship's ends, which determines where its keys are stored.
enum RelationshipShape: Sendable, Hashable {
  /// To-one, and the inverse too: a column at each end.
  case oneToOne
  /// To-one, and the inverse to-many or none: a column at this end.
  case toOne
  /// To-many, and the inverse to-one or none: a column at the other end.
  case toMany
  /// To-many at both ends: a join table.
  case manyToMany

  init(_ relationship: RelationshipDescription, in model: ManagedObjectModel) {
    let inverse = model.inverse(of: relationship)
    self = switch (relationship.isToMany, inverse?.isToMany) {
    case (false, false?): .oneToOne
    case (false, _): .toOne
    case (true, true?): .manyToMany
    case (true, _): .toMany
    }
  }
}
