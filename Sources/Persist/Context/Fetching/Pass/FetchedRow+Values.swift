extension FetchedRow {
  /// The value of a column, in the form that ``RedeclarableMembers/value(forKey:)`` returns; for a to-one
  /// relationship, the related object's ``ManagedObjectID``. Nil if there is no value.
  public subscript(name: String) -> Any? { storedValue(forKey: name).flatMap(DynamicValue.any) }
}

