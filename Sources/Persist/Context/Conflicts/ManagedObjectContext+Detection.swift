extension ManagedObjectContext {
  /// Makes the next save detect a conflict if others have changed or deleted the row of an object since it was read,
  /// even if this context doesn't change the object.
  ///
  /// Use it for decisions that depend on an object that isn't changed itself:
  ///
  /// ```swift
  /// context.detectConflicts(for: account)
  /// if account.isOpen { booking.account = account }
  /// try context.save()        // a conflict if the account was closed meanwhile
  /// ```
  ///
  /// A fault is read now. The object is held until the next successful save or a reset. Nothing is checked if the
  /// context has no changes to save. ``mergePolicy`` resolves the conflict: every policy except ``MergePolicy/error``
  /// gives the object the newer row.
  public func detectConflicts(for object: ManagedObject) {
    guard object.table?.context === self else { return }
    if object.loading == .fault { object.fulfill() }
    graph.watch(object)
  }
}
