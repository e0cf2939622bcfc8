package import Foundation

/// Storage for rows. A store is synchronous, serves many contexts concurrently, and has no access to objects.
package protocol PersistentStore: SharedRowSource {
  /// `SQLite`, `PostgreSQL` or `InMemory`.
  var type: String { get }
  /// The model with which the store was opened.
  var model: ManagedObjectModel { get }
  /// Whether the store was opened for reading only; writing throws ``PersistenceError/Code/storeReadOnly``.
  var isReadOnly: Bool { get }
  /// The name of the model's configuration whose entities the store contains; nil for all entities.
  var configuration: String? { get }
  /// The maximum time that a write waits for other writers.
  var busyTimeout: Duration { get }

  /// Whether texts may contain U+0000, as they may in files.
  var holdsNullCharacters: Bool { get }
  /// Whether the coordinator posts a notification of every change of the store.
  var postsRemoteChanges: Bool { get }
  /// Calls `report` after changes by anyone, on a thread of the store's own; several changes may be combined in one
  /// report.
  ///
  /// - Parameter report: Doesn't wait for anything, since the end of the observation waits for it.
  /// - Returns: The running observation; nil if nobody else can change the store.
  func monitorChanges(_ report: @escaping @Sendable () -> Void) throws -> (any StoreMonitor)?
  /// Holds the current state of the store for reading; nil if the store can't do that without blocking writers.
  func generation() throws -> (any StoreGeneration)?
  /// The rows as a replica of the store's server has them; nil if there is no replica.
  func replicaRows() -> (any SharedRowSource)?
  /// Makes replicas show at least what the store contains at the moment, from now on.
  func advanceReplicas() throws
  /// The record of the store's changes; nil if the store has none.
  var history: (any StoreHistory)? { get }

  /// The store's metadata, including those set since the last commit.
  func metadata() throws -> StoreMetadata
  /// Replaces the application's own metadata keys.
  func setMetadata(_ metadata: StoreMetadata) throws
  /// Writes the metadata that were set and that no commit has written.
  func savePendingMetadata() throws
  /// Makes the next commit delete the large values left behind by a process that ended uncleanly.
  func recordUncleanEnd()

  /// The versions of rows of an entity, by key; deleted rows are omitted.
  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64]
  /// A number that changes whenever another writer has written to the file; nil if it can't be determined at the
  /// moment.
  func foreignChangeCount() throws -> Int64?

  /// The members of a to-many relationship for all owners in a range of keys, up to a limit.
  ///
  /// One query instead of one for each row, with bounded memory.
  ///
  /// - Parameter limit: the number of members to read; the owner at which it is reached is left out.
  func related(
    by relationship: Property, of entity: Entity, owners: ClosedRange<Int64>, limit: Int
  ) throws -> RelatedMembers
  /// The greatest key in use in an entity's hierarchy, 0 for none.
  func greatestKey(inHierarchyOf entity: Entity) throws -> Int64
  /// The greatest key that may have been assigned in an entity's hierarchy, to rows that were deleted too; 0 for none.
  func greatestAssignedKey(inHierarchyOf entity: Entity) throws -> Int64

  // Each runs in one transaction, or not at all.
  /// Inserts rows as they are produced, without creating objects.
  ///
  /// - Throws: ``PersistenceError/Code/validationMissingRequired``; ``PersistenceError/Code/constraintConflict`` if the
  ///   batch fails on conflicts; the errors of ``BatchInsert/next``.
  func insert(_ batch: BatchInsert) throws -> BatchOutcome
  /// Inserts rows with given keys and relationships, slice by slice, until `next` returns nil.
  ///
  /// Memory use doesn't grow with the number of rows.
  ///
  /// - Parameter report: Called with the completed fraction of the work after the last slice, if that takes long.
  /// - Throws: ``PersistenceError/Code/constraintConflict`` for a key or a unique value in use;
  ///   ``PersistenceError/Code/validationMissingRequired``; ``PersistenceError/Code/invalidRequest`` for ends of a
  ///   relationship that don't agree and for references to missing rows; and the errors of `next` and `report`.
  func insert(
    slices next: () throws -> ImportSlice?, completing report: (Double) throws -> Void
  ) throws -> ImportOutcome
  /// Sets columns of the selected rows to expressions over each row, without creating objects.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the store can't compute an expression exactly;
  ///   ``PersistenceError/Code/constraintConflict``.
  func update(_ batch: BatchUpdate) throws -> BatchOutcome
  /// Deletes the selected rows without creating objects, and applies their delete rules to other rows.
  func delete(_ batch: BatchDelete) throws -> BatchOutcome

  /// Waits for a reservation to write.
  ///
  /// - Parameters:
  ///   - limit: The maximum wait.
  ///   - patience: The time that other threads wait for the reservation to be used before they take it back.
  /// - Returns: The reservation, for use by another thread; nil if the store needs none.
  func reserveWriting(within limit: Duration, patience: Duration) throws -> WriteReservation?
  /// Runs code while nobody else writes, in this program or another. Others wait to write. They can read, except from a
  /// store in memory.
  ///
  /// - Parameter body: Reads the present state, and writes once at most: by a commit, or by writing the history's
  ///   entries. This is in the transaction that keeps others from writing, and ends it. Other writes, such as batches
  ///   and metadata, aren't allowed.
  /// - Throws: ``PersistenceError/Code/storeBusy`` if others keep the store busy; the errors of `body`.
  func excludingWriters<T>(_ body: () throws -> T) throws -> T

  /// Assigns keys to new objects of these entities before they are inserted. A key that isn't used for an insert
  /// remains unused.
  ///
  /// - Throws: As ``commit(_:)``.
  func reserveKeys(for entities: [Entity]) throws -> [Int64]
  /// Makes new objects get greater keys than these.
  ///
  /// - Parameter keys: The greatest keys that may not be assigned, by the index of the hierarchy's root in
  ///   ``ManagedObjectModel/entities``.
  func retireKeys(upTo keys: [Int: Int64]) throws
  /// The steps deferred by earlier migrations.
  func deferredSteps() throws -> [DeferredStep]
  /// The slots of the values that migrations parked in the store; empty for most stores.
  func parkedSlots() throws -> [ParkedSlot]
  /// The lengths of binary values, by key, without reading them. Null values are missing, and the length of a value in
  /// a file of its own is nil.
  func lengths(atSlot slot: Int, of entity: Entity, keys: [Int64]) throws -> [Int64: Int?]
  /// Performs steps deferred by earlier migrations. The first step is always started, the others only before the
  /// deadline.
  ///
  /// - Parameters:
  ///   - deadline: The time after which no step is started; nil for none.
  ///   - givingWay: Whether steps that others would have to wait for are ended when others come, and attempted again.
  /// - Returns: The remaining steps.
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?, givingWay: Bool) throws -> [DeferredStep]
  /// The state of the store's connections and caches.
  var statistics: StoreStatistics { get }
  /// The number of commits of the store's database that have waited longer than a second for a standby server to
  /// confirm them; 0 for stores without one.
  func stalledCommits() throws -> Int
  /// Runs code before each transaction of a store in memory is committed; before the store is used by others.
  ///
  /// - Parameter body: May read the store, in the transaction's state, and rolls it back by throwing.
  func beforeEachCommit(_ body: @escaping @Sendable () throws -> Void)
  /// Closes the store, after waiting for reads and writes in progress. It can't be used afterward.
  func close() throws

  /// Whether the store's file is encrypted.
  var isEncrypted: Bool { get }
  /// Copies one state of the store into a new file, which is encrypted like the store.
  func backUp(to url: URL) throws
  /// Copies the store to another location under a new identifier, while saves wait, and closes this one.
  ///
  /// - Parameter replace: makes the copy take the store's place, before others can save again.
  /// - Returns: the copy, open.
  func move(
    to location: StoreLocation, options: StoreOptions, replace: (any PersistentStore) -> Void
  ) throws -> any PersistentStore
  /// Runs code that copies the store, for example to another engine, and closes the store if the copy takes its place.
  ///
  /// Saves of this program wait meanwhile if the store is to be closed, so that none is lost, and also if the store
  /// can't hold a state.
  ///
  /// - Parameter body: Called with the state of the store to copy. If it throws, the store remains open.
  func copying<T>(thenClosing closes: Bool, _ body: (_ state: any PersistentStore) throws -> T) throws -> T
  /// Continues with another file, which contains the same store.
  ///
  /// - Parameter didReplace: Called when the store uses the other file, before the former one is closed.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the file contains another store, and the errors of opening
  ///   it; the store then continues with its current file.
  func reopen(at url: URL, didReplace: () -> Void) throws
}

extension PersistentStore {
  package func insert(slices next: () throws -> ImportSlice?) throws -> ImportOutcome {
    try insert(slices: next, completing: { _ in })
  }
}

extension PersistentStore {
  package var isEncrypted: Bool { false }
  package var holdsNullCharacters: Bool { true }
  package var statistics: StoreStatistics { StoreStatistics() }
  package var history: (any StoreHistory)? { nil }
  package func stalledCommits() throws -> Int { 0 }
  package func generation() throws -> (any StoreGeneration)? { nil }
  package func replicaRows() -> (any SharedRowSource)? { nil }
  package func advanceReplicas() throws {}
  package var postsRemoteChanges: Bool { false }
  package func monitorChanges(_ report: @escaping @Sendable () -> Void) throws -> (any StoreMonitor)? { nil }
  package var busyTimeout: Duration { StoreOptions().busyTimeout }
  package func reserveWriting(within limit: Duration, patience: Duration) throws -> WriteReservation? { nil }
  package func explain(_ query: RowQuery) throws -> StatementExplanation? { nil }
  package func explain(_ query: ValueQuery) throws -> StatementExplanation? { nil }
  package func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64] {
    let rows = try rows(RowQuery(entity: entity, includesSubentities: false, keys: keys))
    return rows.reduce(into: Dictionary()) { versions, row in versions[row.key] = row.snapshot?.version }
  }

  package func greatestAssignedKey(inHierarchyOf entity: Entity) throws -> Int64 {
    try greatestKey(inHierarchyOf: entity)
  }
  package func parkedSlots() throws -> [ParkedSlot] { [] }
  package func deferredSteps() throws -> [DeferredStep] { [] }
  package func finishDeferredSteps(
    until deadline: ContinuousClock.Instant?, givingWay: Bool
  ) throws -> [DeferredStep] { [] }

  /// Nil, for a store that nothing else can access.
  package func foreignChangeCount() throws -> Int64? { nil }

  package func beforeEachCommit(_ body: @escaping @Sendable () throws -> Void) {
    preconditionFailure("A store of the type '\(type)' isn't in memory.")
  }

  package func savePendingMetadata() throws {}
  package func recordUncleanEnd() {}
  package func backUp(to url: URL) throws { throw hasNoFile }
  package func move(
    to location: StoreLocation, options: StoreOptions, replace: (any PersistentStore) -> Void
  ) throws -> any PersistentStore { throw hasNoFile }
  package func reopen(at url: URL, didReplace: () -> Void) throws { throw hasNoFile }

  private var hasNoFile: PersistenceError {
    PersistenceError(
      .storeTypeMismatch, at: .store(url), "A store of the type '\(type)' can't be copied as a file.")
  }
}

/// Thrown by a commit that found rows changed by others; the whole commit was rolled back.
package struct RowConflicts: Error {
  package let conflicts: [RowConflict]

  package init(conflicts: [RowConflict]) {
    self.conflicts = conflicts
  }
}
