public import Foundation

// Methods that every object has on Apple's platforms.
extension NSObjectProtocol {
  /// Whether the object's class is a class or one of its subclasses.
  public func isKind(of type: AnyClass) -> Bool {
    var current: AnyClass? = Swift.type(of: self)
    while let candidate = current {
      if candidate == type { return true }
      current = _getSuperclass(candidate)
    }
    return false
  }

  /// Whether the object's class is a certain one.
  public func isMember(of type: AnyClass) -> Bool { Swift.type(of: self) == type }

  /// Announces a change to observers by key, of which there are none for most classes.
  public func willChangeValue(forKey key: String) {}

  /// Announces a change to observers by key, of which there are none for most classes.
  public func didChangeValue(forKey key: String) {}

  /// Announces a change to observers by key path, of which there are none for most classes.
  public func willChangeValue<Value>(for path: KeyPath<Self, Value>) {}

  /// Announces a change to observers by key path, of which there are none for most classes.
  public func didChangeValue<Value>(for path: KeyPath<Self, Value>) {}
}
