/// The contents of a batch's result.
package enum BatchResultContent: Sendable, Hashable {
  case status
  /// The number of rows.
  case count
  /// The rows, so that contexts can merge them.
  case objectIDs
}

/// The result contents that a kind of batch offers, under its own names.
public protocol BatchResultType: Sendable, Hashable {}

package protocol BatchResultContents: BatchResultType {
  var content: BatchResultContent { get }
}

/// The contents of the result of a ``BatchInsertRequest``.
public enum BatchInsertRequestResultType: BatchResultType, BatchResultContents {
  /// Only the success of the batch.
  case statusOnly
  /// The inserted rows.
  case objectIDs
  /// The number of inserted rows.
  case count

  package var content: BatchResultContent {
    switch self {
    case .statusOnly: .status
    case .objectIDs: .objectIDs
    case .count: .count
    }
  }
}

/// The contents of the result of a ``BatchUpdateRequest``.
public enum BatchUpdateRequestResultType: BatchResultType, BatchResultContents {
  /// Only the success of the batch.
  case statusOnlyResultType
  /// The changed rows.
  case updatedObjectIDsResultType
  /// The number of changed rows.
  case updatedObjectsCountResultType

  package var content: BatchResultContent {
    switch self {
    case .statusOnlyResultType: .status
    case .updatedObjectIDsResultType: .objectIDs
    case .updatedObjectsCountResultType: .count
    }
  }
}

/// The contents of the result of a ``BatchDeleteRequest``.
public enum BatchDeleteRequestResultType: BatchResultType, BatchResultContents {
  /// Only the success of the batch.
  case resultTypeStatusOnly
  /// The deleted rows, including those deleted by delete rules.
  case resultTypeObjectIDs
  /// The number of deleted rows that the request matched.
  case resultTypeCount

  package var content: BatchResultContent {
    switch self {
    case .resultTypeStatusOnly: .status
    case .resultTypeObjectIDs: .objectIDs
    case .resultTypeCount: .count
    }
  }
}
