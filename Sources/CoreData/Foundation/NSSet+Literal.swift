public import Foundation

extension NSSet: SubclassCreating {}

extension SubclassCreating where Self: NSSet {
  /// Creates a set of the elements of a literal.
  public init(arrayLiteral elements: Any...) {
    let set = Self.self is NSMutableSet.Type ? NSMutableSet(array: elements) : NSSet(array: elements)
    self.init(creating: { unsafeDowncast(set, to: Self.self) })
  }
}

/// Sets can be written as literals, as on Apple's platforms.
extension NSSet: @retroactive ExpressibleByArrayLiteral {
  /// The type of the elements.
  public typealias ArrayLiteralElement = Any
}
