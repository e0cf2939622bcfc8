/// A Swift key path in an expression, whose property names aren't known yet.
///
/// A key path doesn't tell what it is made of. Which properties of an entity it reads is found by running it over a
/// recording object, once a model is at hand: ``FetchExpression/resolvingKeyPaths(_:)``. Requests do so by themselves.
public struct KeyPathReference: Sendable, Hashable {
  public let keyPath: any AnyKeyPath & Sendable

  public init(_ keyPath: any AnyKeyPath & Sendable) { self.keyPath = keyPath }

  /// A key path of which the compiler doesn't know that it is Sendable.
  ///
  /// It isn't only where a subscript's arguments may not be. Properties have no arguments, and a key path that goes
  /// through a subscript is refused by the request before it is used for anything else.
  package init(ofProperties keyPath: AnyKeyPath) {
    self.keyPath = unsafeBitCast(keyPath, to: (any AnyKeyPath & Sendable).self)
  }

  public static func == (left: KeyPathReference, right: KeyPathReference) -> Bool { left.keyPath == right.keyPath }

  public func hash(into hasher: inout Hasher) { hasher.combine(keyPath) }
}

extension KeyPathReference {
  var withoutNames: PersistenceError {
    PersistenceError(
      .invalidPredicate, "The names of the properties of \(self) aren't known here.",
      fix: "Put them in its place with 'resolvingKeyPaths', or let a context's request do it.")
  }
}

extension KeyPathReference: CustomStringConvertible {
  public var description: String { "\(keyPath)" }
}
