public import Persist

/// An attribute that exists in memory only: it has no column, but changes of it are changes of the object.
///
/// ```swift
/// @Transient var isSelected = false
/// ```
@frozen @propertyWrapper
public struct Transient<Value: StorableValue>: DeclaredProperty {
  /// The declaration's position in the source, which identifies the property among those of its class.
  public let key: DeclarationKey

  /// - Parameters:
  ///   - wrappedValue: the value of a new or a fetched object.
  ///   - name: the attribute's name in the model, if it differs from the property's.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(
    wrappedValue: @autoclosure @escaping () -> Value, _ name: String? = nil, line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Attribute<Value>.record(key, { wrappedValue().stored }, AttributeTraits(name: name, isTransient: true))
  }

  /// - Parameters:
  ///   - name: the attribute's name in the model, if it differs from the property's.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(_ name: String? = nil, line: Int = #line, column: Int = #column) where Value: AttributeValue {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Attribute<Value>.record(key, nil, AttributeTraits(name: name, isTransient: true))
  }

  /// The compiler error for a property without a default whose type has no value for "none".
  @available(
    *, unavailable,
    message: "Give the property a default, or make it optional: its type has no empty value."
  )
  public init(_ name: String? = nil, line: Int = #line, column: Int = #column) {
    key = DeclarationKey(line: line, column: column)
  }

  /// Unavailable: the value is in the object's row, not in the wrapper. Outside a managed object there is no value to
  /// read or set.
  @available(*, unavailable, message: "Attributes are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("An attribute isn't a property of a managed object.") }
    set { preconditionFailure("An attribute isn't a property of a managed object.") }
  }

  /// The transient attribute of a managed object, which the compiler accesses in place of ``wrappedValue``. Setting it
  /// is a change of the object, although the store has no column for it.
  @inlinable
  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Transient<Value>>
  ) -> Value {
    @inline(__always) get { owner.value(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
    @inline(__always) set { owner.setValue(newValue, of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
  }
}
