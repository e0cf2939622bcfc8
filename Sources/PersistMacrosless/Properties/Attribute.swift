public import Persist

/// A property of a managed object's class that is an attribute of its entity.
///
/// ```swift
/// final class Item: ManagedObject {
///   @Attribute var name = "New Item"
///   @Attribute(range: 0...9999) var quantity = 1
///   @Attribute(renamedFrom: "image", externalStorage: true) var photo: Data?
///   @Attribute(unique: true) var number = UUID()
/// }
/// ```
///
/// The type is any ``StorableValue``. An optional one makes the attribute optional, another one required. The default
/// is evaluated for each new object and for no fetched one: `UUID()` gives every object its own. One that is the same
/// each time is the model's default too, which a migration gives to the rows that have no value yet.
///
/// A property reads as its default where the store has no value, and stops the program where the entity of the
/// object's context has no such attribute.
@frozen @propertyWrapper
public struct Attribute<Value: StorableValue>: DeclaredProperty {
  public let key: DeclarationKey

  /// An attribute with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: what a new object has.
  ///   - name: the attribute's name in the model, where it isn't the property's.
  ///   - type: the attribute's type in the model, where it isn't the Swift type's own: `.int16`, `.int32` or `.int64`
  ///     for any integer, `.float` or `.double` for both, `.transformable` for `Data`.
  ///   - renamedFrom: the name that the attribute had in an older version of the model.
  ///   - optional: whether the attribute is optional in the model, where the Swift type doesn't say it.
  ///   - unique: whether no two objects may have the same value.
  ///   - indexed: whether the store keeps an index of the values.
  ///   - fullText: how the store indexes the words of the texts, for `matchesText`.
  ///   - externalStorage: whether large data may stand in files beside the store.
  ///   - preservedOnDeletion: whether the history keeps the value of a deleted object.
  ///   - range: the least and the greatest value.
  ///   - length: the least and the greatest length in UTF-16 units.
  ///   - pattern: a regular expression that the whole text must match.
  ///   - rule: a predicate over `SELF` that the value must satisfy.
  ///   - warning: what to say where the rule is broken.
  ///   - transformer: the name of the transformer that archives the values of a transformable attribute.
  ///   - versionHashModifier: a text that makes the attribute another one for migrations though nothing else changed.
  ///   - userInfo: what the program notes about the attribute.
  @inlinable @inline(__always)
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ name: String? = nil, type: AttributeType? = nil,
    renamedFrom: String? = nil, optional: Bool? = nil, unique: Bool = false, indexed: Bool = false,
    fullText: FullTextSearch? = nil, externalStorage: Bool = false, preservedOnDeletion: Bool = false,
    range: @autoclosure () -> (any ValueBounds)? = nil, length: @autoclosure () -> (any ValueBounds)? = nil,
    pattern: String? = nil, rule: String? = nil, warning: String? = nil, transformer: String? = nil,
    versionHashModifier: String? = nil, userInfo: @autoclosure () -> [String: String] = [:],
    line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Self.record(
      key, { wrappedValue().stored },
      AttributeTraits(
        name: name, type: type, renamedFrom: renamedFrom, isOptional: optional, isUnique: unique, isIndexed: indexed,
        allowsExternalStorage: externalStorage, isPreservedOnDeletion: preservedOnDeletion, bounds: range(),
        lengths: length(), pattern: pattern, rule: rule, warning: warning, transformer: transformer,
        versionHashModifier: versionHashModifier, userInfo: userInfo(), fullText: fullText))
  }

  /// An attribute without a default. The parameters are those of the initialiser with one.
  ///
  /// It stands in the structure itself, as do its siblings: the compiler looks nowhere else for the initialiser of a
  /// property that is written without one.
  @inlinable @inline(__always)
  public init(
    _ name: String? = nil, type: AttributeType? = nil, renamedFrom: String? = nil, optional: Bool? = nil,
    unique: Bool = false, indexed: Bool = false, fullText: FullTextSearch? = nil, externalStorage: Bool = false,
    preservedOnDeletion: Bool = false,
    range: @autoclosure () -> (any ValueBounds)? = nil, length: @autoclosure () -> (any ValueBounds)? = nil,
    pattern: String? = nil, rule: String? = nil, warning: String? = nil, transformer: String? = nil,
    versionHashModifier: String? = nil, userInfo: @autoclosure () -> [String: String] = [:],
    line: Int = #line, column: Int = #column
  ) where Value: AttributeValue {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Self.record(
      key, nil,
      AttributeTraits(
        name: name, type: type, renamedFrom: renamedFrom, isOptional: optional, isUnique: unique, isIndexed: indexed,
        allowsExternalStorage: externalStorage, isPreservedOnDeletion: preservedOnDeletion, bounds: range(),
        lengths: length(), pattern: pattern, rule: rule, warning: warning, transformer: transformer,
        versionHashModifier: versionHashModifier, userInfo: userInfo(), fullText: fullText))
  }

  /// What the compiler says of a property without a default whose type has no value that stands for none.
  @available(
    *, unavailable,
    message: "Give the property a default, or make it optional: its type has no value that stands for none."
  )
  public init(
    _ name: String? = nil, type: AttributeType? = nil, renamedFrom: String? = nil, optional: Bool? = nil,
    unique: Bool = false, indexed: Bool = false, fullText: FullTextSearch? = nil, externalStorage: Bool = false,
    preservedOnDeletion: Bool = false,
    range: @autoclosure () -> (any ValueBounds)? = nil, length: @autoclosure () -> (any ValueBounds)? = nil,
    pattern: String? = nil, rule: String? = nil, warning: String? = nil, transformer: String? = nil,
    versionHashModifier: String? = nil, userInfo: @autoclosure () -> [String: String] = [:],
    line: Int = #line, column: Int = #column
  ) { key = DeclarationKey(line: line, column: column) }

  @usableFromInline @inline(never)
  static func record(_ key: DeclarationKey, _ value: (() -> StoredValue)?, _ traits: AttributeTraits) {
    DeclarationRecording.record(AttributeDeclaration<Value>(value, traits), key: key)
  }

  @available(*, unavailable, message: "Attributes are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("An attribute isn't a property of a managed object.") }
    set { preconditionFailure("An attribute isn't a property of a managed object.") }
  }

  @inlinable
  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Attribute<Value>>
  ) -> Value {
    @inline(__always) get { owner.value(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
    @inline(__always) set { owner.setValue(newValue, of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
  }
}

extension ManagedObject {
  /// Reads a declared attribute.
  @inlinable @inline(__always)
  final func value<Value: StorableValue>(of key: DeclarationKey, declaredBy type: ManagedObject.Type) -> Value {
    let slot = slot(of: key, declaredBy: type)
    if let value = Value.value(of: self, at: slot) { return value }
    return missingValue(at: slot, of: key, declaredBy: type)
  }

  @inlinable @inline(__always)
  final func setValue<Value: StorableValue>(
    _ value: Value, of key: DeclarationKey, declaredBy type: ManagedObject.Type
  ) {
    setAttributeValue(value.stored, at: slot(of: key, declaredBy: type))
  }

  /// What an attribute without a value that its type can show reads as: its default, or nothing in its type's way.
  @usableFromInline @inline(never)
  final func missingValue<Value: StorableValue>(
    at slot: Int, of key: DeclarationKey, declaredBy owner: ManagedObject.Type
  ) -> Value {
    if let value = declaredDefault(at: slot).flatMap(Value.init(stored:)) { return value }
    if let type = Value.self as? any AttributeValue.Type, let value = type.absent as? Value { return value }
    // A prototype, over which a key path is followed, has no entity that could say it.
    let member = ClassDeclaration(owner).members.first { $0.key == key && $0.owner == owner }
    if let value = (member?.declaration.initialValue?()).flatMap(Value.init(stored:)) { return value }
    preconditionFailure("An attribute of type \(Value.self) has neither a value nor a default.")
  }
}
