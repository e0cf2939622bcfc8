/// A member that a subclass may declare anew, because models often have an attribute called `version`.
extension RedeclarableMembers where Self: ManagedObject {
  /// The version of the object's row as last read or saved; nil while the object has no row.
  ///
  /// A new row has version 1. Each save that changes the object increments it, whoever saves: its attributes, its
  /// to-one relationships, or the members of its to-many relationships. Saves compare versions to detect conflicts. A
  /// server can use it as the object's entity tag:
  ///
  /// ```swift
  /// let tag = "\"\(item.version ?? 0)\""
  /// ```
  ///
  /// A fault reads its row first; unsaved changes don't affect the version. In a subclass with its own `version`
  /// property, use `(object as ManagedObject).version`.
  public var version: Int64? {
    recordRead(.version)
    fulfill()
    return snapshot?.version
  }
}
