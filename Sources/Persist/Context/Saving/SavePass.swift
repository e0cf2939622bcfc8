/// The steps of one save.
struct SavePass {
  let context: ManagedObjectContext
  /// What is saved, as it is once the hooks have run.
  private(set) var inserted: [ManagedObject] = []
  private(set) var updated: [ManagedObject] = []
  private(set) var deleted: [ManagedObject] = []
  /// What stores took already while another one's conflicts were settled.
  private var written: (inserted: [ManagedObject], updated: [ManagedObject], deleted: [ManagedObject]) = ([], [], [])
  private static let hookRounds = 1000

  init(_ context: ManagedObjectContext) { self.context = context }

  private mutating func gather() {
    inserted = context.inserted.objects
    updated = context.updated.objects
    deleted = context.deleted.objects
  }

  /// Takes in what is left to save after conflicts were settled.
  mutating func gatherRest() {
    written.inserted += inserted.filter { $0.change == .none && $0.table != nil }
    written.updated += updated.filter { $0.change == .none && $0.table != nil }
    written.deleted += deleted.filter { $0.table == nil }
    gather()
  }

  /// What one store gets, with the objects that it is about.
  struct StoreWrites {
    let tables: StoreTables
    var writes = RowWrites()
    var inserted: [ManagedObject] = []
    /// Objects whose row is written.
    var updated: [ManagedObject] = []
    /// Objects of which only members changed: the row's version goes up.
    var related: [ManagedObject] = []
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
      let revision = context.changeRevision
      for objects in waiting { for object in objects where object.table != nil { object.willSave() } }
      if context.changeRevision != revision { gather() }
      waiting = [inserted, updated, deleted].map { $0.filter(\.isTouched) }
      if waiting.allSatisfy(\.isEmpty) { return }
    }
    throw PersistenceError(
      .saveFailed, at: .entity(waiting.joined().first?.entity.name ?? ""),
      "After \(Self.hookRounds) rounds of willSave objects still change.",
      fix: "Set a property in willSave only where it has another value.")
  }

  /// Reads the rows of objects that are saved without having been read: they must be there, and their versions are
  /// needed.
  func readMissingRows() throws {
    let unread = [updated, deleted].flatMap { $0.filter { $0.snapshot == nil && $0.loading == .fault } }
    guard !unread.isEmpty else { return }
    try context.readRows(of: unread)
    let gone = unread.filter { $0.snapshot == nil }
    let wanted = gone.filter { $0.change == .updated && !$0.onlyLosesMembers }
    if !wanted.isEmpty { throw rowConflict(wanted.map { ($0, nil) }) }
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
    guard !problems.isEmpty else { return }
    throw ManagedObject.combined(problems, "Several rules are broken by what is to be saved.")
  }

  /// Hands a store its writes.
  func commit(_ writes: StoreWrites) throws -> CommitReceipt {
    guard !writes.writes.isEmpty else { return CommitReceipt() }
    let store = writes.tables.store
    do {
      return try store.commit(writes.writes)
    } catch let conflicts as RowConflicts {
      throw try rowConflict(conflicts, of: store)
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw try constraintConflict(writes) ?? error
    }
  }

  /// Calls the did-save hooks.
  mutating func finish() {
    if !written.inserted.isEmpty { inserted += written.inserted }
    if !written.updated.isEmpty { updated += written.updated }
    if !written.deleted.isEmpty { deleted += written.deleted }
    // Of an object whose row turned out to be gone nothing was written.
    updated.removeAll { $0.loading == .missing }
    for objects in [inserted, updated, deleted] { for object in objects { object.didSave() } }
  }

  /// What was written. New objects have their permanent identifiers.
  var saved: ObjectsDidSave {
    mutating get {
      ObjectsDidSave(
        inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted), savedChanges: savedChanges)
    }
  }

  /// What was written, as identifiers: made once, when somebody wants to hear of it after ``finish()``.
  lazy var savedChanges = SavedChanges(
    inserted: Set(inserted.map(\.objectID)), updated: Set(updated.map(\.objectID)),
    deleted: Set(deleted.map(\.objectID)))
}
