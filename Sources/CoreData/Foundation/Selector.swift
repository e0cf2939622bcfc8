/// The name of a property or method. The source pass turns `#selector` into a literal.
public struct Selector: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let description: String

  public init(_ name: String) { description = name }

  public init(stringLiteral name: String) { self.init(name) }
}

public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }

public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
