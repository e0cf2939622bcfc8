import Foundation

/// The steps of one save.
struct SavePass {
  let context: ManagedObjectContext
  /// What is saved, as it is once the hooks have run.
  private(set) var inserted: [ManagedObject] = []
  private(set) var updated: [ManagedObject] = []
  private(set) var deleted: [ManagedObject] = []
  private static let hookRounds = 1000

  init(_ context: ManagedObjectContext) { self.context = context }

  private mutating func gather() {
    inserted = context.inserted.objects
    updated = context.updated.objects
    deleted = context.deleted.objects
  }

  /// What one store gets, with the objects that it is about.
  struct StoreWrites {
    let tables: StoreTables
    var writes = RowWrites()
    var inserted: [ManagedObject] = []
    /// Objects whose row is written.
    var updated: [ManagedObject] = []
    /// Objects with changes that no row has.
    var touched: [ManagedObject] = []
    var deleted: [ManagedObject] = []
  }

  /// Calls the will-save hooks, and again those of objects that hooks changed, until nothing changes any more.
  mutating func runHooks() throws {
    gather()
    var waiting = [inserted, updated, deleted]
    for _ in 0..<Self.hookRounds {
      for objects in waiting { for object in objects { object.isTouched = false } }
      for objects in waiting { for object in objects where object.table != nil { object.willSave() } }
      gather()
      waiting = [inserted, updated, deleted].map { $0.filter(\.isTouched) }
      if waiting.allSatisfy(\.isEmpty) { return }
    }
    throw PersistError(
      .saveFailed, at: .entity(waiting.joined().first?.entity.name ?? ""),
      "After \(Self.hookRounds) rounds of willSave objects still change.",
      fix: "Set a property in willSave only where it has another value.")
  }

  /// Reads the rows of objects that are saved without having been read: they must be there, and their versions are
  /// needed.
  func readMissingRows() throws {
    let unread = (updated + deleted).filter {
      $0.snapshot == nil && $0.loading == .fault
    }
    for (_, objects) in Dictionary(grouping: unread, by: { ObjectIdentifier($0.layout) }) {
      try context.readRows(of: objects)
    }
    let gone = unread.filter { $0.snapshot == nil }
    let wanted = gone.filter { $0.change == .updated && !$0.onlyLosesMembers }
    if !wanted.isEmpty { throw Self.conflict(wanted.map { ($0.entity, $0.key, $0.table?.store?.url, "is gone") }) }
    // What was to be deleted, or only let go of members, and is gone needs nothing.
    for object in gone { object.loading = .missing }
  }

  /// Checks every object that the save writes, and throws all that is wrong at once.
  func validate() throws {
    var problems: [any Error] = []
    for object in inserted {
      do { try object.validateForInsert() } catch { problems.append(error) }
    }
    for object in updated where object.hasPersistentChangedValues {
      do { try object.validateForUpdate() } catch { problems.append(error) }
    }
    for object in deleted {
      do { try object.validateForDelete() } catch { problems.append(error) }
    }
    if problems.count == 1, let only = problems.first { throw only }
    guard !problems.isEmpty else { return }
    let all = problems.flatMap { problem -> [PersistError] in
      guard let error = problem as? PersistError else {
        return [PersistError(.validationRule, "\(problem)")]
      }
      return error.errors.isEmpty ? [error] : error.errors
    }
    throw PersistError(.validationMultiple, "\(all.count) rules are broken by what is to be saved.", errors: all)
  }

  /// Hands a store its writes.
  func commit(_ writes: StoreWrites) throws -> CommitReceipt {
    guard !writes.writes.isEmpty else { return CommitReceipt() }
    do {
      return try writes.tables.store.commit(writes.writes)
    } catch let conflicts as RowConflicts {
      throw Self.conflict(
        conflicts.conflicts.map { conflict in
          let what =
            if let version = conflict.storedVersion {
              "was changed meanwhile: read as version \(conflict.expectedVersion), now \(version)"
            } else {
              "was deleted meanwhile"
            }
          return (conflict.entity, conflict.id.primaryKey ?? 0, writes.tables.store.url, what)
        })
    }
  }

  /// Calls the did-save hooks.
  func finish() {
    for objects in [inserted, updated, deleted] { for object in objects { object.didSave() } }
  }

  /// What was written. New objects have their permanent identifiers.
  var saved: ObjectsDidSave {
    ObjectsDidSave(
      inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted),
      savedChanges: SavedChanges(
        inserted: Set(inserted.map(\.objectID)), updated: Set(updated.map(\.objectID)),
        deleted: Set(deleted.map(\.objectID))))
  }

  static func conflict(
    _ rows: [(entity: Entity, key: Int64, store: URL?, what: String)]
  ) -> PersistError {
    let errors = rows.map { row in
      PersistError(
        .mergeConflict, at: .init(entity: row.entity.name, row: row.key, store: row.store),
        "\(row.entity.name) \(row.key) \(row.what).")
    }
    return PersistError(
      .mergeConflict, at: errors.first?.place ?? .unknown,
      "\(rows.count) of the objects to save were changed by others since they were read.",
      fix: "Refresh them with mergingChanges and save again.", errors: errors)
  }
}
