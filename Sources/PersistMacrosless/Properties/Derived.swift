public import Persist

/// An attribute that the store computes from an expression over the object at each save.
///
/// ```swift
/// @Derived("articles.@count") var articleCount: Int
/// @Derived("canonical:(name)") var searchName: String?
/// ```
///
/// It can be read, used for sorting and in predicates, but not be set. An object has the value of the last save if it
/// was fetched or refreshed afterward.
@frozen @propertyWrapper
public struct Derived<Value: AttributeValue>: DeclaredProperty {
  /// The declaration's position in the source, which identifies the property among those of its class.
  public let key: DeclarationKey

  /// - Parameters:
  ///   - expression: the expression that computes the value, in the format language.
  ///   - name: the attribute's name in the model, if it differs from the property's.
  ///   - type: the attribute's type in the model, if it isn't the default for the Swift type.
  ///   - renamedFrom: the name that the attribute had in an older version of the model.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  @inlinable @inline(__always)
  public init(
    _ expression: String, name: String? = nil, type: AttributeType? = nil, renamedFrom: String? = nil,
    line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Attribute<Value>.record(
      key, nil,
      AttributeTraits(name: name, type: type, renamedFrom: renamedFrom, isOptional: true, derivation: expression))
  }

  /// Unavailable: the value is in the object's row, not in the wrapper. Outside a managed object there is no value to
  /// read.
  @available(*, unavailable, message: "Attributes are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value { preconditionFailure("An attribute isn't a property of a managed object.") }

  /// The derived attribute of a managed object, which the compiler reads in place of ``wrappedValue``.
  ///
  /// An object that was never saved reads the type's value for "none", such as 0.
  @inlinable
  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: KeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Derived<Value>>
  ) -> Value {
    @inline(__always) get { owner.value(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self) }
  }
}
