public import Persist

/// The minimum and maximum of an attribute's value: a range of any kind, such as `0...9999`, `1...` or `...40`.
public protocol ValueBounds {
  var least: StoredValue? { get }
  var greatest: StoredValue? { get }
}

extension ClosedRange: ValueBounds where Bound: StorableValue {
  public var least: StoredValue? { lowerBound.stored }
  public var greatest: StoredValue? { upperBound.stored }
}

extension PartialRangeFrom: ValueBounds where Bound: StorableValue {
  public var least: StoredValue? { lowerBound.stored }
  public var greatest: StoredValue? { nil }
}

extension PartialRangeThrough: ValueBounds where Bound: StorableValue {
  public var least: StoredValue? { nil }
  public var greatest: StoredValue? { upperBound.stored }
}
