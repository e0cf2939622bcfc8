@testable import Persist
@testable import PersistCore

/// Records the notifications of a context.
final class EventRecorder {
  private(set) var changes: [ObjectsDidChange] = []
  private(set) var saves: [ObjectsDidSave] = []
  /// Every event's name, in order.
  private(set) var order: [String] = []
  private var observation: ContextObservation?

  init(_ context: ManagedObjectContext) {
    observation = context.observe { [weak self] event in
      switch event {
      case .objectsDidChange(let changes):
        self?.changes.append(changes)
        self?.order.append("change")
      case .willSave: self?.order.append("willSave")
      case .didSave(let saved):
        self?.saves.append(saved)
        self?.order.append("didSave")
      case .didObtainPermanentIDs, .willMerge, .didMergeUnknownChanges, .parentDidSave: break
      }
    }
  }

  func forget() { (changes, saves, order) = ([], [], []) }
}

extension ObjectsDidChange {
  /// Inserted, updated, deleted, refreshed, invalidated, all invalidated.
  var counts: [Int] {
    [inserted.count, updated.count, deleted.count, refreshed.count, invalidated.count, invalidatedAll.count]
  }
}
