import Foundation

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A store that records its calls, and forwards them.
final class RecordingStore: PersistentStore {
  let store: any PersistentStore
  private let record = LockProtected<(calls: Int, counts: Int, commits: [RowWrites], advances: Int)>((0, 0, [], 0))

  private let failures = LockProtected<[PersistenceError]>([])

  let readsConcurrently: Bool

  /// - Parameter readsConcurrently: Whether several threads may read ahead.
  init(_ store: any PersistentStore, readsConcurrently: Bool = false) {
    (self.store, self.readsConcurrently) = (store, readsConcurrently)
  }

  /// Makes the next reads of rows fail, one for each error.
  func failReading(with errors: PersistenceError...) { failures.withLock { $0 += errors } }

  private func throwFailure() throws {
    if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw failure }
  }

  /// The number of times that rows were read or written.
  var calls: Int { record.withLock { $0.calls } }
  /// The number of times that rows were only counted.
  var counts: Int { record.withLock { $0.counts } }
  var commits: [RowWrites] { record.withLock { $0.commits } }
  /// The number of times that replicas were advanced.
  var advances: Int { record.withLock { $0.advances } }

  var identifier: String { store.identifier }
  var type: String { store.type }
  var url: URL? { store.url }
  var model: ManagedObjectModel { store.model }
  var isReadOnly: Bool { store.isReadOnly }
  var configuration: String? { store.configuration }
  var history: (any StoreHistory)? { store.history }
  func metadata() throws -> StoreMetadata { try store.metadata() }
  func setMetadata(_ metadata: StoreMetadata) throws { try store.setMetadata(metadata) }
  func externalData(named name: String) throws -> Data { try store.externalData(named: name) }
  func excludingWriters<T>(_ body: () throws -> T) throws -> T { try store.excludingWriters(body) }
  func reserveKeys(for entities: [Entity]) throws -> [Int64] { try store.reserveKeys(for: entities) }
  func lengths(atSlot slot: Int, of entity: Entity, keys: [Int64]) throws -> [Int64: Int?] {
    try store.lengths(atSlot: slot, of: entity, keys: keys)
  }

  func advanceReplicas() throws {
    record.withLock { $0.advances += 1 }
    try store.advanceReplicas()
  }

  func close() throws { try store.close() }
  func copying<T>(thenClosing closes: Bool, _ body: (any PersistentStore) throws -> T) throws -> T {
    try store.copying(thenClosing: closes, body)
  }
  func insert(
    slices next: () throws -> ImportSlice?, completing report: (Double) throws -> Void
  ) throws -> ImportOutcome { try store.insert(slices: next, completing: report) }
  func insert(_ batch: BatchInsert) throws -> BatchOutcome { try store.insert(batch) }
  func update(_ batch: BatchUpdate) throws -> BatchOutcome { try store.update(batch) }
  func delete(_ batch: BatchDelete) throws -> BatchOutcome { try store.delete(batch) }

  func explain(_ query: RowQuery) throws -> StatementExplanation? { try store.explain(query) }
  func explain(_ query: ValueQuery) throws -> StatementExplanation? { try store.explain(query) }

  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    try store.divide(predicate, over: entity)
  }

  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool {
    store.canSort(by: descriptors, over: entity)
  }

  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch {
    record.withLock { $0.calls += 1 }
    try throwFailure()
    return try store.rows(query, monitor: monitor, held: held)
  }

  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) {
    record.withLock { $0.calls += 1 }
    return try store.rowsWithMoment(query)
  }

  func relatedRows(
    by relationship: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? {
    record.withLock { $0.calls += 1 }
    return try store.relatedRows(by: relationship, of: entity, owners: owners, limit: limit)
  }

  func isRecent(_ moment: ReadMoment) -> Bool { store.isRecent(moment) }

  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int {
    record.withLock { $0.calls += 1 }
    record.withLock { $0.counts += 1 }
    return try store.count(query, monitor: monitor)
  }

  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]? {
    record.withLock { $0.calls += 1 }
    return try store.values(query, monitor: monitor)
  }

  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    record.withLock { $0.calls += 1 }
    return try store.related(by: relationship, of: entity, key: key)
  }

  func related(
    by relationship: Property, of entity: Entity, owners: ClosedRange<Int64>, limit: Int
  ) throws -> RelatedMembers {
    record.withLock { $0.calls += 1 }
    return try store.related(by: relationship, of: entity, owners: owners, limit: limit)
  }

  func greatestKey(inHierarchyOf entity: Entity) throws -> Int64 { try store.greatestKey(inHierarchyOf: entity) }
  func greatestAssignedKey(inHierarchyOf entity: Entity) throws -> Int64 {
    try store.greatestAssignedKey(inHierarchyOf: entity)
  }
  func retireKeys(upTo keys: [Int: Int64]) throws { try store.retireKeys(upTo: keys) }

  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    record.withLock { $0.calls += 1 }
    return try store.relatedRows(by: relationship, of: entity, owners: owners)
  }

  func owners(by relationship: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    record.withLock { $0.calls += 1 }
    return try store.owners(by: relationship, of: entity, members: members)
  }

  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    record.withLock {
      $0.calls += 1
      $0.commits.append(writes)
    }
    return try store.commit(writes)
  }
}
