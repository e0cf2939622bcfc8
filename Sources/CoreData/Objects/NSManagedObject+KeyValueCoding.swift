public import Foundation
import Persist

/// The kinds of changes of a set.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Members are added.
  case union = 1
  /// Members are removed.
  case minus = 2
  /// All but some members are removed.
  case intersect = 3
  /// Other members take the place of all.
  case set = 4
}

// Sets of related objects by key path.
extension NSManagedObject {
  /// Returns the members of an unordered relationship at a key path as a set whose changes are those of the
  /// relationship. Stops the program if the path leads to no object.
  public final func mutableSetValue(forKeyPath path: String) -> NSMutableSet {
    let (object, key) = owner(of: path)
    return object.mutableSetValue(forKey: key)
  }

  /// Returns the members of an ordered relationship at a key path as a set whose changes are those of the
  /// relationship. Stops the program if the path leads to no object.
  public final func mutableOrderedSetValue(forKeyPath path: String) -> NSMutableOrderedSet {
    let (object, key) = owner(of: path)
    return object.mutableOrderedSetValue(forKey: key)
  }

  private func owner(of path: String) -> (object: NSManagedObject, key: String) {
    var keys = path.split(separator: ".").map(String.init)
    guard let key = keys.popLast() else { stop("The key path is empty.") }
    if keys.isEmpty { return (self, key) }
    guard let object = value(forKeyPath: keys.joined(separator: ".")) as? NSManagedObject else {
      stop("'\(path)' leads to no object.")
    }
    return (object, key)
  }
}

// Key paths lead to the names of properties.
extension NSFetchRequestResult where Self: NSManagedObject {
  /// Announces a change of a value that is set as a primitive one.
  public func willChangeValue<Value>(for path: KeyPath<Self, Value>) {
    if let key = KeyPathNames.path(of: path) { willChangeValue(forKey: key) }
  }

  /// Ends a change of a value.
  public func didChangeValue<Value>(for path: KeyPath<Self, Value>) {
    if let key = KeyPathNames.path(of: path) { didChangeValue(forKey: key) }
  }
}
