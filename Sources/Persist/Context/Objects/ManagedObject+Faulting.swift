import Foundation

extension ManagedObject {
  /// Turns a fault into an object with its row, which is read where it isn't there yet.
  ///
  /// A getter can't throw: what goes wrong is kept by the context and thrown by its next call that can.
  final func fulfil() {
    guard loading == .fault else { return }
    if snapshot == nil {
      guard let table, let store = table.store else { return }
      do {
        let query = RowQuery(entity: layout.entity, includesSubentities: false, keys: [key])
        guard let row = try store.rows(query).first else {
          loading = .missing
          if !table.context.shouldDeleteInaccessibleFaults {
            table.context.deferError(ManagedObjectContext.notFound(objectID))
          }
          return
        }
        snapshot = row.snapshot
      } catch {
        table.context.deferError(error)
        return
      }
    }
    awake()
  }

  final func awake() {
    loading = .awakening
    if !layout.transientSlots.isEmpty { takeTransientValuesOfParent() }
    awakeFromFetch()
    if loading == .awakening { loading = .loaded }
  }

  /// Forgets the row and every change, so that the next use reads the row again. Both sides of relationships were put
  /// in step before.
  final func becomeFault() {
    if loading == .loaded { willTurnIntoFault() }
    let wasLoaded = loading == .loaded
    loading = .fault
    snapshot = nil
    pending = []
    toManys = []
    companions = nil
    letGoOfRelated()
    if wasLoaded { didTurnIntoFault() }
  }

  /// Has a fault read its row, and the members of its relationships, again when they are used.
  final func forgetRow() {
    loading = .fault
    snapshot = nil
    toManys = []
  }

  /// Forgets every change since the last save, without a look at the other sides of relationships.
  final func discardChanges() {
    letGoOfAddedMembers()
    pending = []
    for members in toManys { members?.revert() }
    change = .none
    letGoOfFormerEnds()
  }
}
