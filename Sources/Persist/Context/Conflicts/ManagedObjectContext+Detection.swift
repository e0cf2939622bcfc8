extension ManagedObjectContext {
  /// Makes the next save meet a conflict where others have changed or deleted the row of an object since it was read,
  /// also where this context doesn't change the object.
  ///
  /// For decisions that rest on an object which stays as it is:
  ///
  /// ```swift
  /// context.detectConflicts(for: account)
  /// if account.isOpen { booking.account = account }
  /// try context.save()        // a conflict where the account was closed meanwhile
  /// ```
  ///
  /// The object is read now where it is a fault, and held until the next save that succeeds or a reset. Nothing is
  /// checked where the context has no changes to save. ``mergePolicy`` settles the conflict: every policy but
  /// ``MergePolicy/error`` lets the object have the newer row.
  public func detectConflicts(for object: ManagedObject) {
    guard object.table?.context === self else { return }
    if object.loading == .fault { object.fulfil() }
    watchedObjects.insert(object)
  }
}
