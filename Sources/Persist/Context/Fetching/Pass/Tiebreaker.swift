/// The tiebreaker for objects that compare equal in a request's order: store and key, as a store orders its rows.
/// Objects with temporary identifiers come last, ordered by their numbers.
///
/// The position is the same in every context, whether or not the object is saved: a new object of a parent context has
/// the same number in child contexts.
package struct Tiebreaker: Equatable, Comparable {
  private let isTemporary: Bool
  /// The index of the store in the coordinator.
  private let store: Int
  private let number: UInt64

  package init(_ object: ManagedObject) {
    let siblings = object.table?.siblings
    isTemporary = siblings == nil || object.key < 0
    store = isTemporary ? 0 : Self.place(of: siblings)
    number = object.key.magnitude
  }

  private static func place(of tables: StoreTables?) -> Int {
    guard let tables, tables.coordinator.storeCount > 1 else { return 0 }
    let stores = tables.coordinator.openStores
    return stores.firstIndex { $0 === tables.origin } ?? stores.count
  }

  package static func < (left: Tiebreaker, right: Tiebreaker) -> Bool {
    if left.isTemporary != right.isTemporary { return right.isTemporary }
    return (left.store, left.number) < (right.store, right.number)
  }
}
