/// What a key that begins with `@` computes from a collection: `items.@sum.price`.
public enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  case count = "@count"
  /// Members without a value are left out; nothing to add gives 0.
  case sum = "@sum"
  /// Members without a value are left out; of none there is no average.
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
