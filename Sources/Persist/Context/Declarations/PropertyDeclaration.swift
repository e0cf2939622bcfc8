/// What a class says of one of its properties, for a layer that lets classes declare theirs.
///
/// Such a layer's property wrappers are ``DeclaredProperty``s: each leaves a key in the object and hands its
/// declaration to ``DeclarationRecording`` while a class is looked at.
public protocol PropertyDeclaration: Sendable {
  /// The property's name in the model; nil for the variable's.
  var modelName: String? { get }
  /// The variable's type.
  var valueType: Any.Type { get }
  /// Makes what a new object has, anew for each; nil where the class doesn't say it. Called on any thread.
  var initialValue: (() -> StoredValue)? { get }
  /// Why a property of a model can't be used through this declaration, as the rest of a sentence; nil where it can.
  func problem(with property: Property) -> String?
}

/// A stored property of a class that stands for a property of its entity: a property wrapper.
public protocol DeclaredProperty {
  var key: DeclarationKey { get }
}

/// Where a property is declared: the same in every object, and another one for every property of a class.
///
/// Four bytes: the line, and the column within it. Only properties of one class are told apart by it, and a class
/// stands in one file, so that the file doesn't matter.
@frozen public struct DeclarationKey: Sendable, Hashable {
  @usableFromInline let number: UInt32

  @inlinable public init(line: Int, column: Int) {
    number = UInt32(truncatingIfNeeded: line &<< 10 &+ column)
  }
}
