package import Foundation

/// A context's query to a store: the entity, order and number of rows to return.
package struct RowQuery: Sendable, Equatable {
  package var entity: Entity
  package var includesSubentities: Bool
  /// The keys of the rows; nil for all.
  package var keys: [Int64]?
  /// Restricts the result to greater keys, in key order, to continue an iteration over many rows; nil for all. Can't be
  /// combined with an order.
  package var afterKey: Int64?
  /// The condition on the rows, limited to the part that the store supports according to
  /// ``PersistentStore/divide(_:over:)``; nil for all.
  package var predicate: FetchPredicate? { didSet { prepared = nil } }
  /// The store's preparation of the predicate, from dividing it; nil if there is none.
  private(set) var prepared: PreparedPredicate?
  /// A condition that is evaluated in memory afterward: the store may omit rows that don't meet it.
  package var narrowing: FetchPredicate?
  /// The value of `now()` in the predicate.
  package var now = Date()
  package var sort: [FetchSortDescriptor]
  /// The maximum number of rows; nil for no limit.
  package var limit: Int?
  package var offset: Int
  /// Whether only keys are requested, so that results are faults.
  package var keysOnly: Bool

  @inline(never)
  package init(
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

  /// Sets both parts of a divided predicate.
  mutating func select(by division: PredicateDivision) {
    (predicate, narrowing) = (division.stored, division.rest)
    prepared = division.prepared
  }
}
