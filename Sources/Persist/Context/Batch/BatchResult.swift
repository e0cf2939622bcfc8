/// The result of a batch.
public struct BatchResult<ResultType: BatchResultType>: Sendable, Hashable {
  /// The requested contents of the result.
  public let resultType: ResultType
  /// The number of rows inserted, changed or deleted, counting only deleted rows that the request matched. Nil if only
  /// the status was requested.
  public let count: Int?
  /// The affected rows, including those deleted by delete rules, if identifiers were requested: for merging into a
  /// ``ManagedObjectContext``.
  public let changes: SavedChanges
  /// The affected rows as an array; nil if identifiers weren't requested.
  ///
  /// The inserted rows come first, then the updated and the deleted ones, each store by store, by entity name and in
  /// the order of their keys. For inserted rows, that is the order of insertion; rows that the merge policy has updated
  /// instead are among the updated ones.
  ///
  /// - Complexity: The array is sorted when the batch ends, in O(*n* log *n*) for *n* rows.
  public let objectIDs: [ManagedObjectID]?
}

/// The result of a ``BatchInsertRequest``.
public typealias BatchInsertResult = BatchResult<BatchInsertRequestResultType>
/// The result of a ``BatchUpdateRequest``.
public typealias BatchUpdateResult = BatchResult<BatchUpdateRequestResultType>
/// The result of a ``BatchDeleteRequest``.
public typealias BatchDeleteResult = BatchResult<BatchDeleteRequestResultType>

extension BatchResult {
  /// The result in Core Data's form: an `Int`, an array of ``ManagedObjectID``s, or true. ``count`` and ``objectIDs``
  /// are typed.
  public var result: Any? { objectIDs ?? count ?? true as Any }
}

extension BatchResult where ResultType: BatchResultContents {
  init(_ outcomes: [BatchOutcome], _ type: ResultType) {
    resultType = type
    count = type.content == .status ? nil : outcomes.reduce(0) { $0 + $1.count }
    let changes = outcomes.reduce(into: SavedChanges()) { sum, outcome in
      sum.insertedObjectIDs.formUnion(outcome.changes.insertedObjectIDs)
      sum.updatedObjectIDs.formUnion(outcome.changes.updatedObjectIDs)
      sum.deletedObjectIDs.formUnion(outcome.changes.deletedObjectIDs)
    }
    self.changes = changes
    let kinds: [KeyPath<SavedChanges, Set<ManagedObjectID>>] = [
      \.insertedObjectIDs, \.updatedObjectIDs, \.deletedObjectIDs,
    ]
    objectIDs =
      type.content == .objectIDs
      ? kinds.flatMap { kind in outcomes.flatMap { $0.changes[keyPath: kind].inKeyOrder } } : nil
  }
}

extension Set<ManagedObjectID> {
  /// The identifiers of one store's rows by entity name and key.
  fileprivate var inKeyOrder: [ManagedObjectID] {
    Dictionary(grouping: self, by: \.entityName).sorted(on: \.key).flatMap { _, ids in
      ids.ordered { ($0.primaryKey ?? 0) < ($1.primaryKey ?? 0) }
    }
  }
}
