package import Foundation

/// The source of a context's rows and the destination of its changes: a store, or a parent context in place of a store.
///
/// Rows are identified by keys. A row's key is its primary key; an unsaved object of a parent context, which has none,
/// is identified by its negated temporary number: ``ManagedObjectID/rowKey``.
package protocol RowSource: AnyObject {
  /// The UUID in the store's metadata.
  var identifier: String { get }
  /// Nil for an in-memory store.
  var url: URL? { get }

  /// Splits a predicate into the part that the source evaluates with exactly the result of in-memory evaluation, and
  /// the rest, to be evaluated for each object. The predicate is the conjunction of both.
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision
  /// Whether the source can sort the rows of an entity by an order that ``SortCheck`` accepts.
  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool
  /// Reads the rows that a query selects, in its order.
  ///
  /// - Parameters:
  ///   - monitor: Monitors the read and can cancel it; nil for none.
  ///   - held: Rows whose values the source may omit from the result; nil for none.
  func rows(_ query: RowQuery, monitor: ReadMonitor?, held: KnownRows?) throws -> RowBatch
  /// Reads the rows that a query selects, in its order, and passes them on in consecutive parts. The source may read
  /// further rows on a thread of a pool while a part is processed.
  ///
  /// - Parameters:
  ///   - monitor: Monitors the read and can cancel it; nil for none.
  ///   - held: Rows whose values the source may omit from the result; nil for none.
  ///   - body: Called at least once, on the calling thread. It mustn't use the source.
  func forEachPart(
    of query: RowQuery, monitor: ReadMonitor?, held: KnownRows?, on threads: ThreadPool,
    _ body: (RowBatch) throws -> Void) throws
  /// Reads the rows that a query selects, and the moment at which they were the newest; the moment is nil if the source
  /// can't determine later whether it is still recent.
  func rowsWithMoment(_ query: RowQuery) throws -> (rows: RowBatch, moment: ReadMoment?)
  /// The extent to which reading ahead is worthwhile.
  var readAhead: ReadAhead { get }
  /// Whether rows of a moment may still be used in place of reading them: nothing in this program has changed them or
  /// noticed a change since, and at most a few milliseconds have passed.
  func isRecent(_ moment: ReadMoment) -> Bool
  /// Whether another thread can read while the calling one does anything else with the source, such as holding its
  /// writer, on a processor that isn't busy with other readers.
  var readsConcurrently: Bool { get }
  /// The keys of the rows that a query selects, in its order, in little memory.
  func keys(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowKeys
  /// The number of rows that a query selects, within its limit and offset, counted without reading them.
  ///
  /// - Parameter monitor: Can cancel the count; nil for none.
  func count(_ query: RowQuery, monitor: ReadMonitor?) throws -> Int
  /// The way in which the source would read the rows of a query; nil if it runs no statement for it.
  func explain(_ query: RowQuery) throws -> StatementExplanation?
  /// The way in which the source would compute the values of a query; nil if it can't, or runs no statement for it.
  func explain(_ query: ValueQuery) throws -> StatementExplanation?
  /// Values computed from rows; nil if the source can't compute exactly the result of in-memory evaluation.
  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]?
  /// The objects at the other end of a to-many relationship of one row: in order if it is ordered, otherwise by key.
  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID]
  /// The rows at the other end of a to-many relationship, for many owners, in one statement.
  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows
  /// The first rows at the other end of a to-many relationship, in the order of the owners, with the moment at which
  /// they were the newest; nil if the source can only return the members' identifiers. In other respects the same
  /// as ``relatedRows(by:of:owners:)``.
  ///
  /// - Parameters:
  ///   - owners: The keys of at most ``ReadAhead/maximumGroupSize`` owners, in ascending order.
  ///   - limit: The maximum number of rows.
  func relatedRows(
    by relationship: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)?
  /// The owners of rows by a to-many relationship without an inverse, by the members' keys. Members without an owner
  /// are omitted.
  func owners(by relationship: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID]
  /// The content of a value that is stored in a file beside the store.
  func externalData(named name: String) throws -> Data
  /// Whether a value that is stored in a file beside the store has this content.
  func externalData(named name: String, equals data: Data) throws -> Bool
  /// The newest row's value in a slot of form ``SlotForm/externalData``; nil if the row no longer exists.
  func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue?

  /// Runs a query that an application wrote.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the source can't run it.
  func select(_ query: WrittenSQL) throws -> SelectedRows

  /// Writes all changes or none, in one transaction if the source is a store.
  ///
  /// - Throws: ``RowConflicts`` if rows have changed in the meantime, ``PersistenceError/Code/constraintConflict`` if a
  ///   uniqueness constraint is violated, and the store's own errors.
  func commit(_ writes: RowWrites) throws -> CommitReceipt
}

extension RowSource {
  package func rows(_ query: RowQuery) throws -> RowBatch { try rows(query, monitor: nil) }

  package func select(_ query: WrittenSQL) throws -> SelectedRows {
    throw WrittenSQL.failure("It needs a store.", inStoreAt: url)
  }

  package func rows(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowBatch {
    try rows(query, monitor: monitor, held: nil)
  }

  package func count(_ query: RowQuery) throws -> Int { try count(query, monitor: nil) }

  package func forEachPart(
    of query: RowQuery, monitor: ReadMonitor?, held: KnownRows?, on threads: ThreadPool,
    _ body: (RowBatch) throws -> Void
  ) throws {
    try body(rows(query, monitor: monitor, held: held))
  }

  package func keys(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowKeys {
    RowKeys(try rows(query, monitor: monitor))
  }

  package func externalData(named name: String, equals data: Data) throws -> Bool {
    try externalData(named: name) == data
  }

  /// Reads the row and then the file that it names. Replacing the value removes the old file after the row has been
  /// written, so that a missing file is one that a newer row no longer names.
  ///
  /// - Throws: The error of reading the file if the newest row still names it.
  package func newestLargeValue(at slot: Int, of entity: Entity, key: Int64) throws -> StoredValue? {
    let query = RowQuery(entity: entity, includesSubentities: false, keys: [key])
    var missing: (name: String, error: any Error)?
    while true {
      guard let row = try rows(query).first?.snapshot else { return nil }
      if row.isNull(slot, of: entity.rowSlotCount) { return .null }
      switch row.externalContent(slot) {
      case .inline(let data): return .data(data)
      case .file(let name):
        if let missing, missing.name == name { throw missing.error }
        do { return .data(try externalData(named: name)) } catch { missing = (name, error) }
      }
    }
  }
}

/// Rows that the caller already has and won't read from the result.
package struct KnownRows {
  /// Called by the reading code while the rows are read.
  package let holds: (_ key: Int64, _ version: Int64) -> Bool
}

extension ManagedObjectID {
  /// The key by which row sources identify the object: its primary key, or its negated temporary number before it has
  /// one.
  var rowKey: Int64 {
    switch key {
    case .permanent(let key): key
    case .temporary(let number): -Int64(bitPattern: number)
    }
  }

  /// The identifier of the object with a row key in a store's row source.
  package static func named(rowKey: Int64, entityName: String, storeIdentifier: String) -> ManagedObjectID {
    rowKey < 0
      ? ManagedObjectID(entityName: entityName, storeIdentifier: "", key: .temporary(UInt64(bitPattern: -rowKey)))
      : ManagedObjectID(entityName: entityName, storeIdentifier: storeIdentifier, key: .permanent(rowKey))
  }
}

/// A predicate in two parts, both of which must hold; a nil part is always true.
package struct PredicateDivision {
  package var stored: FetchPredicate?
  package var rest: FetchPredicate?
  /// The source's preparation for queries with the stored part; nil if there is none.
  var prepared: PreparedPredicate?

  package init(stored: FetchPredicate? = nil, rest: FetchPredicate? = nil, prepared: PreparedPredicate? = nil) {
    self.stored = stored
    self.rest = rest
    self.prepared = prepared
  }
}

/// A row source's preparation of a predicate that it has divided, which spares it a search when it gets a query with
/// the predicate. Only the source knows its type.
package struct PreparedPredicate: Sendable, Equatable {
  let content: any AnyObject & Sendable

  package static func == (left: PreparedPredicate, right: PreparedPredicate) -> Bool { left.content === right.content }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(content)) }
}
