/// A key beginning with `@`, computed from a collection: `items.@sum.price`.
public enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  /// The number of members; 0 for null.
  case count = "@count"
  /// The sum of the non-null members; 0 if there are none.
  case sum = "@sum"
  /// The average of the non-null members; null if there are none.
  case average = "@avg"
  /// The least of the non-null members; null if there are none.
  case minimum = "@min"
  /// The greatest of the non-null members; null if there are none.
  case maximum = "@max"
  /// The non-null values of the keys after the operator, with duplicates.
  case unionOfObjects = "@unionOfObjects"
  /// The non-null elements of the members' collections, with duplicates: evaluated like ``unionOfObjects``.
  case unionOfArrays = "@unionOfArrays"
  /// The non-null elements of the members' sets, with duplicates: evaluated like ``unionOfObjects``.
  case unionOfSets = "@unionOfSets"
  /// The distinct non-null values of the keys after the operator, in order of first occurrence.
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  /// The distinct non-null elements of the members' collections: evaluated like ``distinctUnionOfObjects``.
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  /// The distinct non-null elements of the members' sets: evaluated like ``distinctUnionOfObjects``.
  case distinctUnionOfSets = "@distinctUnionOfSets"
}
