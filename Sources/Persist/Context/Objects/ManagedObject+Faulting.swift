import Foundation

extension ManagedObject {
  /// Fulfills a fault, reading its row if necessary.
  ///
  /// A getter can't throw: the context saves the error for its next call that can.
  final func fulfill() {
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
    if !layout.transientSlots.isEmpty { adoptTransientValuesOfParent() }
    awakeFromFetch()
    if loading == .awakening { loading = .loaded }
  }

  /// Discards the row and all changes, so that the next use reads the row again. The caller has already updated both
  /// sides of relationships.
  final func becomeFault() {
    if loading == .loaded { willTurnIntoFault() }
    let wasLoaded = loading == .loaded
    table?.observedChanges.begin()
    defer { table?.observedChanges.end() }
    noteChangeOfAll()
    loading = .fault
    snapshot = nil
    replacePending(with: [])
    replaceMembers(with: [])
    companions = nil
    releaseRelated()
    if wasLoaded { didTurnIntoFault() }
  }

  /// Turns the object into a fault whose row and members are read again on the next use.
  final func forgetRow() {
    loading = .fault
    snapshot = nil
    replaceMembers(with: [])
  }

  /// Discards all changes since the last save, without updating the other sides of relationships.
  final func discardChanges() {
    releaseAddedMembers()
    replacePending(with: [])
    for members in toManys { members?.revert() }
    change = .none
    releaseFormerEnds()
  }
}
