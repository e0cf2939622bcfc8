import Foundation

/// Where rows live. A store is synchronous, serves many contexts at once, and knows nothing of objects.
protocol PersistentStore: RowSource, Sendable {
  /// `SQLite` or `InMemory`.
  var type: String { get }
  var model: ManagedObjectModel { get }
  var isReadOnly: Bool { get }
  var configuration: String? { get }
  /// How long a write waits for others.
  var busyTimeout: Duration { get }

  func metadata() throws -> StoreMetadata
  /// Replaces the application's own metadata keys.
  func setMetadata(_ metadata: StoreMetadata) throws

  /// The versions of rows of an entity, by key; those that are gone are left out.
  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64]
  /// A number that is another one whenever somebody else than this store has written to the file since; nil where it
  /// can't be told just now.
  func foreignChangeCount() throws -> Int64?

  // Each in one transaction, or not at all.
  func insert(_ batch: BatchInsert) throws -> BatchOutcome
  func update(_ batch: BatchUpdate) throws -> BatchOutcome
  func delete(_ batch: BatchDelete) throws -> BatchOutcome

  /// Waits for the right to write.
  ///
  /// - Returns: the right, for another thread to use; nil where a store needs none.
  func reserveWriting(within limit: Duration) throws -> WriteReservation?

  /// Gives new objects of these entities keys before they are inserted. A key that nothing is inserted under stays
  /// unused.
  ///
  /// - Throws: as ``commit(_:)``.
  func reserveKeys(for entities: [Entity]) throws -> [Int64]
  /// The steps that earlier migrations left for later.
  func deferredSteps() throws -> [DeferredStep]
  /// Carries out steps that earlier migrations left for later; none is begun after the deadline but the first.
  ///
  /// - Returns: what still waits.
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?) throws -> [DeferredStep]
  func close() throws
}

extension PersistentStore {
  var busyTimeout: Duration { StoreOptions().busyTimeout }
  func reserveWriting(within limit: Duration) throws -> WriteReservation? { nil }
  func explain(_ query: RowQuery) throws -> StatementExplanation? { nil }
  func explain(_ query: ValueQuery) throws -> StatementExplanation? { nil }
  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64] {
    let rows = try rows(RowQuery(entity: entity, includesSubentities: false, keys: keys))
    return rows.reduce(into: [:]) { versions, row in versions[row.key] = row.snapshot?.version }
  }

  func deferredSteps() throws -> [DeferredStep] { [] }
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?) throws -> [DeferredStep] { [] }

  /// A store that nobody else can reach.
  func foreignChangeCount() throws -> Int64? { nil }
}

/// Thrown by a commit that met rows which others had changed; the whole commit was rolled back.
struct RowConflicts: Error {
  let conflicts: [RowConflict]
}
