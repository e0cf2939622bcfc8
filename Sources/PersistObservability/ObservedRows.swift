import Foundation
import Persist
import Tracing

/// A source of rows whose reads are observed.
protocol ObservedSource: SharedRowSource {
  var source: any SharedRowSource { get }
  var telemetry: StoreTelemetry { get }
  var name: StoreName { get }
}

extension ObservedSource {
  func observe<T>(
    _ kind: StoreOperation.Kind, _ entity: String?, describe: (T, inout SpanAttributes) -> Int? = { _, _ in nil },
    _ body: () throws -> T
  ) throws -> T {
    try StoreOperation.run(kind, of: entity, in: name, telemetry: telemetry, describe: describe, body)
  }

  private func observe<T>(
    _ query: RowQuery, count: (T) -> Int, _ body: () throws -> T
  ) throws -> T {
    try observe(
      query.keys == nil ? .fetch : .fault, query.entity.name,
      describe: { result, attributes in
        if let keys = query.keys { attributes["persist.keys"] = keys.count }
        return count(result)
      }, body)
  }

  var identifier: String { source.identifier }
  var url: URL? { source.url }
  var readAhead: ReadAhead { source.readAhead }
  var readsConcurrently: Bool { source.readsConcurrently }
  func isRecent(_ moment: ReadMoment) -> Bool { source.isRecent(moment) }

  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    try source.divide(predicate, over: entity)
  }

  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool {
    source.canSort(by: descriptors, over: entity)
  }

  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch {
    try observe(query, count: \.readCount) { try source.rows(query, monitor: monitor, held: held) }
  }

  func forEachPart(
    of query: RowQuery, monitor: ReadMonitor?, held: KnownRows?, on threads: ThreadPool,
    _ body: (RowBatch) throws -> Void
  ) throws {
    var count = 0
    try observe(query, count: { count }) {
      try source.forEachPart(of: query, monitor: monitor, held: held, on: threads) { part in
        count += part.readCount
        try body(part)
      }
    }
  }

  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?) {
    try observe(query, count: { $0.rows.readCount }) { try source.rowsWithMoment(query) }
  }

  func keys(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowKeys {
    try observe(query, count: \.count) { try source.keys(query, monitor: monitor) }
  }

  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int {
    try observe(.count, query.entity.name) { try source.count(query, monitor: monitor) }
  }

  func explain(_ query: RowQuery) throws -> StatementExplanation? { try source.explain(query) }
  func explain(_ query: ValueQuery) throws -> StatementExplanation? { try source.explain(query) }

  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]? {
    try observe(.aggregate, query.rows.entity.name, describe: { rows, _ in rows?.count }) {
      try source.values(query, monitor: monitor)
    }
  }

  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    try observe(.related, entity, by: relationship, owners: 1, count: \.count) {
      try source.related(by: relationship, of: entity, key: key)
    }
  }

  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    try observe(.related, entity, by: relationship, owners: owners.count, count: \.batch.readCount) {
      try source.relatedRows(by: relationship, of: entity, owners: owners)
    }
  }

  func relatedRows(
    by relationship: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? {
    try observe(.related, entity, by: relationship, owners: owners.count, count: { _ in nil }) {
      try source.relatedRows(by: relationship, of: entity, owners: owners, limit: limit)
    }
  }

  func owners(by relationship: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    try observe(.related, entity, by: relationship, owners: members.count, count: \.count) {
      try source.owners(by: relationship, of: entity, members: members)
    }
  }

  private func observe<T>(
    _ kind: StoreOperation.Kind, _ entity: Entity, by relationship: Property, owners: Int, count: (T) -> Int?,
    _ body: () throws -> T
  ) throws -> T {
    try observe(
      kind, entity.name,
      describe: { result, attributes in
        attributes["persist.relationship"] = relationship.name
        attributes["persist.keys"] = owners
        return count(result)
      }, body)
  }

  func externalData(named name: String) throws -> Data { try source.externalData(named: name) }

  func externalData(named name: String, equals data: Data) throws -> Bool {
    try source.externalData(named: name, equals: data)
  }

  func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue? {
    try source.newestLargeValue(at: slot, of: entity, key: key)
  }

  func select(_ query: WrittenSQL) throws -> SelectedRows { try observe(.select, nil) { try source.select(query) } }

  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    try observe(
      .save, writes.onlyEntity,
      describe: { _, attributes in
        attributes["persist.inserted"] = writes.inserts.count
        attributes["persist.updated"] = writes.updates.count + writes.touches.count
        attributes["persist.deleted"] = writes.deletes.count
        return nil
      }
    ) { try source.commit(writes) }
  }
}

extension RowWrites {
  /// The entity of all changed rows; nil if there are several.
  fileprivate var onlyEntity: String? {
    guard let first = inserts.first?.entity ?? updates.first?.entity ?? deletes.first?.entity else { return nil }
    let isOnly =
      inserts.allSatisfy { $0.entity === first } && updates.allSatisfy { $0.entity === first }
      && deletes.allSatisfy { $0.entity === first }
    return isOnly ? first.name : nil
  }
}

/// The rows of one state of a store, or of its replicas.
final class ObservedRows: ObservedSource {
  let source: any SharedRowSource
  let telemetry: StoreTelemetry
  let name: StoreName

  init(_ source: any SharedRowSource, telemetry: StoreTelemetry, name: StoreName) {
    (self.source, self.telemetry, self.name) = (source, telemetry, name)
  }
}

/// A state of a store whose rows are observed.
final class ObservedGeneration: StoreGeneration {
  private let base: any StoreGeneration
  let rows: any SharedRowSource

  init(_ base: any StoreGeneration, telemetry: StoreTelemetry, name: StoreName) {
    self.base = base
    rows =
      (base.rows as? any PersistentStore).map { ObservedStore($0, telemetry) }
      ?? ObservedRows(base.rows, telemetry: telemetry, name: name)
  }
}
