import Foundation

/// Where rows live. A store is synchronous, serves many contexts at once, and knows nothing of objects.
protocol PersistentStore: AnyObject, Sendable {
  /// The UUID in the store's metadata.
  var identifier: String { get }
  /// `SQLite` or `InMemory`.
  var type: String { get }
  /// Nil for a store in memory.
  var url: URL? { get }
  var model: ManagedObjectModel { get }
  var isReadOnly: Bool { get }
  var configuration: String? { get }

  func metadata() throws -> StoreMetadata
  /// Replaces the application's own metadata keys.
  func setMetadata(_ metadata: StoreMetadata) throws

  /// Divides a predicate into what the store answers with exactly evaluation's result, and what is left to ask of each
  /// object. The predicate is both together.
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision
  /// - Parameter monitor: who watches and may stop the read; nil for nobody.
  func rows(_ query: RowQuery, monitor: ReadMonitor?) throws -> RowBatch
  func count(_ query: RowQuery) throws -> Int
  /// How the store would read the rows of a query; nil where it runs no statement for it.
  func explain(_ query: RowQuery) throws -> StatementExplanation?
  /// Values computed from rows; nil where the store can't compute exactly what evaluation in memory gives.
  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]?
  /// The other ends of a to-many relationship of one row: in order where it is ordered, else by key.
  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID]
  /// The rows at the other end of a to-many relationship of many rows, in one statement.
  func relatedRows(by relationship: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows
  /// The content of a value that stands in a file beside the store.
  func externalData(named name: String) throws -> Data

  /// The versions of rows of an entity, by key; those that are gone are left out.
  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64]
  /// A number that is another one whenever somebody else than this store has written to the file since; nil where it
  /// can't be told just now.
  func foreignChangeCount() throws -> Int64?

  /// Writes everything in one transaction, or nothing.
  ///
  /// - Throws: ``RowConflicts`` where rows changed meanwhile, ``PersistError/Code/constraintConflict`` where a
  ///   uniqueness constraint is broken, and the store's own errors.
  func commit(_ writes: RowWrites) throws -> CommitReceipt

  // Each in one transaction, or not at all.
  func insert(_ batch: BatchInsert) throws -> BatchOutcome
  func update(_ batch: BatchUpdate) throws -> BatchOutcome
  func delete(_ batch: BatchDelete) throws -> BatchOutcome

  /// Gives new objects of these entities keys before they are inserted. A key that nothing is inserted under stays
  /// unused.
  ///
  /// - Throws: as ``commit(_:)``.
  func reserveKeys(for entities: [Entity]) throws -> [Int64]
  func close() throws
}

extension PersistentStore {
  func explain(_ query: RowQuery) throws -> StatementExplanation? { nil }
  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64] {
    let rows = try rows(RowQuery(entity: entity, includesSubentities: false, keys: keys)).rows
    return rows.reduce(into: [:]) { versions, row in versions[row.key] = row.snapshot?.version }
  }

  /// A store that nobody else can reach.
  func foreignChangeCount() throws -> Int64? { nil }
}

extension PersistentStore {
  func rows(_ query: RowQuery) throws -> RowBatch { try rows(query, monitor: nil) }
}

/// A predicate in two parts, both of which must hold; nil stands for what always holds.
struct PredicateDivision {
  let stored: FetchPredicate?
  let rest: FetchPredicate?
}

/// Thrown by a commit that met rows which others had changed; the whole commit was rolled back.
struct RowConflicts: Error {
  let conflicts: [RowConflict]
}
