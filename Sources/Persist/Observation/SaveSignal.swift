/// Tells when a context makes or merges a save that may change the results of requests: the hook of products that
/// follow requests.
///
/// It belongs to the isolation of its context, and doesn't keep it alive.
package final class SaveSignal {
  private let signal = WakeSignal()
  private let entities: DependentEntities
  private weak var context: ManagedObjectContext?
  private var observation: ContextObservation?
  /// True at the beginning, for the first reading.
  private var isRaised = true

  /// - Parameter entities: The entities on which the results depend.
  package init(_ context: ManagedObjectContext, _ entities: DependentEntities) {
    self.context = context
    self.entities = entities
    observation = context.observe { [weak self] event in self?.receive(event) }
    context.add(signal)
  }

  /// Merges what others have saved, and returns whether there was such a save since the last call.
  package func take() -> Bool {
    context?.processPendingChanges()
    defer { isRaised = false }
    return isRaised
  }

  /// Waits until the context may have something to merge, or a save was made since `count` was read.
  package func wait(since count: Int, isolation actor: isolated (any Actor)?) async {
    await signal.wait(since: count, isolation: actor)
  }

  /// Grows with everything that ends a wait; read it before ``take()``.
  package var count: Int { signal.count }

  private func receive(_ event: ContextEvent) {
    guard let context, !isRaised, concerns(event, of: context) else { return }
    isRaised = true
    signal.send()
  }

  private func concerns(_ event: ContextEvent, of context: ManagedObjectContext) -> Bool {
    switch event {
    case .willSave, .didObtainPermanentIDs: false
    case .didMergeUnknownChanges: true
    case .willMerge(let changes):
      changes.isIncomplete
        || [changes.insertedObjectIDs, changes.updatedObjectIDs, changes.deletedObjectIDs].joined().contains { id in
          context.layout(named: id.entityName).map(entities.contains) ?? true
        }
    case .parentDidSave(let layouts): layouts.contains(where: entities.contains)
    case .didSave(let saved):
      [saved.inserted, saved.updated, saved.deleted].joined().contains { entities.contains($0.layout) }
    // After a reset, the results have left the context.
    case .objectsDidChange(let changes): !changes.invalidatedAll.isEmpty
    }
  }
}
