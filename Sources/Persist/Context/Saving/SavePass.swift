/// One save: its steps, and what it has to remember until it ends. While it runs, it is its context's
/// ``ManagedObjectContext/runningSave``.
final class SavePass {
  let context: ManagedObjectContext
  /// The ends of objects before the save gave them newer rows.
  var formerEnds: [FormerEnds] = []
  /// The rows read from the newest state of the stores, by a context that is pinned to another one.
  var newestReads = NewestReads()
  /// Whether a pinned context reads the newest state, because the save must see others' saved changes.
  var readsNewest = false { didSet { context.applyReadView() } }
  /// The objects being saved, as determined after the hooks.
  private(set) var inserted: [ManagedObject] = []
  private(set) var updated: [ManagedObject] = []
  private(set) var deleted: [ManagedObject] = []
  /// The objects that stores have accepted while other stores were still to be written: `accepted` since the objects to
  /// save were last collected, `written` before that.
  private var accepted = Accepted()
  private var written = Accepted()
  /// The numbers of the save's transactions in the history, by store.
  private var historyPositions: [String: HistoryPosition] = Dictionary()
  private static let hookRounds = 1000

  init(_ context: ManagedObjectContext) { self.context = context }

  private func gather() {
    inserted = context.graph.inserted.objects
    updated = context.graph.updated.objects
    deleted = context.graph.deleted.objects
  }

  /// Collects the objects that remain to be saved after conflicts were resolved.
  func collectRemaining() {
    written.append(accepted)
    accepted = Accepted()
    gather()
  }

  private struct Accepted {
    var inserted: [ManagedObject] = []
    var updated: [ManagedObject] = []
    var deleted: [ManagedObject] = []

    mutating func append(_ other: Accepted) {
      inserted += other.inserted
      updated += other.updated
      deleted += other.deleted
    }

    var all: [ManagedObject] { inserted + updated + deleted }
  }

  /// Records the objects that one of several stores has accepted.
  func recordAccepted(_ writes: StoreWrites) {
    let saved = writes.objects
    accepted.append(
      Accepted(
        inserted: saved.inserted, updated: saved.updated + saved.touched + saved.unwritten, deleted: saved.deleted))
  }

  /// Every object that a store has accepted while others were still to be written.
  var allAccepted: Set<ObjectIdentifier> { Set((written.all + accepted.all).map { ObjectIdentifier($0) }) }

  /// Reduces the pass to the objects that stores have accepted, after another store has failed.
  ///
  /// - Returns: Whether there are any.
  func keepOnlyAccepted() -> Bool {
    (inserted, updated, deleted) = (accepted.inserted, accepted.updated, accepted.deleted)
    return !allAccepted.isEmpty
  }

  /// The writes for one store, with the objects concerned.
  struct StoreWrites {
    let tables: StoreTables
    /// The rows to write.
    var rows = RowWrites()
    /// Whether the store records its changes.
    var tracksHistory = false
    var objects = SavedObjects()

    /// Reserves memory for the writes of objects. Growing lists would temporarily take up to three times as much.
    mutating func reserve(_ counts: (inserted: Int, updated: Int, deleted: Int)) {
      objects.inserted.reserveCapacity(counts.inserted)
      rows.inserts.reserveCapacity(counts.inserted)
      objects.updated.reserveCapacity(counts.updated)
      rows.updates.reserveCapacity(counts.updated)
      objects.deleted.reserveCapacity(counts.deleted)
      rows.deletes.reserveCapacity(counts.deleted)
    }
  }

  /// Calls the will-save hooks, and repeats them for objects that hooks changed, until nothing changes anymore.
  func runHooks() throws {
    gather()
    var waiting = [inserted, updated, deleted]
    for _ in 0..<Self.hookRounds {
      for objects in waiting { objects.forEachUnretained { $0.clearNewlyChanged() } }
      let revision = context.graph.changeRevision
      for objects in waiting { objects.forEachUnretained { if $0.tableReference != nil { $0.willSave() } } }
      if context.graph.changeRevision != revision { gather() }
      let all = [inserted, updated, deleted]
      if all.allSatisfy({ $0.allSatisfyUnretained { !$0.isNewlyChanged } }) { return }
      waiting = all.map { $0.filter(\.isNewlyChanged) }
    }
    throw PersistenceError(
      .saveFailed, at: .entity(waiting.joined().first?.entity.name ?? ""),
      "willSave was still changing objects after \(Self.hookRounds) rounds.",
      fix: "Set a property in willSave only if its value differs.")
  }

  /// Removes members of relationships without an inverse from the stored owners to which others have added them since,
  /// if the members were deleted or added to another owner here.
  func moveOneWayMembers() throws {
    context.processTrackedChanges()
    let hasLeft = try context.removeDeletedOneWayMembersFromStoredOwners()
    let hasMoved = try context.removeAddedOneWayMembersFromStoredOwners()
    guard hasLeft || hasMoved else { return }
    context.processTrackedChanges(isUndoable: false)
    gather()
  }

  /// Reads the rows of objects that are saved without having been read: they must exist, and their versions are needed.
  func readMissingRows() throws {
    func isRead(_ object: ManagedObject) -> Bool { object.snapshot != nil || object.loading != .fault }
    if [updated, deleted].allSatisfy({ $0.allSatisfyUnretained(isRead) }) { return }
    let unread = [updated, deleted].flatMap { $0.filter { !isRead($0) } }
    try context.readRows(of: unread)
    let gone = unread.filter { $0.snapshot == nil }
    let wanted = gone.filter { $0.change == .updated && !$0.onlyLosesMembers }
    if !wanted.isEmpty { throw rowConflict(wanted.map { ($0, nil) }) }
    // Missing rows that were to be deleted, or that only lost members, need no write.
    for object in gone { object.loseRow() }
  }

  /// Validates every object that the save writes, and throws all problems at once.
  func validate() throws {
    var problems: [any Error] = []
    inserted.forEachUnretained { object in
      do { try object.validateForInsert() } catch { problems.append(error) }
    }
    updated.forEachUnretained { object in
      guard object.hasPersistentChangedValues else { return }
      do { try object.validateForUpdate() } catch { problems.append(error) }
    }
    deleted.forEachUnretained { object in
      do { try object.validateForDelete() } catch { problems.append(error) }
    }
    guard !problems.isEmpty else { return }
    throw ManagedObject.combined(problems, "The changes to save violate several rules.")
  }

  /// Commits the writes of one store.
  func commit(_ writes: StoreWrites) throws -> CommitReceipt {
    guard !writes.rows.isEmpty else { return CommitReceipt() }
    let store = writes.tables.store
    do {
      return try store.commit(writes.rows)
    } catch let conflicts as RowConflicts {
      throw try rowConflict(conflicts, of: store)
    } catch let error as PersistenceError where error.code == .constraintConflict {
      if let conflict = try reinsertionConflict(writes) { throw conflict }
      throw try constraintConflict(writes) ?? error
    }
  }

  /// Records the number of the save's transaction in a store's history.
  func adopt(_ receipt: CommitReceipt, of writes: StoreWrites) {
    guard let number = receipt.historyNumber else { return }
    historyPositions[writes.tables.store.identifier] = HistoryPosition(number: number, mark: receipt.historyMark)
  }

  /// Calls the did-save hooks.
  func callDidSave() {
    if !written.inserted.isEmpty { inserted += written.inserted }
    if !written.updated.isEmpty { updated += written.updated }
    if !written.deleted.isEmpty { deleted += written.deleted }
    // Nothing was written for objects whose row turned out to be deleted.
    if !updated.allSatisfyUnretained({ $0.loading != .missing }) { updated.removeAll { $0.loading == .missing } }
    for objects in [inserted, updated, deleted] { objects.forEachUnretained { $0.didSave() } }
  }

  /// The saved objects. New objects have their permanent identifiers.
  var saved: ObjectsDidSave {
    ObjectsDidSave(
      inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted), savedChanges: savedChanges,
      historyToken: historyPositions.isEmpty ? nil : HistoryToken(historyPositions),
      queryGenerationToken: context.queryGenerationAfterSave)
  }

  /// The saved objects as identifiers, computed once on demand after ``callDidSave()``.
  lazy var savedChanges = SavedChanges(
    inserted: Set(inserted.map(\.objectID)), updated: Set(updated.map(\.objectID)),
    deleted: Set(deleted.map(\.objectID)))
}
