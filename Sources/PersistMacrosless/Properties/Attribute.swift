public import Persist

/// A property of a managed object subclass that is an attribute of its entity.
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
/// The type is any ``StorableValue``; the attribute is optional if the type is. The default is evaluated for each new
/// object, and never for fetched ones: `UUID()` gives every object a different value. A constant default is also the
/// model's default, which a migration stores in rows that have no value yet.
///
/// If the store has no value, the property reads as its default. If the entity in the object's context has no such
/// attribute, accessing the property traps.
@frozen @propertyWrapper
public struct Attribute<Value: StorableValue>: DeclaredProperty {
  /// The declaration's position in the source, which identifies the property among those of its class.
  public let key: DeclarationKey

  /// An attribute with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the value of a new object.
  ///   - name: the attribute's name in the model, if it differs from the property's.
  ///   - type: the attribute's type in the model, if it isn't the default for the Swift type: `.int16`, `.int32` or
  ///     `.int64` for any integer type, `.float` or `.double` for `Float` and `Double`, `.transformable` for `Data`.
  ///   - renamedFrom: the name that the attribute had in an older version of the model.
  ///   - optional: whether the attribute is optional in the model, if that differs from the Swift type.
  ///   - unique: whether no two objects may have the same value.
  ///   - indexed: whether the store has an index of the values.
  ///   - fullText: the full-text index of the values, for `matchesText`.
  ///   - externalStorage: whether large data may be stored in files beside the store.
  ///   - serverTimestamp: whether a server contains the dates as moments with a time zone: see
  ///     `AttributeDescription.isServerTimestamp`.
  ///   - preservedOnDeletion: whether the history keeps the value of a deleted object.
  ///   - range: the minimum and the maximum value.
  ///   - length: the minimum and the maximum length in UTF-16 code units.
  ///   - pattern: a regular expression that the whole text must match.
  ///   - rule: a predicate over `SELF` that the value must satisfy.
  ///   - warning: the message of the error if the rule is violated.
  ///   - transformer: the name of the transformer that archives the values of a transformable attribute.
  ///   - versionHashModifier: a text that makes migrations treat the attribute as changed even if nothing else is.
  ///   - userInfo: the program's notes about the attribute.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ name: String? = nil, type: AttributeType? = nil,
    renamedFrom: String? = nil, optional: Bool? = nil, unique: Bool = false, indexed: Bool = false,
    fullText: FullTextSearch? = nil, externalStorage: Bool = false, serverTimestamp: Bool = false,
    preservedOnDeletion: Bool = false,
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
        versionHashModifier: versionHashModifier, userInfo: userInfo(), fullText: fullText,
        serverTimestamp: serverTimestamp))
  }

  /// An attribute without a default. For the parameters see the initializer with one.
  ///
  /// Declared in the structure itself, as are similar ones: the compiler looks nowhere else for the initializer of a
  /// property that is declared without one.
  @inlinable @inline(__always)
  public init(
    _ name: String? = nil, type: AttributeType? = nil, renamedFrom: String? = nil, optional: Bool? = nil,
    unique: Bool = false, indexed: Bool = false, fullText: FullTextSearch? = nil, externalStorage: Bool = false,
    serverTimestamp: Bool = false, preservedOnDeletion: Bool = false,
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
        versionHashModifier: versionHashModifier, userInfo: userInfo(), fullText: fullText,
        serverTimestamp: serverTimestamp))
  }

  /// The compiler error for a property without a default whose type has no value for "none".
  @available(
    *, unavailable,
    message: "Give the property a default, or make it optional: its type has no empty value."
  )
  public init(
    _ name: String? = nil, type: AttributeType? = nil, renamedFrom: String? = nil, optional: Bool? = nil,
    unique: Bool = false, indexed: Bool = false, fullText: FullTextSearch? = nil, externalStorage: Bool = false,
    serverTimestamp: Bool = false, preservedOnDeletion: Bool = false,
    range: @autoclosure () -> (any ValueBounds)? = nil, length: @autoclosure () -> (any ValueBounds)? = nil,
    pattern: String? = nil, rule: String? = nil, warning: String? = nil, transformer: String? = nil,
    versionHashModifier: String? = nil, userInfo: @autoclosure () -> [String: String] = [:],
    line: Int = #line, column: Int = #column
  ) { key = DeclarationKey(line: line, column: column) }

  @usableFromInline @inline(never)
  static func record(_ key: DeclarationKey, _ value: (() -> StoredValue)?, _ traits: AttributeTraits) {
    DeclarationRecording.record(AttributeDeclaration<Value>(value, traits), key: key)
  }

  /// Unavailable: the value is in the object's row, not in the wrapper. Outside a managed object there is no value to
  /// read or set.
  @available(*, unavailable, message: "Attributes are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("An attribute isn't a property of a managed object.") }
    set { preconditionFailure("An attribute isn't a property of a managed object.") }
  }

  /// The attribute of a managed object, which the compiler accesses in place of ``wrappedValue``.
  ///
  /// Reading it fulfills a fault. Setting it is a change of the object, which the next save writes. Reading and
  /// setting trap if the object's entity has no such attribute.
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
    Value.setValue(value, of: self, at: slot(of: key, declaredBy: type))
  }

  /// The value of an attribute without a readable stored value: its default, or else the type's value for "none". In a
  /// row, a composite without any part is a value whose parts are nil, unless the type has no such value.
  @usableFromInline @inline(never)
  final func missingValue<Value: StorableValue>(
    at slot: Int, of key: DeclarationKey, declaredBy owner: ManagedObject.Type
  ) -> Value {
    reportUnlessNull(at: slot, as: Value.self)
    if let type = Value.self as? any CompositeValue.Type, isMissingInRow(at: slot),
      let empty = type.init(stored: .composite([:])), empty.isWithoutParts, let value = empty as? Value
    {
      return value
    }
    if let value = declaredDefault(at: slot).flatMap(Value.init(stored:)) { return value }
    if let type = Value.self as? any AttributeValue.Type, let value = type.absent as? Value { return value }
    // Prototypes, on which key paths are resolved, have no entity with a default, so the class's declaration is used.
    let member = ClassDeclaration(owner).members.first { $0.key == key && $0.owner == owner }
    if let value = (member?.declaration.initialValue?()).flatMap(Value.init(stored:)) { return value }
    preconditionFailure("An attribute of type \(Value.self) has neither a value nor a default.")
  }
}
