public import Persist

/// A class that declares traits of its entity beyond the properties.
///
/// ```swift
/// class Party: ManagedObject, DescribedEntity {
///   class var entityTraits: EntityTraits { EntityTraits(of: Party.self, isAbstract: true) }
///   @Attribute var name = ""
/// }
///
/// final class Person: Party {}                          // not abstract: the traits are Party's
/// ```
public protocol DescribedEntity: ManagedObject {
  /// The traits of the class's entity. They apply to the class that they name as owner; a subclass that inherits this
  /// property doesn't inherit the traits.
  static var entityTraits: EntityTraits { get }
}

/// The declared traits of a class's entity.
public struct EntityTraits {
  let owner: ManagedObject.Type
  let name: String?
  let isAbstract: Bool
  let renamedFrom: String?
  let unique: [[AnyKeyPath]]
  let uniqueWhere: [(keyPaths: [AnyKeyPath], conditions: [(keyPath: AnyKeyPath, test: UniquenessCondition.Test)])]
  let indexes: [(name: String, keyPaths: [AnyKeyPath], predicate: String?)]
  let versionHashModifier: String?
  let userInfo: [String: String]

  /// - Parameters:
  ///   - owner: the class itself.
  ///   - name: the entity's name, if it differs from the class's.
  ///   - isAbstract: whether only its subclasses have objects.
  ///   - renamedFrom: the name that the entity had in an older version of the model.
  ///   - unique: lists of properties whose combined values must be unique: `[[\.first, \.last]]`. For a single property
  ///     use `@Attribute(unique: true)`.
  ///   - uniqueWhere: the same for only some of the objects, such as those that aren't marked as deleted.
  ///   - indexes: indexes over several properties, or over some of the rows.
  ///   - versionHashModifier: a text that makes migrations treat the entity as changed even if nothing else is.
  ///   - userInfo: the program's notes about the entity.
  public init<Owner: ManagedObject>(
    of owner: Owner.Type, name: String? = nil, isAbstract: Bool = false, renamedFrom: String? = nil,
    unique: [[PartialKeyPath<Owner>]] = [], uniqueWhere: [EntityUniqueness<Owner>] = [],
    indexes: [EntityIndex<Owner>] = [], versionHashModifier: String? = nil, userInfo: [String: String] = [:]
  ) {
    self.owner = owner
    self.name = name
    self.isAbstract = isAbstract
    self.renamedFrom = renamedFrom
    self.unique = unique
    self.uniqueWhere = uniqueWhere.map { ($0.keyPaths, $0.conditions.map { ($0.keyPath, $0.test) }) }
    self.indexes = indexes.map { ($0.name, $0.keyPaths, $0.predicate) }
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }

  func apply(to entity: inout EntityDescription, _ plan: inout ModelFromClasses) {
    entity.isAbstract = isAbstract
    entity.renamingIdentifier = renamedFrom
    entity.versionHashModifier = versionHashModifier
    entity.userInfo = userInfo
    for constraint in unique { entity.uniquenessConstraints.append(names(of: constraint, entity.name, &plan)) }
    for constraint in uniqueWhere {
      let names = names(of: constraint.keyPaths, entity.name, &plan)
      entity.uniquenessConstraints.append(names)
      entity.uniquenessConditions[names] = constraint.conditions.compactMap { condition in
        self.names(of: [condition.keyPath], entity.name, &plan).first.map { UniquenessCondition($0, condition.test) }
      }
    }
    for index in indexes {
      let elements = names(of: index.keyPaths, entity.name, &plan).map { FetchIndexDescription.Element(.property($0)) }
      entity.indexes.append(
        FetchIndexDescription(index.name, elements: elements, partialPredicate: index.predicate))
    }
  }

  private func names(of keyPaths: [AnyKeyPath], _ entity: String, _ plan: inout ModelFromClasses) -> [String] {
    let declaration = ClassDeclaration(owner)
    return keyPaths.compactMap { keyPath in
      if let member = declaration.member(at: keyPath) { return member.modelName }
      plan.report(
        .entity(entity), "\(keyPath) isn't a declared property of \(owner).",
        fix: "Name properties with @Attribute or @Relationship.")
      return nil
    }
  }
}

/// An index over properties of a class's entity.
public struct EntityIndex<Owner: ManagedObject> {
  let name: String
  let keyPaths: [PartialKeyPath<Owner>]
  let predicate: String?

  /// - Parameters:
  ///   - name: the index's name, unique within the entity.
  ///   - keyPaths: the indexed properties, in this order.
  ///   - predicate: the condition for rows to be indexed, as a format string; nil for all rows.
  public init(_ name: String, on keyPaths: PartialKeyPath<Owner>..., where predicate: String? = nil) {
    self.name = name
    self.keyPaths = keyPaths
    self.predicate = predicate
  }
}

/// A uniqueness constraint that concerns only some objects of a class's entity.
///
/// ```swift
/// final class User: ManagedObject, DescribedEntity {
///   class var entityTraits: EntityTraits {
///     EntityTraits(of: User.self, uniqueWhere: [EntityUniqueness(\.email, where: .isNil(\.deletedAt))])
///   }
///   @Attribute var email = ""
///   @Attribute var deletedAt: Date?
/// }
/// ```
public struct EntityUniqueness<Owner: ManagedObject> {
  /// A test of an attribute that an object must pass for the constraint to concern it.
  public struct Condition {
    let keyPath: PartialKeyPath<Owner>
    let test: UniquenessCondition.Test

    /// The attribute has no value.
    public static func isNil<Value>(_ keyPath: KeyPath<Owner, Value?>) -> Self { Self(keyPath: keyPath, test: .isNil) }
    /// The attribute has a value.
    public static func isNotNil<Value>(_ keyPath: KeyPath<Owner, Value?>) -> Self {
      Self(keyPath: keyPath, test: .isNotNil)
    }
    /// The attribute has a value of an integer.
    public static func equal<Value: BinaryInteger>(_ keyPath: KeyPath<Owner, Value>, _ value: Value) -> Self {
      Self(keyPath: keyPath, test: .integer(Int64(value)))
    }
    /// The attribute has a Boolean value.
    public static func equal(_ keyPath: KeyPath<Owner, Bool>, _ value: Bool) -> Self {
      Self(keyPath: keyPath, test: .boolean(value))
    }
  }

  let keyPaths: [PartialKeyPath<Owner>]
  let conditions: [Condition]

  /// - Parameters:
  ///   - keyPaths: the properties whose combined values must be unique.
  ///   - conditions: the tests of the objects that the constraint concerns; all of them must pass.
  public init(_ keyPaths: PartialKeyPath<Owner>..., where conditions: Condition...) {
    self.keyPaths = keyPaths
    self.conditions = conditions
  }
}

extension ManagedObject {
  /// The traits that the class itself declares for its entity; nil if only a parent declares some.
  static var ownTraits: EntityTraits? {
    guard let traits = (self as? any DescribedEntity.Type)?.entityTraits, traits.owner == self else { return nil }
    return traits
  }
}
