/// A result with the values that determined its position, so that it can be located after its object has changed.
final class ResultItem {
  /// Held so that the context reports changes to its row. It may remain a fault.
  final var object: ManagedObject
  let section: String
  /// The values of the request's sort descriptors.
  let values: [StoredValue]
  /// The tiebreaker among objects with equal values.
  let place: Tiebreaker
  /// The position in the fetched list, for results whose order can't be computed from the objects.
  let rank: Int?

  init(_ object: ManagedObject, section: String, values: [StoredValue], rank: Int? = nil) {
    self.object = object
    self.section = section
    self.values = values
    place = Tiebreaker(object)
    self.rank = rank
  }

  func ranked(_ rank: Int) -> ResultItem { ResultItem(object, section: section, values: values, rank: rank) }

  /// Whether another item has the same position.
  func isPlaced(as other: ResultItem) -> Bool {
    section == other.section && place == other.place && values == other.values && rank == other.rank
  }
}

/// The total order of results.
struct ResultOrder {
  let order: ObjectOrder

  func isAscending(_ left: ResultItem, _ right: ResultItem) -> Bool {
    if let left = left.rank, let right = right.rank { return left < right }
    let order = order.compare(left.values, right.values)
    return order == 0 ? left.place < right.place : order < 0
  }
}
