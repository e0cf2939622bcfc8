public import Persist

/// A property whose objects are the result of a fetch request instead of a relationship.
///
/// ```swift
/// final class Author: ManagedObject {
///   @Attribute var alias = ""
///   @FetchedProperty("authorAlias == $FETCH_SOURCE.alias", sortedBy: [.init("rating")]) var feedbacks: [Feedback]
/// }
/// ```
///
/// The request runs when the property is first read, with the object as `$FETCH_SOURCE`; its result is cached until the
/// object is refreshed.
@frozen @propertyWrapper
public struct FetchedProperty<Element: ManagedObject>: DeclaredProperty {
  /// The declaration's position in the source, which identifies the property among those of its class.
  public let key: DeclarationKey

  /// - Parameters:
  ///   - predicate: the condition for objects, as a format string.
  ///   - name: the property's name in the model, if it differs from the variable's.
  ///   - limit: the maximum number of objects; 0 for all.
  ///   - userInfo: a dictionary that the predicate can access as `$FETCHED_PROPERTY.userInfo`.
  ///   - line: the line of the declaration, which orders the properties of a class.
  ///   - column: the column of the declaration.
  ///   - sort: the order of the objects.
  @inlinable @inline(__always)
  public init(
    _ predicate: String, name: String? = nil,
    sortedBy sort: @autoclosure () -> [FetchRequestDescription.Sort] = [], limit: Int = 0,
    userInfo: @autoclosure () -> [String: String] = [:], line: Int = #line, column: Int = #column
  ) {
    key = DeclarationKey(line: line, column: column)
    guard DeclarationRecording.isActive else { return }
    Self.record(key, predicate: predicate, name: name, sort: sort(), limit: limit, userInfo: userInfo())
  }

  @usableFromInline @inline(never)
  static func record(
    _ key: DeclarationKey, predicate: String, name: String?, sort: [FetchRequestDescription.Sort], limit: Int,
    userInfo: [String: String]
  ) {
    let declaration = FetchedPropertyDeclaration(
      modelName: name, destination: Element.self, predicate: predicate, sort: sort, limit: limit, userInfo: userInfo)
    DeclarationRecording.record(declaration, key: key)
  }

  /// Unavailable: the value is in the object's row, not in the wrapper. Outside a managed object there is no value to
  /// read.
  @available(*, unavailable, message: "Fetched properties are properties of subclasses of ManagedObject.")
  public var wrappedValue: [Element] { preconditionFailure("A fetched property isn't a property of a managed object.") }

  /// The fetched objects of a managed object, which the compiler reads in place of ``wrappedValue``.
  ///
  /// The first read runs the request. If it fails, the property reads as empty, and the context's next call that can
  /// throw throws the error.
  @inlinable
  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: KeyPath<Owner, [Element]>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, FetchedProperty<Element>>
  ) -> [Element] {
    @inline(__always) get {
      owner.fetched(at: owner.slot(of: owner[keyPath: storageKeyPath].key, declaredBy: Owner.self), of: Element.self)
    }
  }
}
