/// A Swift key path in an expression, not yet resolved to property names.
///
/// A key path is opaque. The properties that it reads are found by running it over a recording object once a model is
/// available: ``FetchExpression/resolvingKeyPaths(_:)``. Requests resolve key paths themselves.
public struct KeyPathReference: Sendable, Hashable {
  /// The key path; its root is a managed object class.
  public let keyPath: any AnyKeyPath & Sendable

  /// Wraps a key path over properties. Requests reject key paths that read anything else.
  public init(_ keyPath: any AnyKeyPath & Sendable) { self.keyPath = keyPath }

  /// Wraps a key path that isn't known to the compiler to be Sendable.
  ///
  /// Only subscript arguments can make a key path non-Sendable. Properties have no arguments, and a request rejects a
  /// key path through a subscript before using it for anything else.
  package init(ofProperties keyPath: AnyKeyPath) {
    self.keyPath = unsafeBitCast(keyPath, to: (any AnyKeyPath & Sendable).self)
  }

  public static func == (left: KeyPathReference, right: KeyPathReference) -> Bool { left.keyPath == right.keyPath }

  public func hash(into hasher: inout Hasher) { hasher.combine(keyPath) }
}

extension KeyPathReference {
  package var withoutNames: PersistenceError {
    PersistenceError(
      .invalidPredicate, "The key path \(self) isn't resolved to property names.",
      fix: "Resolve it with 'resolvingKeyPaths', or use the predicate in a context's request.")
  }
}

extension KeyPathReference: CustomStringConvertible {
  public var description: String { "\(keyPath)" }
}
