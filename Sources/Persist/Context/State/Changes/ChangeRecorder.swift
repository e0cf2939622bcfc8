/// Records the events of contexts, so that they can be undone.
protocol ChangeRecorder: AnyObject {
  /// Records an event of a context.
  func record(_ entries: ContiguousArray<ChangeTracker.Entry>, in context: ManagedObjectContext)
  /// Ends the group of the current event.
  func endEvent()
  /// Forgets what was recorded of a context.
  func removeActions(of context: ManagedObjectContext)
}
