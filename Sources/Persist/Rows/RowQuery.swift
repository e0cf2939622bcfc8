public import Foundation

/// What a context asks of a store: which rows of an entity, in which order, how many.
public struct RowQuery: Sendable, Hashable {
  public var entity: Entity
  public var includesSubentities: Bool
  /// Only rows with these keys; nil for all.
  public var keys: [Int64]?
  /// Only rows with greater keys, by key: how a walk through many rows goes on; nil for all. Not together with an
  /// order.
  public var afterKey: Int64?
  /// Only rows for which it holds: what ``PersistentStore/divide(_:over:)`` said that the store answers; nil for all.
  public var predicate: FetchPredicate?
  /// The time that `now()` stands for in the predicate.
  public var now = Date()
  public var sort: [FetchSortDescriptor]
  /// The greatest number of rows; nil for all.
  public var limit: Int?
  public var offset: Int
  /// Whether only keys are wanted, so that results are faults.
  public var keysOnly: Bool

  public init(
    entity: Entity, includesSubentities: Bool = true, keys: [Int64]? = nil, afterKey: Int64? = nil,
    sort: [FetchSortDescriptor] = [], limit: Int? = nil, offset: Int = 0, keysOnly: Bool = false
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.keys = keys
    self.afterKey = afterKey
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.keysOnly = keysOnly
  }
}
