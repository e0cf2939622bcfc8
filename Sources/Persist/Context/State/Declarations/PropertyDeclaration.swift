/// A class's declaration of one of its properties, for a layer in which classes declare their properties.
///
/// The property wrappers of such a layer are ``DeclaredProperty``s: each stores a key in the object, and passes its
/// declaration to ``DeclarationRecording`` while a class is examined.
@_documentation(visibility: internal)
public protocol PropertyDeclaration: Sendable {
  /// The property's name in the model; nil if it equals the variable's.
  var modelName: String? { get }
  /// The variable's type.
  var valueType: Any.Type { get }
  /// Creates the initial value of each new object; nil if the class doesn't declare one. Called on any thread.
  var initialValue: (() -> StoredValue)? { get }
  /// Returns the reason why a property of a model can't be used through this declaration, as the end of a sentence; nil
  /// if it can.
  func problem(with property: Property) -> String?
}

/// A declaration of an attribute whose Swift type may be unable to read a stored value.
package protocol AttributeReading: PropertyDeclaration {
  /// Whether the type can read all values of an attribute of the given type, so that no row needs to be examined.
  func readsEveryValue(of type: AttributeType) -> Bool
  /// Returns the parts of a stored value that the property would report as unreadable.
  func unreadableParts(of value: StoredValue) -> [UnreadablePart]
}

/// A stored property of a class that represents a property of its entity: a property wrapper.
@_documentation(visibility: internal)
public protocol DeclaredProperty {
  /// The position of the declaration, by which the class's properties are distinguished.
  var key: DeclarationKey { get }
}

/// The source position of a declaration: the same in every object, and different for every property of a class.
///
/// Four bytes: the line, and the column in it. Keys only need to distinguish the properties of one class, and a class
/// is declared in one file, so the file doesn't matter.
@_documentation(visibility: internal)
@frozen public struct DeclarationKey: Sendable, Hashable {
  @usableFromInline let number: UInt32

  /// Creates a key from the values of `#line` and `#column` at the declaration; columns above 1023 may collide with
  /// those of later lines.
  @inlinable public init(line: Int, column: Int) {
    number = UInt32(truncatingIfNeeded: line &<< 10 &+ column)
  }
}
