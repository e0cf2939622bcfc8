public import Persist

/// The traits of a declared relationship other than its type and inverse.
public struct RelationshipTraits {
  let name: String?
  let renamedFrom: String?
  let deleteRule: DeleteRule
  let isOptional: Bool
  let counts: (any ValueBounds)?
  let versionHashModifier: String?
  let userInfo: [String: String]

  @usableFromInline
  init(
    name: String?, renamedFrom: String?, deleteRule: DeleteRule, isOptional: Bool, counts: (any ValueBounds)?,
    versionHashModifier: String?, userInfo: [String: String]
  ) {
    self.name = name
    self.renamedFrom = renamedFrom
    self.deleteRule = deleteRule
    self.isOptional = isOptional
    self.counts = counts
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}

/// A declaration's choice of an inverse.
public enum DeclaredInverse<Destination: ManagedObject> {
  /// No inverse.
  case none
  /// The property at the key path; nil if the inverse names this relationship instead.
  case named(by: (() -> PartialKeyPath<Destination>)?)
}

/// A class's declaration of a relationship.
///
/// `@unchecked Sendable`: the key path's closure captures nothing, and the counts are a range of numbers. Both are
/// immutable.
struct RelationshipDeclaration<Value: RelationshipValue>: DescribedDeclaration, @unchecked Sendable {
  private let traits: RelationshipTraits
  private let inverse: DeclaredInverse<Value.Destination>

  init(_ traits: RelationshipTraits, inverse: DeclaredInverse<Value.Destination>) {
    self.traits = traits
    self.inverse = inverse
  }

  var modelName: String? { traits.name }
  var valueType: Any.Type { Value.self }
  var initialValue: (() -> StoredValue)? { nil }

  func problem(with property: Property) -> String? {
    guard let relationship = property.relationship else { return "isn't a relationship." }
    if relationship.isToMany != Value.isToMany {
      return relationship.isToMany ? "is to-many." : "is to-one."
    }
    if Value.isOrdered && !relationship.isOrdered { return "isn't ordered." }
    return nil
  }

  func add(_ member: ClassDeclaration.Member, to entity: inout EntityDescription, _ plan: inout ModelFromClasses) {
    let place = PersistenceError.Place.property(entity.name, member.modelName)
    guard let destination = plan.entityName(of: Value.Destination.self) else {
      plan.report(
        place, "'\(member.name)' leads to the class \(Value.Destination.self), which isn't one of the model's classes.",
        fix: "Add \(Value.Destination.self) to the model's classes.")
      return
    }
    var inverseName: String?
    if case .named(let keyPath) = inverse {
      let named = keyPath.map { ClassDeclaration(Value.Destination.self).member(at: $0()) }
      if case .some(nil) = named {
        plan.report(
          place, "The inverse of '\(member.name)' isn't a declared property of \(Value.Destination.self).",
          fix: "Use a property with @Relationship.")
      }
      if let inverse = named ?? nil, let other = plan.claim(inverse, asInverseOf: place) {
        plan.report(
          place, "'\(member.name)' names '\(inverse.name)' as its inverse, which is the inverse of '\(other)' already.",
          fix: "Give \(Value.Destination.self) a relationship for each of the two.")
      } else {
        inverseName = (named ?? nil)?.modelName
        plan.needInverse(of: member.modelName, in: entity.name)
      }
    }
    let counts = Value.isToMany ? (count(traits.counts?.least) ?? 0, count(traits.counts?.greatest) ?? 0) : (0, 1)
    if Value.isToMany, counts.1 == 1 {
      plan.report(
        place, "'\(member.name)' is a set of at most one object.",
        fix: "Make it a \(Value.Destination.self)?, or allow more.")
    }
    entity.relationships.append(
      RelationshipDescription(
        name: member.modelName, destination: destination, inverse: inverseName, minimumCount: counts.0,
        maximumCount: counts.1, isOptional: traits.isOptional, isOrdered: Value.isOrdered,
        deleteRule: traits.deleteRule, renamingIdentifier: traits.renamedFrom,
        versionHashModifier: traits.versionHashModifier, userInfo: traits.userInfo))
  }

  private func count(_ value: StoredValue?) -> Int? { if case .integer(let count)? = value { Int(count) } else { nil } }
}
