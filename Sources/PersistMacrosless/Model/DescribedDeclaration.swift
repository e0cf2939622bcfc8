import Persist

/// A declaration that becomes a property of a model.
protocol DescribedDeclaration: PropertyDeclaration {
  func add(_ member: ClassDeclaration.Member, to entity: inout EntityDescription, _ plan: inout ModelFromClasses)
}
