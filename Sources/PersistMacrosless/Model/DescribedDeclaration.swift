import Persist

/// A declaration from which a model's property is made.
protocol DescribedDeclaration: PropertyDeclaration {
  func add(_ member: ClassDeclaration.Member, to entity: inout EntityDescription, _ plan: inout ModelFromClasses)
}
