/// The name of a property or method. The source pass turns `#selector` into a literal.
public struct Selector: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name.
  public let description: String

  /// Creates a selector with a name.
  public init(_ name: String) { description = name }

  /// Creates a selector with a name.
  public init(stringLiteral name: String) { self.init(name) }
}

/// Returns a selector's name.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }

/// Returns the selector with a name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
