public import Persist

/// An attribute with several parts, each stored in a separate column.
///
/// ```swift
/// @Composite var address = Address()
/// @Composite var delivery: Address?
/// ```
///
/// The type is a ``CompositeValue``, or an optional of one. It has value semantics: `shop.address.city = "Rome"` sets
/// the whole.
///
/// In the store, a value all of whose parts are nil is the same as none: an optional property reads nil then, another
/// one a value with these parts. If some part can't be nil, the property reads as its default, and has to be set before
/// the object is saved.
@frozen @propertyWrapper
public struct Composite<Value: CompositeProperty>: DeclaredProperty {
  /// The declaration's position in the source, which identifies the property among those of its class.
  public let key: DeclarationKey

  /// - Parameters:
  ///   - wrappedValue: the value of a new object.
  ///   - name: the attribute's name in the model, if it differs from the property's.
  ///   - renamedFrom: the name that the attribute had in an older version of the model.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ name: String? = nil, renamedFrom: String? = nil,
    line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Attribute<Value>.record(key, { wrappedValue().stored }, AttributeTraits(name: name, renamedFrom: renamedFrom))
  }

  /// - Parameters:
  ///   - name: the attribute's name in the model, if it differs from the property's.
  ///   - renamedFrom: the name that the attribute had in an older version of the model.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(_ name: String? = nil, renamedFrom: String? = nil, line: Int = #line, column: Int = #column) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Attribute<Value>.record(key, nil, AttributeTraits(name: name, renamedFrom: renamedFrom))
  }

  /// Unavailable: the value is in the object's row, not in the wrapper. Outside a managed object there is no value to
  /// read or set.
  @available(*, unavailable, message: "Attributes are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("An attribute isn't a property of a managed object.") }
    set { preconditionFailure("An attribute isn't a property of a managed object.") }
  }

  /// The composite attribute of a managed object, which the compiler accesses in place of ``wrappedValue``.
  ///
  /// Each read decodes all parts, and a change of one part sets all of them. Reading and setting trap if the object's
  /// entity has no such attribute, or one with other elements than the type's parts.
  @inlinable
  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Composite<Value>>
  ) -> Value {
    @inline(__always) get { owner.value(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
    @inline(__always) set { owner.setValue(newValue, of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
  }
}
