public import Persist

/// A property of a managed object subclass that is a relationship of its entity.
///
/// The type determines the kind: an optional object for a to-one relationship, a `RelationshipSet` for a
/// to-many one, an ``OrderedRelationshipSet`` for an ordered to-many one.
///
/// ```swift
/// final class Item: ManagedObject {
///   @Relationship(inverse: \Category.items) var category: Category?
///   @Relationship(inverse: \Tag.items) var tags: RelationshipSet<Tag>
/// }
///
/// final class Category: ManagedObject {
///   @Relationship(deleteRule: .cascade) var items: RelationshipSet<Item>
/// }
/// ```
///
/// Every relationship has an inverse, which is named on one side only: two properties that name each other are a
/// circular reference to the compiler. The model sets the inverse of the other side.
@frozen @propertyWrapper
public struct Relationship<Value: RelationshipValue>: DeclaredProperty {
  /// The declaration's position in the source, which identifies the property among those of its class.
  public let key: DeclarationKey

  /// A relationship whose inverse names this one.
  ///
  /// - Parameters:
  ///   - name: the relationship's name in the model, if it differs from the property's.
  ///   - renamedFrom: the name that the relationship had in an older version of the model.
  ///   - deleteRule: the effect of an object's deletion on the objects at the other end.
  ///   - optional: whether an object may be saved without related objects.
  ///   - count: the minimum and the maximum number of members of a to-many relationship.
  ///   - versionHashModifier: a text that makes migrations treat the relationship as changed even if nothing else is.
  ///   - userInfo: the program's notes about the relationship.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(
    _ name: String? = nil, renamedFrom: String? = nil, deleteRule: DeleteRule = .nullify, optional: Bool = true,
    count: @autoclosure () -> (any ValueBounds)? = nil, versionHashModifier: String? = nil,
    userInfo: @autoclosure () -> [String: String] = [:], line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    let traits = RelationshipTraits(
      name: name, renamedFrom: renamedFrom, deleteRule: deleteRule, isOptional: optional, counts: count(),
      versionHashModifier: versionHashModifier, userInfo: userInfo())
    Self.record(key, traits, inverse: .named(by: nil))
  }

  /// A relationship that names its inverse.
  ///
  /// - Parameters:
  ///   - name: the relationship's name in the model, if it differs from the property's.
  ///   - inverse: the inverse property of the destination's class.
  ///   - renamedFrom: the name that the relationship had in an older version of the model.
  ///   - deleteRule: the effect of an object's deletion on the objects at the other end.
  ///   - optional: whether an object may be saved without related objects.
  ///   - count: the minimum and the maximum number of members of a to-many relationship.
  ///   - versionHashModifier: a text that makes migrations treat the relationship as changed even if nothing else is.
  ///   - userInfo: the program's notes about the relationship.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init<Inverse: RelationshipValue>(
    _ name: String? = nil, inverse: @autoclosure @escaping () -> KeyPath<Value.Destination, Inverse>,
    renamedFrom: String? = nil, deleteRule: DeleteRule = .nullify, optional: Bool = true,
    count: @autoclosure () -> (any ValueBounds)? = nil, versionHashModifier: String? = nil,
    userInfo: @autoclosure () -> [String: String] = [:], line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    let traits = RelationshipTraits(
      name: name, renamedFrom: renamedFrom, deleteRule: deleteRule, isOptional: optional, counts: count(),
      versionHashModifier: versionHashModifier, userInfo: userInfo())
    Self.record(key, traits, inverse: .named(by: inverse))
  }

  /// A relationship without an inverse. Deleting an object at its other end requires a search for the objects that
  /// refer to it.
  ///
  /// - Parameters:
  ///   - name: the relationship's name in the model, if it differs from the property's.
  ///   - oneWay: `true`.
  ///   - renamedFrom: the name that the relationship had in an older version of the model.
  ///   - deleteRule: the effect of an object's deletion on the objects at the other end.
  ///   - optional: whether an object may be saved without related objects.
  ///   - count: the minimum and the maximum number of members of a to-many relationship.
  ///   - versionHashModifier: a text that makes migrations treat the relationship as changed even if nothing else is.
  ///   - userInfo: the program's notes about the relationship.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(
    _ name: String? = nil, oneWay: Bool, renamedFrom: String? = nil, deleteRule: DeleteRule = .nullify,
    optional: Bool = true, count: @autoclosure () -> (any ValueBounds)? = nil, versionHashModifier: String? = nil,
    userInfo: @autoclosure () -> [String: String] = [:], line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    let traits = RelationshipTraits(
      name: name, renamedFrom: renamedFrom, deleteRule: deleteRule, isOptional: optional, counts: count(),
      versionHashModifier: versionHashModifier, userInfo: userInfo())
    Self.record(key, traits, inverse: oneWay ? .none : .named(by: nil))
  }

  @usableFromInline @inline(never)
  static func record(_ key: DeclarationKey, _ traits: RelationshipTraits, inverse: DeclaredInverse<Value.Destination>) {
    DeclarationRecording.record(RelationshipDeclaration<Value>(traits, inverse: inverse), key: key)
  }

  /// Unavailable: the value is in the object's row, not in the wrapper. Outside a managed object there is no value to
  /// read or set.
  @available(*, unavailable, message: "Relationships are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("A relationship isn't a property of a managed object.") }
    set { preconditionFailure("A relationship isn't a property of a managed object.") }
  }

  /// The relationship of a managed object, which the compiler accesses in place of ``wrappedValue``.
  ///
  /// Setting it updates the inverse too. Reading and setting trap if the object's entity has no such relationship.
  @inlinable
  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Relationship<Value>>
  ) -> Value {
    @inline(__always) get {
      Value.related(to: owner, at: owner.slot(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self))
    }
    @inline(__always) set {
      newValue.relate(to: owner, at: owner.slot(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self))
    }
  }
}
