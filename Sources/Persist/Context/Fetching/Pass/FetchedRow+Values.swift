extension FetchedRow {
  /// The value of a column, as ``ManagedObject/value(forKey:)`` gives it; of a to-one relationship the related object's
  /// ``ManagedObjectID``. Nil where there is no value.
  public subscript(name: String) -> Any? { storedValue(forKey: name).flatMap(DynamicValue.any) }
}

