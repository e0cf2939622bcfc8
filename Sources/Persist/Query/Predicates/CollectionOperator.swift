/// A key beginning with `@`, computed from a collection: `items.@sum.price`.
public enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  case count = "@count"
  /// The sum of the non-null members; 0 if there are none.
  case sum = "@sum"
  /// The average of the non-null members; null if there are none.
  case average = "@avg"
  case minimum = "@min"
  case maximum = "@max"
  case unionOfObjects = "@unionOfObjects"
  case unionOfArrays = "@unionOfArrays"
  case unionOfSets = "@unionOfSets"
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  case distinctUnionOfSets = "@distinctUnionOfSets"
}
