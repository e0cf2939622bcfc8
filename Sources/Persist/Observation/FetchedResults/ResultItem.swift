/// One result with what gave it its place, so that it is found there again after its object has changed.
final class ResultItem {
  /// Held, so that what is told of the row concerns it. It may stay a fault.
  final var object: ManagedObject
  let section: String
  /// The values that the request sorts by.
  let values: [StoredValue]
  /// What puts objects with equal values in order: new ones come last, others by store and key, as in a fetch.
  let tie: Tie

  struct Tie: Hashable, Comparable {
    let isNew: Bool
    let store: Int
    let key: Int64

    static func < (left: Tie, right: Tie) -> Bool {
      if left.isNew != right.isNew { return right.isNew }
      return (left.store, left.key) < (right.store, right.key)
    }
  }

  init(_ object: ManagedObject, section: String, values: [StoredValue], store: Int) {
    self.object = object
    self.section = section
    self.values = values
    tie = Tie(isNew: object.change == .inserted, store: store, key: object.key)
  }

  /// Whether another one has the same place.
  func isPlaced(as other: ResultItem) -> Bool {
    section == other.section && tie == other.tie && values == other.values
  }
}

/// The total order of results.
struct ResultOrder {
  let order: ObjectOrder

  func isAscending(_ left: ResultItem, _ right: ResultItem) -> Bool {
    let order = order.compare(left.values, right.values)
    return order == 0 ? left.tie < right.tie : order < 0
  }
}
