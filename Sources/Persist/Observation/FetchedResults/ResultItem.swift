/// One result with what gave it its place, so that it is found there again after its object has changed.
final class ResultItem {
  /// Held, so that what is told of the row concerns it. It may stay a fault.
  final var object: ManagedObject
  let section: String
  /// The values that the request sorts by.
  let values: [StoredValue]
  /// What puts objects with equal values in order.
  let place: PlaceAmongEquals
  /// The place in the list that a fetch gave, for results whose order the objects don't tell.
  let rank: Int?

  init(_ object: ManagedObject, section: String, values: [StoredValue], rank: Int? = nil) {
    self.object = object
    self.section = section
    self.values = values
    place = PlaceAmongEquals(object)
    self.rank = rank
  }

  func ranked(_ rank: Int) -> ResultItem { ResultItem(object, section: section, values: values, rank: rank) }

  /// Whether another one has the same place.
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
