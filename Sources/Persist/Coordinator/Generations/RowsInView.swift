import Foundation

/// The rows of one store as seen by a context that reads elsewhere: a generation or replicas. It writes to the store
/// itself.
final class RowsInView: SharedRowSource {
  private let store: any PersistentStore
  private let view: any ReadView

  init(of store: any PersistentStore, in view: any ReadView) {
    self.store = store
    self.view = view
  }

  private var source: any SharedRowSource { get throws { try view.rows(of: store) } }

  var identifier: String { store.identifier }
  var url: URL? { store.url }

  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    try store.divide(predicate, over: entity)
  }

  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool {
    store.canSort(by: descriptors, over: entity)
  }

  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch {
    try source.rows(query, monitor: monitor, held: held)
  }

  func forEachPart(
    of query: RowQuery, monitor: ReadMonitor?, held: KnownRows?, on threads: ThreadPool,
    _ body: (RowBatch) throws -> Void
  ) throws {
    try source.forEachPart(of: query, monitor: monitor, held: held, on: threads, body)
  }

  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) {
    try source.rowsWithMoment(query)
  }

  var readAhead: ReadAhead { (try? source.readAhead) ?? .near }

  func isRecent(_ moment: ReadMoment) -> Bool { (try? source.isRecent(moment)) ?? false }

  func keys(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowKeys { try source.keys(query, monitor: monitor) }

  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int { try source.count(query, monitor: monitor) }

  func explain(_ query: RowQuery) throws -> StatementExplanation? { try store.explain(query) }

  func explain(_ query: ValueQuery) throws -> StatementExplanation? { try store.explain(query) }

  func select(_ query: WrittenSQL) throws -> SelectedRows { try source.select(query) }

  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]? {
    try source.values(query, monitor: monitor)
  }

  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    try source.related(by: relationship, of: entity, key: key)
  }

  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    try source.relatedRows(by: relationship, of: entity, owners: owners)
  }

  func relatedRows(
    by relationship: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? {
    try source.relatedRows(by: relationship, of: entity, owners: owners, limit: limit)
  }

  func owners(by relationship: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    try source.owners(by: relationship, of: entity, members: members)
  }

  func externalData(named name: String) throws -> Data { try source.externalData(named: name) }

  func externalData(named name: String, equals data: Data) throws -> Bool {
    try source.externalData(named: name, equals: data)
  }

  /// The file of a value is deleted if another program replaces the value.
  func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue? {
    do {
      return try source.newestLargeValue(at: slot, of: entity, key: key)
    } catch let error as PersistenceError where error.code == .fileAccess {
      // Fails in the same way if the newest row names the missing file too.
      _ = try store.newestLargeValue(at: slot, of: entity, key: key)
      throw PersistenceError(
        .queryGenerationExpired, at: .init(entity: entity.name, store: store.url),
        "Another program has replaced or deleted a large value, so the pinned value can't be read.",
        fix: "Refresh the context's objects, or pin the context again.", errors: [error])
    }
  }

  func commit(_ writes: RowWrites) throws -> CommitReceipt { try store.commit(writes) }
}
