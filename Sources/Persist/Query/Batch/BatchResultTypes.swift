/// What the result of a batch says beside that it was done.
package enum BatchResultContent: Sendable, Hashable {
  case status
  /// How many rows it was.
  case count
  /// Which rows it was, so that contexts can be told.
  case objectIDs
}

/// What a kind of batch calls the contents of its result.
public protocol BatchResultType: Sendable, Hashable {}

protocol BatchResultContents: BatchResultType {
  var content: BatchResultContent { get }
}

/// What the result of a ``BatchInsertRequest`` says.
public enum BatchInsertRequestResultType: BatchResultType, BatchResultContents {
  /// That it was done.
  case statusOnly
  /// Which rows were inserted.
  case objectIDs
  /// How many rows were inserted.
  case count

  var content: BatchResultContent {
    switch self {
    case .statusOnly: .status
    case .objectIDs: .objectIDs
    case .count: .count
    }
  }
}

/// What the result of a ``BatchUpdateRequest`` says.
public enum BatchUpdateRequestResultType: BatchResultType, BatchResultContents {
  /// That it was done.
  case statusOnlyResultType
  /// Which rows were changed.
  case updatedObjectIDsResultType
  /// How many rows were changed.
  case updatedObjectsCountResultType

  var content: BatchResultContent {
    switch self {
    case .statusOnlyResultType: .status
    case .updatedObjectIDsResultType: .objectIDs
    case .updatedObjectsCountResultType: .count
    }
  }
}

/// What the result of a ``BatchDeleteRequest`` says.
public enum BatchDeleteRequestResultType: BatchResultType, BatchResultContents {
  /// That it was done.
  case resultTypeStatusOnly
  /// Which rows were deleted, those that delete rules took included.
  case resultTypeObjectIDs
  /// How many of the rows that were asked for were deleted.
  case resultTypeCount

  var content: BatchResultContent {
    switch self {
    case .resultTypeStatusOnly: .status
    case .resultTypeObjectIDs: .objectIDs
    case .resultTypeCount: .count
    }
  }
}
