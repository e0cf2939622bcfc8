import Foundation
import Persist

/// A store whose reads and writes are observed.
final class ObservedStore: PersistentStore, ObservedSource {
  private let base: any PersistentStore
  let telemetry: StoreTelemetry
  private let presentName: LockProtected<StoreName>

  init(_ base: any PersistentStore, _ telemetry: StoreTelemetry) {
    self.base = base
    self.telemetry = telemetry
    presentName = LockProtected(StoreName(base))
  }

  var source: any SharedRowSource { base }
  var name: StoreName { presentName.withLock { $0 } }

  var type: String { base.type }
  var model: ManagedObjectModel { base.model }
  var isReadOnly: Bool { base.isReadOnly }
  var configuration: String? { base.configuration }
  var busyTimeout: Duration { base.busyTimeout }
  var isEncrypted: Bool { base.isEncrypted }
  var holdsNullCharacters: Bool { base.holdsNullCharacters }
  var statistics: StoreStatistics { base.statistics }

  func explain(_ query: RowQuery) throws -> StatementExplanation? { try base.explain(query) }
  func explain(_ query: ValueQuery) throws -> StatementExplanation? { try base.explain(query) }

  // MARK: States and notifications

  var postsRemoteChanges: Bool { base.postsRemoteChanges }

  func monitorChanges(_ report: @escaping @Sendable () -> Void) throws -> (any StoreMonitor)? {
    try base.monitorChanges(report)
  }

  func generation() throws -> (any StoreGeneration)? {
    try base.generation().map { ObservedGeneration($0, telemetry: telemetry, name: name) }
  }

  func replicaRows() -> (any SharedRowSource)? {
    base.replicaRows().map { ObservedRows($0, telemetry: telemetry, name: name) }
  }
  func advanceReplicas() throws { try base.advanceReplicas() }
  var history: (any StoreHistory)? { base.history.map { ObservedHistory($0, self) } }
  func foreignChangeCount() throws -> Int64? { try base.foreignChangeCount() }

  // MARK: Metadata

  func metadata() throws -> StoreMetadata { try base.metadata() }
  func setMetadata(_ metadata: StoreMetadata) throws { try base.setMetadata(metadata) }
  func savePendingMetadata() throws { try base.savePendingMetadata() }
  func recordUncleanEnd() { base.recordUncleanEnd() }
  func stalledCommits() throws -> Int { try base.stalledCommits() }

  // MARK: Reading

  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64] {
    try observe(.fault, entity.name, describe: { versions, _ in versions.count }) {
      try base.versions(of: keys, in: entity)
    }
  }

  func related(
    by relationship: Property, of entity: Entity, owners: ClosedRange<Int64>, limit: Int
  ) throws -> RelatedMembers {
    try observe(.related, entity.name) {
      try base.related(by: relationship, of: entity, owners: owners, limit: limit)
    }
  }

  func greatestKey(inHierarchyOf entity: Entity) throws -> Int64 { try base.greatestKey(inHierarchyOf: entity) }

  func greatestAssignedKey(inHierarchyOf entity: Entity) throws -> Int64 {
    try base.greatestAssignedKey(inHierarchyOf: entity)
  }

  func parkedSlots() throws -> [ParkedSlot] { try base.parkedSlots() }

  func lengths(atSlot slot: Int, of entity: Entity, keys: [Int64]) throws -> [Int64: Int?] {
    try observe(.fault, entity.name) { try base.lengths(atSlot: slot, of: entity, keys: keys) }
  }

  // MARK: Writing

  func insert(_ batch: BatchInsert) throws -> BatchOutcome {
    try observe(.insert, batch.entity.name, describe: { outcome, _ in outcome.count }) { try base.insert(batch) }
  }

  func insert(
    slices next: () throws -> ImportSlice?, completing report: (Double) throws -> Void
  ) throws -> ImportOutcome {
    try observe(.insert, nil) { try base.insert(slices: next, completing: report) }
  }

  func update(_ batch: BatchUpdate) throws -> BatchOutcome {
    try observe(.update, batch.rows.entity.name, describe: { outcome, _ in outcome.count }) { try base.update(batch) }
  }

  func delete(_ batch: BatchDelete) throws -> BatchOutcome {
    try observe(.delete, batch.rows.entity.name, describe: { outcome, _ in outcome.count }) { try base.delete(batch) }
  }

  func reserveWriting(within limit: Duration, patience: Duration) throws -> WriteReservation? {
    try base.reserveWriting(within: limit, patience: patience)
  }

  func excludingWriters<T>(_ body: () throws -> T) throws -> T { try base.excludingWriters(body) }

  func reserveKeys(for entities: [Entity]) throws -> [Int64] { try base.reserveKeys(for: entities) }
  func retireKeys(upTo keys: [Int: Int64]) throws { try base.retireKeys(upTo: keys) }
  func deferredSteps() throws -> [DeferredStep] { try base.deferredSteps() }

  func finishDeferredSteps(until deadline: ContinuousClock.Instant?, givingWay: Bool) throws -> [DeferredStep] {
    try observe(.deferred, nil) { try base.finishDeferredSteps(until: deadline, givingWay: givingWay) }
  }

  func beforeEachCommit(_ body: @escaping @Sendable () throws -> Void) { base.beforeEachCommit(body) }

  func close() throws { try base.close() }

  // MARK: Copying

  func backUp(to url: URL) throws { try observe(.copy, nil) { try base.backUp(to: url) } }

  func move(
    to location: StoreLocation, options: StoreOptions, replace: (any PersistentStore) -> Void
  ) throws -> any PersistentStore {
    // The new store isn't wrapped here: its own options contain the observer.
    try observe(.copy, nil) { try base.move(to: location, options: options, replace: replace) }
  }

  func copying<T>(thenClosing closes: Bool, _ body: (_ state: any PersistentStore) throws -> T) throws -> T {
    try observe(.copy, nil) { try base.copying(thenClosing: closes, body) }
  }

  func reopen(at url: URL, didReplace: () -> Void) throws {
    try base.reopen(at: url, didReplace: didReplace)
    presentName.withLock { $0 = StoreName(base) }
  }
}
