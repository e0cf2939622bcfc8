import Foundation
import Persist

/// The origins of objects from before the first synchronization, and the deletions before it.
///
/// An object that a copy of a file has deleted before its first synchronization arrives with the facts of other copies.
/// Its facts don't tell which row it was, unless they contain its origin. The store remembers the origins of deleted
/// rows, therefore, and deletes the object when it arrives: ``ReplicaWork/applyDeletions(among:)``. Nothing else is
/// deleted, since the histories have to prove that the rows were the same.
extension CapturePass {
  /// Makes a fact of an object's origin unless its identity shows it.
  mutating func captureOrigin(of identity: Identity, _ id: SyncTables.RowID, _ history: BirthHistory) throws {
    guard let entity = step.model.entitiesByName[id.entity] else { return }
    let change = history.changes[id]
    let origin = Origin(root: schema[entity].oldestRoot, key: id.key, time: time(change, history))
    guard Self.needsOrigin(identity, origin.time) else { return }
    let register = Register(
      life: try tables.facts(of: identity).count, stamp: Stamp(time: change?.whole ?? 0, replica: Stamp.origin),
      content: origin.content)
    let property = Origin.property(ofRowsIn: origin.root, store: step.storeName)
    try add(.value(identity, property), register.bytes, isPlain: true)
  }

  /// Whether an object's identity doesn't show its origin.
  static func needsOrigin(_ identity: Identity, _ time: Origin.Time) -> Bool {
    if identity.isValue { return true }
    return if case .beforeHistory(.some) = time { true } else { false }
  }

  func time(_ change: RowChange?, _ history: BirthHistory) -> Origin.Time {
    change?.created.map { .created($0) } ?? .beforeHistory(since: history.beginning)
  }

  /// Remembers a row that was inserted and deleted since the last capture: a copy of the store may still have it, and
  /// send it.
  mutating func addDeletion(of id: SyncTables.RowID) {
    guard let change = changes[id], change.isDeletion, let created = change.created,
      let entity = step.model.entitiesByName[id.entity]
    else { return }
    let origin = Origin(root: schema[entity].oldestRoot, key: id.key, time: .created(created))
    let deletion = FormerDeletion(origin: origin, identity: nil)
    entries.append(deletion.key, deletion.content)
    record.hasDeletions = true
  }

  /// Remembers the rows that were deleted before they got identities.
  mutating func addDeletions(_ history: BirthHistory, _ later: RowChanges) {
    let rows = history.changes.order + later.order.filter { history.changes[$0] == nil }
    for id in rows {
      guard (later[id] ?? history.changes[id])?.isDeletion == true, let entity = step.model.entitiesByName[id.entity]
      else { continue }
      let part = schema[entity]
      let value = later.deletedIdentifiers[id] ?? history.changes.deletedIdentifiers[id]
      let identity = part.identifier.flatMap { name, _ in
        value.flatMap { $0.isNull ? nil : Identity($0, of: name) }
      }
      let deletion = FormerDeletion(
        origin: Origin(root: part.oldestRoot, key: id.key, time: time(history.changes[id] ?? later[id], history)),
        identity: identity)
      entries.append(deletion.key, deletion.content)
      record.hasDeletions = true
    }
    entries.sort()
  }
}
