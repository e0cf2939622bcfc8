public import Persist

/// The minimum and maximum of an attribute's value: a range of any kind, such as `0...9999`, `1...` or `...40`.
public protocol ValueBounds {
  /// The minimum, which is itself allowed; nil for no minimum.
  var least: StoredValue? { get }
  /// The maximum, which is itself allowed; nil for no maximum.
  var greatest: StoredValue? { get }
}

extension ClosedRange: ValueBounds where Bound: StorableValue {
  /// The lower bound, which is part of the range.
  public var least: StoredValue? { lowerBound.stored }
  /// The upper bound, which is part of the range.
  public var greatest: StoredValue? { upperBound.stored }
}

extension PartialRangeFrom: ValueBounds where Bound: StorableValue {
  /// The lower bound, which is part of the range.
  public var least: StoredValue? { lowerBound.stored }
  /// Always nil: the range has no upper bound.
  public var greatest: StoredValue? { nil }
}

extension PartialRangeThrough: ValueBounds where Bound: StorableValue {
  /// Always nil: the range has no lower bound.
  public var least: StoredValue? { nil }
  /// The upper bound, which is part of the range.
  public var greatest: StoredValue? { upperBound.stored }
}
