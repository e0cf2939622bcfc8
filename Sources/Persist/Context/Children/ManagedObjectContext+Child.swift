extension ManagedObjectContext {
  /// Creates a scratch pad over another context: it sees the parent's objects with their unsaved changes, and saves to
  /// the parent, whose own save then writes to the stores.
  ///
  /// Unsaved changes in a child leave no trace in the parent. A child costs only what it uses, however many objects the
  /// parent has: creating one is cheap, and each row is read on use. Its saves run the hooks and the validation, as
  /// every save does. The properties that it changed replace the parent's; other properties of the parent are left
  /// unchanged. Its new objects keep their temporary identifiers until the outermost context has saved.
  ///
  /// ```swift
  /// let draft = ManagedObjectContext(parent: context)
  /// draft.object(with: tea.objectID)["name"] = "Green tea"
  /// try draft.save()       // tea has the name, unsaved
  /// try context.save()     // the store has it
  /// ```
  ///
  /// Neither context is Sendable, and a child uses its parent for every read: both belong to one isolation domain, and
  /// the compiler keeps them together. For another task, create a context from the coordinator instead of a child.
  ///
  /// - Parameter parent: The parent context, held as long as the child lives.
  public convenience init(parent: ManagedObjectContext) {
    self.init(childOf: parent) { ParentRows(of: $0, in: parent) }
  }
}
