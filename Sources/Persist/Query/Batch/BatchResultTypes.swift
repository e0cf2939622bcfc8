/// The contents of a batch's result.
enum BatchResultContent: Sendable, Hashable {
  case status
  /// The number of rows.
  case count
  /// The rows, so that contexts can merge them.
  case objectIDs
}

/// The names that a kind of batch has for the contents of its result.
public protocol BatchResultType: Sendable, Hashable {}

protocol BatchResultContents: BatchResultType {
  var content: BatchResultContent { get }
}

/// The contents of the result of a ``BatchInsertRequest``.
public enum BatchInsertRequestResultType: BatchResultType, BatchResultContents {
  /// Nothing but that the batch was done.
  case statusOnly
  /// The inserted rows.
  case objectIDs
  /// The number of inserted rows.
  case count

  var content: BatchResultContent {
    switch self {
    case .statusOnly: .status
    case .objectIDs: .objectIDs
    case .count: .count
    }
  }
}

/// The contents of the result of a ``BatchUpdateRequest``.
public enum BatchUpdateRequestResultType: BatchResultType, BatchResultContents {
  /// Nothing but that the batch was done.
  case statusOnlyResultType
  /// The changed rows.
  case updatedObjectIDsResultType
  /// The number of changed rows.
  case updatedObjectsCountResultType

  var content: BatchResultContent {
    switch self {
    case .statusOnlyResultType: .status
    case .updatedObjectIDsResultType: .objectIDs
    case .updatedObjectsCountResultType: .count
    }
  }
}

/// The contents of the result of a ``BatchDeleteRequest``.
public enum BatchDeleteRequestResultType: BatchResultType, BatchResultContents {
  /// Nothing but that the batch was done.
  case resultTypeStatusOnly
  /// The deleted rows, including those that delete rules deleted.
  case resultTypeObjectIDs
  /// The number of rows that the request named and that were deleted.
  case resultTypeCount

  var content: BatchResultContent {
    switch self {
    case .resultTypeStatusOnly: .status
    case .resultTypeObjectIDs: .objectIDs
    case .resultTypeCount: .count
    }
  }
}
