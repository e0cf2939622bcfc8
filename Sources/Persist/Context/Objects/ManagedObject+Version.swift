/// An object of a store, whose rows have versions.
///
/// ``ManagedObject`` and its subclasses conform, nothing else does. A protocol, because models often have an attribute
/// called `version`: a subclass may declare a property of that name, which one of its superclass would forbid.
public protocol VersionedObject: AnyObject {}

extension ManagedObject: VersionedObject {}

extension VersionedObject where Self: ManagedObject {
  /// The version of the object's row as the object has read or saved it; nil while the object has no row.
  ///
  /// A new row has version 1, and each save that changes the object adds 1, whoever saves: its attributes, its to-one
  /// relationships, or the members of its to-many relationships. Saves compare it to find conflicts. A server sends it
  /// as the object's entity tag:
  ///
  /// ```swift
  /// let tag = "\"\(item.version ?? 0)\""
  /// ```
  ///
  /// A fault reads its row first; unsaved changes leave the version as it is. In a subclass with a property of its own
  /// that is called so, `(object as ManagedObject).version`.
  public var version: Int64? {
    fulfil()
    return snapshot?.version
  }
}
