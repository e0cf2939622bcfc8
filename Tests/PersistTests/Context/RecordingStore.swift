import Foundation
import Synchronization

@testable import Persist

/// A store that notes what it is asked for, and passes it on.
final class RecordingStore: PersistentStore {
  private let store: any PersistentStore
  private let record = Mutex<(calls: Int, commits: [RowWrites])>((0, []))

  init(_ store: any PersistentStore) { self.store = store }

  /// How many times rows were asked for or written.
  var calls: Int { record.withLock { $0.calls } }
  var commits: [RowWrites] { record.withLock { $0.commits } }

  var identifier: String { store.identifier }
  var type: String { store.type }
  var url: URL? { store.url }
  var model: ManagedObjectModel { store.model }
  var isReadOnly: Bool { store.isReadOnly }
  var configuration: String? { store.configuration }
  func metadata() throws -> StoreMetadata { try store.metadata() }
  func setMetadata(_ metadata: StoreMetadata) throws { try store.setMetadata(metadata) }
  func externalData(named name: String) throws -> Data { try store.externalData(named: name) }
  func close() throws { try store.close() }

  func explain(_ query: RowQuery) throws -> StatementExplanation? { try store.explain(query) }

  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    try store.divide(predicate, over: entity)
  }

  func rows(_ query: RowQuery) throws -> RowBatch {
    record.withLock { $0.calls += 1 }
    return try store.rows(query)
  }

  func count(_ query: RowQuery) throws -> Int {
    record.withLock { $0.calls += 1 }
    return try store.count(query)
  }

  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    record.withLock { $0.calls += 1 }
    return try store.related(by: relationship, of: entity, key: key)
  }

  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    record.withLock {
      $0.calls += 1
      $0.commits.append(writes)
    }
    return try store.commit(writes)
  }
}
