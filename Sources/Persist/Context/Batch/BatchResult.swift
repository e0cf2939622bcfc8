/// The result of a batch.
public struct BatchResult<ResultType: BatchResultType>: Sendable, Hashable {
  /// The contents that the request asked for.
  public let resultType: ResultType
  /// The number of rows that were inserted, changed or deleted; of deleted rows those that the request named. Nil where
  /// only the status was asked for.
  public let count: Int?
  /// The rows, those that delete rules took included, where identifiers were asked for: for
  /// ``ManagedObjectContext`` to merge.
  public let changes: SavedChanges
  /// The same as a list; nil where identifiers weren't asked for.
  public let objectIDs: [ManagedObjectID]?
}

/// The result of a ``BatchInsertRequest``.
public typealias BatchInsertResult = BatchResult<BatchInsertRequestResultType>
/// The result of a ``BatchUpdateRequest``.
public typealias BatchUpdateResult = BatchResult<BatchUpdateRequestResultType>
/// The result of a ``BatchDeleteRequest``.
public typealias BatchDeleteResult = BatchResult<BatchDeleteRequestResultType>

extension BatchResult {
  /// The result as Core Data gives it: an `Int`, an array of ``ManagedObjectID``s, or true. ``count`` and
  /// ``objectIDs`` are typed.
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
    objectIDs =
      type.content == .objectIDs
      ? Array(changes.insertedObjectIDs) + Array(changes.updatedObjectIDs) + Array(changes.deletedObjectIDs) : nil
  }
}
